"""Mutants and accepted solutions of the training step, by what they are about."""
