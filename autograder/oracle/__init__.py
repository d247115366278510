"""The engine: runs solutions and mutants, draws cases, verifies."""
