"""Pairs of suspiciously similar solutions, as a list and in the class report."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
