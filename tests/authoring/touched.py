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
    changed = list_changed_files(base)
    solutions = ROOT / "transformer_course" / "solutions" / f"{unit.name}.py"
    if not any(p == solutions or p.is_relative_to(unit.folder) for p in changed):
        return
    old = _git("show", f"{base}:transformer_course/solutions/{unit.name}.py")
    for exercise in specifications(unit.name):
        exercise_files = {*_bank_files(unit, exercise), *_probe_files(unit, exercise)}
        if exercise_files & changed or solution_source(exercise) not in old:
            yield exercise.name


@functools.cache
def names(unit: Unit) -> list[str]:
    """The exercises of a unit that have been touched of late."""
    return list(touched(unit, base()))


def list_changed_files(base: str) -> set[Path]:
    """The files that have changed since a commit."""
    return {ROOT / name for name in _git("diff", "--name-only", "-z", base).split("\0")}


def base() -> str:
    """The commit since which changes count.

    It is $CHANGED_SINCE, or where this branch left the one that it will be merged into:
    the branch that it tracks (unless that is only its copy), else origin/main; without
    a remote, main. In main without a remote, it is the parent of the last commit.
    """
    if commit := os.environ.get("CHANGED_SINCE"):
        return commit
    copy = f"origin/{_line('branch', '--show-current')}"
    tracked = _line("rev-parse", "--verify", "--quiet", "--abbrev-ref", "@{upstream}")
    upstream = "origin/main" if tracked in ("", copy) else tracked
    if commit := _line("merge-base", "HEAD", upstream):
        return commit
    commit = _line("merge-base", "HEAD", "main")
    if commit and commit != _line("rev-parse", "HEAD"):
        return commit
    return _line("rev-parse", "--verify", "--quiet", "HEAD~1") or "HEAD"


def _line(*arguments: str) -> str:
    return _git(*arguments).strip()


@functools.cache
def _git(*arguments: str) -> str:
    """What git prints; nothing where this is no clone."""
    process = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return process.stdout


def _bank_files(unit: Unit, exercise: Specification) -> set[Path]:
    files, waiting = set(), [_exercises(unit) / f"{exercise.name.split('/')[1]}.py"]
    while waiting:
        path = waiting.pop()
        files.add(path)
        names = re.findall(
            rf"transformer_course.{unit.name}\.exercises\.(\w+)", path.read_text()
        )
        for name in names:
            waiting += {_exercises(unit) / f"{name}.py"} - files
    return files


def _exercises(unit: Unit) -> Path:
    return unit.folder / "exercises"


def _probe_files(unit: Unit, exercise: Specification) -> set[Path]:
    files = (unit.folder / "probes").rglob("*.py")
    return {file for file in files if f'"{exercise.name}"' in file.read_text()}
