"""How a class came to its solutions, if the course records attempts."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
