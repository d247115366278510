"""Mutants and accepted solutions of the kinds of mistakes, by what they are about."""
