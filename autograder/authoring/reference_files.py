"""Paths of the units' reference files, and the seeds of their hidden cases."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.course import Unit
from autograder.root import REFERENCES

# This term's seeds by unit. The public cases are always drawn from the same seed.
SEEDS = REFERENCES / "hidden" / "seeds.json"
VISIBILITIES = ("public", "hidden")


def path(unit: Unit, visibility: str) -> Path:
    """The path of a unit's "public" or "hidden" reference file."""
    return REFERENCES / visibility / f"{unit.name}.safetensors"


def read(unit: Unit) -> dict[Path, bytes]:
    """Map the path of each reference file of a unit that exists to its contents."""
    return {
        file: file.read_bytes()
        for visibility in VISIBILITIES
        for file in (REFERENCES / visibility).glob(f"{unit.name}.*")
    }


def seeds() -> dict[str, str]:
    """This term's seeds by unit; units without one use the default of `seed_of`."""
    return json.loads(SEEDS.read_text()) if SEEDS.is_file() else {}


def seed_of(unit: Unit) -> str:
    """This term's seed for a unit's hidden cases; a fixed one before the first term."""
    return seeds().get(unit.name, "hidden")
