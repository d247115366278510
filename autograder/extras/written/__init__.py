"""Lists of written answers to grade, with a bank of comments."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
