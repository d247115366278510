"""Build the reference tensors of a unit: public ones, which ship, and hidden ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from autograder.authoring import cases
from autograder.authoring.catalogue import (
    file_of,
    locate,
    naming_file,
    specifications,
)
from autograder.authoring.contract_lines import describe_wrong_links, read_contracts
from autograder.authoring.notebook import Cell, target
from autograder.authoring.numbers import titles
from autograder.authoring.reference_files import VISIBILITIES, path, seed_of
from autograder.authoring.specification import Specification
from autograder.authoring.telling import EMPTY, Tells, sample
from autograder.checks import references
from autograder.checks.exercise import Case, Exercise, Predictions, Value
from autograder.checks.sketches import Sketch
from autograder.course import Unit
from autograder.course.errors import Faults
from autograder.root import PACKAGE, ROOT


def build(
    unit: Unit, cells: list[Cell], unchanged: Collection[str] = ()
) -> dict[str, list[Exercise]]:
    """Draw the public cases of a unit's exercises, and this term's hidden ones.

    Args:
        unchanged: exercises whose committed cases are kept instead.

    Returns:
        The exercises with their cases, under "public" and "hidden".
    """
    exercises = specifications(unit.name)
    _refuse_mismatch(unit, exercises, _checks(cells))
    tells, drawings, faults = dict[str, Tells](), dict[str, list[Exercise]](), Faults()
    contracts = read_contracts(cells)
    for exercise in exercises:
        _, lines = contracts[exercise.name]
        for fault in describe_wrong_links(exercise, lines):
            faults.append(f"{locate(exercise.name, fault)}: {fault}")
        if exercise.name not in unchanged:
            with faults.collect(), naming_file(exercise.name):
                tells[exercise.name] = sample(exercise)
    # The public cases need no seed; the hidden ones have this term's.
    for visibility, seed in zip(VISIBILITIES, ("", seed_of(unit)), strict=True):
        with faults.collect():
            drawings[visibility] = draw_exercises(unit, cells, seed, tells, unchanged)
    faults.refuse()
    return drawings


def draw_exercises(
    unit: Unit,
    cells: list[Cell],
    seed: str = "",
    tells: Mapping[str, Tells] = EMPTY,
    unchanged: Collection[str] = (),
) -> list[Exercise]:
    """Draw the hidden cases of all exercises from a seed, or else the public ones.

    Args:
        tells: by exercise and case, the wrong programs that inputs must expose; by
            default, those that the last build found.
        unchanged: exercises whose committed cases are kept instead.
    """
    exercises, checks = specifications(unit.name), _checks(cells)
    _refuse_mismatch(unit, exercises, checks)
    committed = _committed(path(unit, "hidden" if seed else "public"))
    drawings, faults, drawing_seed = list[Exercise](), Faults(), seed or "public"
    titles_by_name = titles(cells)
    for exercise in exercises:
        name = exercise.name
        with faults.collect(), naming_file(name):
            points = checks[name].points
            drawing = (
                replace(
                    committed[name],
                    points=points,
                    mistakes=cases.describe_mistakes(exercise),
                )
                if name in unchanged
                else cases.exercise(
                    exercise,
                    points,
                    drawing_seed,
                    bool(seed),
                    exercises,
                    tells[name] if name in tells else cases.load_tells(name),
                )
            )
            drawings.append(replace(drawing, title=titles_by_name[name]))
    faults.refuse()
    return drawings


def _checks(cells: Iterable[Cell]) -> dict[str, Cell]:
    return {cell.name: cell for cell in cells if cell.role == "check"}


def _refuse_mismatch(
    unit: Unit, exercises: Iterable[Specification], checks: dict[str, Cell]
) -> None:
    """Raise a CourseError if exercises and check cells do not match.

    Args:
        checks: the check cell of each exercise.
    """
    by_name, faults = {exercise.name: exercise for exercise in exercises}, Faults()
    for name, cell in checks.items():
        if name not in by_name or not by_name[name].cases:
            faults.append(
                f"{cell.location}: {name} has no cases; add a Specification with "
                f"cases to {PACKAGE}/{unit.name}/exercises/"
            )
        elif target(cell) != by_name[name].target:
            faults.append(
                f"{cell.location}: the check gets {target(cell)}, its exercise's "
                f"target is {by_name[name].target}; change one of them"
            )
    for name in sorted(set(by_name) - set(checks)):
        file = file_of(name).relative_to(ROOT)
        faults.append(f"{file}:1: no check for {name}; add one to {unit.text.name}")
    faults.refuse()


def merge_with_committed(
    unit: Unit, built: dict[str, list[Exercise]]
) -> tuple[dict[Path, bytes], str]:
    """Return the reference files by path, and how they differ from the committed ones.

    Committed tensors that agree with new ones are kept, because rounding differs
    between processors. The description is "" if nothing differs.

    Args:
        built: the exercises to save, as `build` returns them.
    """
    files, reasons = dict[Path, bytes](), []
    for visibility, exercises in built.items():
        file = path(unit, visibility)
        committed = _committed(file)
        if reason := difference(committed, exercises):
            reasons.append(f"{visibility}: {reason}")
            exercises = [keep_equal(committed, exercise) for exercise in exercises]
        packed = references.pack(exercises)
        if not reason:
            packed[references.TENSORS] = file.read_bytes()
        files |= {file.with_suffix(suffix): data for suffix, data in packed.items()}
    return files, "\n".join(reasons)


def _committed(path: Path) -> dict[str, Exercise]:
    """The exercises of a committed file; none if it is missing or cannot be read."""
    try:
        return references.read(path)
    except (FileNotFoundError, references.ReferenceFileError):
        return {}


# How much two builds may differ, as a multiple of the tolerance of the case's check.
# References are computed in float64 and rounded to a grid, so they hardly ever differ,
# and a tenth is enough. Mistakes are computed in float32, like students' answers, and
# are recognised within the whole tolerance. Sketches of two mistakes sum many numbers.
_RIGHT, _MISTAKEN, _PAIRS = 0.1, 1.0, 10.0


def difference(old: Mapping[str, Exercise], new: Sequence[Exercise]) -> str:
    """Describe the first difference beyond rounding between builds; "" if none."""
    if not old:
        return "there is no earlier file to compare with"
    if list(old) != [exercise.name for exercise in new]:
        return "other exercises"
    return next(filter(None, (_difference(old[e.name], e) for e in new)), "")


def _difference(old: Exercise, new: Exercise) -> str:
    """Describe the first difference between two builds of an exercise; "" if none."""
    old_cases, new_cases = (*old.cases, *old.small), (*new.cases, *new.small)
    if [case.name for case in old_cases] != [case.name for case in new_cases]:
        return f"{new.name}: other cases"
    for before, after in zip(old_cases, new_cases, strict=True):
        if reason := _case_difference(before, after):
            return f"{new.name}, case {after.name}: {reason}"
    return ""


def keep_equal(committed: Mapping[str, Exercise], new: Exercise) -> Exercise:
    """The new exercise, with committed values where they agree up to rounding."""
    if new.name not in committed:
        return new
    old = committed[new.name]
    old_cases = {case.name: case for case in (*old.cases, *old.small)}
    cases, small = (
        tuple(_keep_case(old_cases.get(case.name), case) for case in part)
        for part in (new.cases, new.small)
    )
    return replace(new, cases=cases, small=small)


def _keep_case(old: Case | None, new: Case) -> Case:
    """The new case, with old values where they agree up to rounding."""
    if old is None:
        return new

    def keep(before: Predictions, after: Predictions, part: float) -> dict[str, Any]:
        """Return the new values by name, each replaced by an old one that agrees.

        Args:
            part: the share of the case's tolerance within which values agree.
        """
        return {
            name: before[name]
            if name in before and not _value_difference(before[name], value, new, part)
            else value
            for name, value in after.items()
        }

    return replace(
        new,
        inputs=keep(old.inputs, new.inputs, _RIGHT),
        expected=keep(old.expected, new.expected, _RIGHT),
        doubles=keep(old.doubles, new.doubles, _PAIRS),
        mistakes={
            variant: keep(old.mistakes.get(variant, {}), answers, _MISTAKEN)
            for variant, answers in new.mistakes.items()
        },
    )


def _case_difference(old: Case, new: Case) -> str:
    """Describe the first difference between two builds of a case; "" if none."""
    if old.mistakes.keys() != new.mistakes.keys():
        return "other mistakes"
    if list(old.expected) != list(new.expected):
        return "other answers, or another order"
    answers = [
        ("input", old.inputs, new.inputs, _RIGHT),
        ("reference", old.expected, new.expected, _RIGHT),
        ("pair of mistakes", old.doubles, new.doubles, _PAIRS),
        *((f"mistake {m}", old.mistakes[m], new.mistakes[m], _MISTAKEN)
          for m in new.mistakes),
    ]  # fmt: skip
    for subject, before, after, part in answers:
        if before.keys() != after.keys():  # files store one order for all mistakes
            return f"{subject} has other names"
        for name in after:
            if reason := _value_difference(before[name], after[name], new, part):
                return f'{subject} "{name}" {reason}'
    return ""


def _value_difference(
    old: Value | Sketch, new: Value | Sketch, case: Case, part: float
) -> str:
    """Describe how a value differs from the old one; "" if it agrees.

    Args:
        part: the share of the case's tolerance within which floats agree.
    """
    if isinstance(old, Sketch):  # of a tensor that saving the new one may sketch, too
        is_same = old.matches(new, case.atol * part, case.rtol * part)
        return "" if is_same else "changed"
    if not isinstance(old, torch.Tensor) or not isinstance(new, torch.Tensor):
        return "" if old == new else "changed"
    if old.shape != new.shape or old.dtype != new.dtype:
        return f"was {_form(old)} and is {_form(new)}"
    atol, rtol = case.atol * part, case.rtol * part
    if not new.is_floating_point():
        atol = rtol = 0
    differs = ~torch.isclose(new, old, rtol=rtol, atol=atol, equal_nan=True)
    if not differs.any():
        return ""
    most = (new[differs].double() - old[differs].double()).abs().max().item()
    return f"differs in {differs.sum()} of {new.numel()} entries, by at most {most:g}"


def _form(value: torch.Tensor) -> str:
    return f"{value.dtype} {tuple(value.shape)}".removeprefix("torch.")
