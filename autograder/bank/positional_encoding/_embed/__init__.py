"""Accepted solutions of the the lookup."""
