"""The engine: it draws cases, runs solutions and mutants, and verifies."""
