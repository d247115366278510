"""Questions about each student's own accepted code, decided by running it."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
