"""Mutants and accepted solutions of the distribution to sample from, by what they are about."""
