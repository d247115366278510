"""Mutants and accepted solutions of the input layer, by what they are about."""
