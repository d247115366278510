"""Wrong answers that match no known mistake, in groups that a teacher can name."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
