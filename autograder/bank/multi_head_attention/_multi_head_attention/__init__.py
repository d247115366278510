"""Mutants and accepted solutions of the layer, by what they are about."""
