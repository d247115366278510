"""Accepted solutions of the shuffle gap."""
