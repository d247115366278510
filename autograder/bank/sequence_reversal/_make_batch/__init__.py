"""Mutants of a batch, by what they are about."""
