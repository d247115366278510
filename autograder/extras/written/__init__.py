"""Written answers as a work list, with a bank of comments."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
