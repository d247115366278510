"""What demonstrations with the published models printed for us, for other readers."""

from __future__ import annotations

import json
from pathlib import Path

RECORDED = Path(__file__).with_suffix(".json")


def show(name: str) -> None:
    """Print the recorded output of a demonstration whose models are missing here."""
    print("What it printed for us:")
    print("\n".join(json.loads(RECORDED.read_text("utf-8"))[name]))
