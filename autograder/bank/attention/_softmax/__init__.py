"""Mutants and accepted solutions of the softmax, by what they are about."""
