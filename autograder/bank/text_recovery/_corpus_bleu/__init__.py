"""Mutants and accepted solutions of BLEU of a corpus, by what they are about."""
