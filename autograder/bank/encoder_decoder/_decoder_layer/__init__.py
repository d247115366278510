"""Mutants and accepted solutions of the decoder layer, by what they are about."""
