"""Accepted solutions of the listening to attention weights."""
