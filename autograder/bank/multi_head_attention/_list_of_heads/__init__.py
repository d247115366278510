"""Mutants and accepted solutions of the list of heads, by what they are about."""
