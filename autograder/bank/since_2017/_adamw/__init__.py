"""Mistakes of an optimizer, by what they are about."""
