"""Accepted solutions of who sees whom, and the line that its variants change."""

MOVED = "((layer(changed) - before).abs() > 1e-6).any(dim=-1)"
