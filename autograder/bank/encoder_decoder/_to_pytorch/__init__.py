"""Mutants and accepted solutions of exercise 4.9."""
