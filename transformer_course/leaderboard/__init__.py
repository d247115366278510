"""Unit 6's leaderboards, and a summary of what a class changed in its projects."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
