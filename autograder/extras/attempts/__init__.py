"""Statistics on the attempts of a class, if the course records attempts."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
