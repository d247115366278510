"""Accepted solutions of the cross-attention."""
