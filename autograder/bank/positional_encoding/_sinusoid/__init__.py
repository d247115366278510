"""Mutants and accepted solutions of the sinusoid encoding, by what they are about."""
