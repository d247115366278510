"""What a change touches, so that this is tried as a whole in every run of CI."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import solution_source
from autograder.course import ROOT, Unit


def touched(unit: Unit, base: str) -> Iterator[str]:
    """The exercises of a unit whose files have changed since a commit.

    These are its specification with what that shares with others of the unit, its
    probe, and its solution.
    """
    changed = changed_files(base)
    solutions = ROOT / "transformer_course" / "solutions" / f"{unit.name}.py"
    if not any(p == solutions or p.is_relative_to(unit.folder) for p in changed):
        return
    old = _git("show", f"{base}:transformer_course/solutions/{unit.name}.py")
    for exercise in specifications(unit.name):
        own = {*_bank_files(unit, exercise), *_probe_files(unit, exercise)}
        if own & changed or solution_source(exercise) not in old:
            yield exercise.name


@functools.cache
def names(unit: Unit) -> list[str]:
    """The exercises of a unit that have been touched of late."""
    return list(touched(unit, base()))


def changed_files(base: str) -> set[Path]:
    """The files that have changed since a commit."""
    return {ROOT / name for name in _git("diff", "--name-only", "-z", base).split("\0")}


def base() -> str:
    """Since which commit changes count: $CHANGED_SINCE, or a day before the last."""
    if chosen := os.environ.get("CHANGED_SINCE"):
        return chosen
    last = int(_git("log", "-1", "--format=%ct") or 0)
    earlier = _git("log", "-1", "--format=%H", f"--before={last - 24 * 3600}")
    return earlier.strip() or "HEAD"


@functools.cache
def _git(*arguments: str) -> str:
    """What git prints; nothing where this is no clone."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout


def _bank_files(unit: Unit, exercise: Specification) -> set[Path]:
    found, waiting = set(), [_exercises(unit) / f"{exercise.name.split('/')[1]}.py"]
    while waiting:
        path = waiting.pop()
        found.add(path)
        names = re.findall(
            rf"transformer_course.{unit.name}\.exercises\.(\w+)", path.read_text()
        )
        for name in names:
            waiting += {_exercises(unit) / f"{name}.py"} - found
    return found


def _exercises(unit: Unit) -> Path:
    return unit.folder / "exercises"


def _probe_files(unit: Unit, exercise: Specification) -> set[Path]:
    files = (unit.folder / "probes").rglob("*.py")
    return {file for file in files if f'"{exercise.name}"' in file.read_text()}
