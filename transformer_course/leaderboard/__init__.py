"""Unit 6's leaderboards, and what a class tried in its projects."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
