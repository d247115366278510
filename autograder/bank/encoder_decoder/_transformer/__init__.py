"""Mutants and accepted solutions of the Transformer, by what they are about."""
