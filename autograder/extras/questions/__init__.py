"""Questions about each student's own accepted code, whose run shows the answers."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
