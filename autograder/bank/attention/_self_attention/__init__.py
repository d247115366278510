"""Mutants and accepted solutions of self-attention, by what they are about."""
