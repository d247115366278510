"""Mutants and accepted solutions of the beam search, by what they are about."""
