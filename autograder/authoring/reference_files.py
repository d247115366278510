"""Where the reference files of units are, and the seeds of their hidden drawings."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.course import Unit
from autograder.root import REFERENCES

# The term's seeds by unit, beside the drawings. The public drawing never changes.
SEEDS = REFERENCES / "hidden" / "seeds.json"
VISIBILITIES = ("public", "hidden")


def path(unit: Unit, visibility: str) -> Path:
    """The reference file of a unit."""
    return REFERENCES / visibility / f"{unit.name}.safetensors"


def read(unit: Unit) -> dict[Path, bytes]:
    """The contents of a unit's reference files, as far as there are any."""
    return {
        file: file.read_bytes()
        for visibility in VISIBILITIES
        for file in (REFERENCES / visibility).glob(f"{unit.name}.*")
    }


def seeds() -> dict[str, str]:
    """This term's seeds by unit; a unit that has none yet draws from a fixed one."""
    return json.loads(SEEDS.read_text()) if SEEDS.is_file() else {}


def seed_of(unit: Unit) -> str:
    """This term's seed of a unit."""
    return seeds().get(unit.name, "hidden")
