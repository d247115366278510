"""Accepted solutions of the sinusoid table, by loops."""
