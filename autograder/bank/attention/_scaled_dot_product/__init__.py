"""Mutants and accepted solutions of scaled dot-product attention, by what they are about."""
