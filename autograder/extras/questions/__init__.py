"""Multiple-choice questions about each student's own accepted code.

The code is run in a sandbox, and what is observed there gives the correct answers.
"""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
