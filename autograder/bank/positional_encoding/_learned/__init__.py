"""Accepted solutions of the the module of learned positions."""
