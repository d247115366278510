"""Mutants and accepted solutions of the encoder layer, by what they are about."""
