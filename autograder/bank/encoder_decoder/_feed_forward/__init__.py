"""Accepted solutions of the position-wise feed-forward network."""
