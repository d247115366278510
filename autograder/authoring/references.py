"""Build the reference tensors of a unit: public ones ship, hidden ones stay."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import torch
from safetensors import SafetensorError

from autograder.authoring.notebook import Cell, target
from autograder.bank import specifications
from autograder.course import Unit
from autograder.course.errors import CourseError
from autograder.oracle import cases
from autograder.oracle.specification import Specification
from autograder.student import references
from autograder.student.exercise import Answers, Case, Exercise, Value

# The term's seeds by unit, beside what they drew. The public drawing never changes.
SEEDS = references.FOLDER / "hidden" / "seeds.json"


def path(unit: Unit, visibility: str) -> Path:
    """The reference file of a unit."""
    return references.FOLDER / visibility / f"{unit.name}.safetensors"


def build(unit: Unit, cells: list[Cell]) -> dict[str, list[Exercise]]:
    """The public drawing of every exercise of a unit, and this term's hidden one.

    Raises:
        CourseError: notebook and bank disagree on the exercises.
    """
    seed = seeds().get(unit.name, "hidden")
    return {"public": public(unit, cells), "hidden": hidden(unit, cells, seed)}


def public(unit: Unit, cells: list[Cell]) -> list[Exercise]:
    """The drawing that ships, of every exercise of a unit.

    Raises:
        CourseError: as `build`.
    """
    return _drawn(unit, cells, "public", False)


def hidden(unit: Unit, cells: list[Cell], seed: str) -> list[Exercise]:
    """What a seed draws of every exercise of a unit, hidden kinds of cases, too.

    Raises:
        CourseError: as `build`.
    """
    return _drawn(unit, cells, seed, True)


def _drawn(unit: Unit, cells: list[Cell], seed: str, hidden: bool) -> list[Exercise]:
    exercises = specifications(unit.name)
    checks = {cell.name: cell for cell in cells if cell.role == "check"}
    _agree(unit, exercises, checks)
    return [
        cases.exercise(one, checks[one.name].points, seed, hidden, exercises)
        for one in exercises
    ]


def seeds() -> dict[str, str]:
    """This term's seeds by unit; a unit that has none yet draws from a fixed one."""
    return json.loads(SEEDS.read_text()) if SEEDS.is_file() else {}


def _agree(
    unit: Unit, exercises: Iterable[Specification], checks: dict[str, Cell]
) -> None:
    by_name = {exercise.name: exercise for exercise in exercises}
    for name, cell in checks.items():
        if name not in by_name or not by_name[name].cases:
            raise CourseError(
                f"{cell.where}: {name} has no cases; add a Specification with "
                f"cases to autograder/bank/{unit.name}/"
            )
        if target(cell) != by_name[name].target:
            raise CourseError(
                f"{cell.where}: the check is given {target(cell)}, the bank's target "
                f"is {by_name[name].target}"
            )
    extra = set(by_name) - set(checks)
    if extra:
        raise CourseError(
            f"{unit.text.name}:1: no check for {', '.join(sorted(extra))}"
        )


def save(unit: Unit, built: dict[str, list[Exercise]]) -> dict[str, bytes]:
    """The reference files by visibility.

    A committed file that holds the same to the last digits is kept as it is: float32
    arithmetic of other processors differs there, and only there.
    """
    files = {}
    for visibility, exercises in built.items():
        new, file = references.pack(exercises), path(unit, visibility)
        if equivalent(_committed(file), exercises):
            new = file.read_bytes()
        files[visibility] = new
    return files


def _committed(path: Path) -> dict[str, Exercise]:
    """The exercises of a committed file; none if it is missing or cannot be read."""
    try:
        return references.read(path)
    except (OSError, KeyError, ValueError, TypeError, SafetensorError):
        return {}


def equivalent(old: dict[str, Exercise], new: list[Exercise]) -> bool:
    """Whether two builds say the same, but for the last digits of mistakes' answers."""
    if list(old) != [exercise.name for exercise in new]:
        return False
    return all(_same(old[e.name], e) for e in new)


def _same(old: Exercise, new: Exercise) -> bool:
    heads = [
        (e.title, e.points, e.mistakes, e.builds_on, dict(e.aspects), len(e.cases))
        for e in (old, new)
    ]
    if heads[0] != heads[1]:
        return False
    return all(
        _plain(a) == _plain(b)
        and _same_answers(a.inputs, b.inputs)
        and _same_answers(a.expected, b.expected)
        and a.mistakes.keys() == b.mistakes.keys()
        and all(_same_answers(a.mistakes[m], b.mistakes[m]) for m in a.mistakes)
        for a, b in zip(old.cases, new.cases, strict=True)
    )


def _plain(case: Case) -> tuple[object, ...]:
    answers = ("inputs", "expected", "mistakes")
    return tuple(getattr(case, f.name) for f in fields(case) if f.name not in answers)


def _same_answers(a: Answers, b: Answers) -> bool:
    return list(a) == list(b) and all(_same_value(a[name], b[name]) for name in a)


def _same_value(a: Value, b: Value) -> bool:
    """Equal, but for what packing and other processors change in the last digits."""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return a == b
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not a.is_floating_point():
        return torch.equal(a, b)
    return torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
