"""Mutants and accepted solutions of the module, by what they are about."""
