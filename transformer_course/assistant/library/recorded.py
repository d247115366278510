"""Recorded output of demonstrations, for readers without the published models."""

from __future__ import annotations

import json
from pathlib import Path

RECORDED = Path(__file__).with_suffix(".json")


def show(name: str) -> None:
    """Print the recorded output of the demonstration ``name``.

    The file `RECORDED` maps the names of demonstrations to the lines that they printed.
    """
    print("What it printed for us:")
    print("\n".join(json.loads(RECORDED.read_text("utf-8"))[name]))
