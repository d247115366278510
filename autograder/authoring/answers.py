"""What solution and mutants answer to inputs."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Collection, Mapping
from typing import Any

import torch

from autograder.authoring.confined import observe_answer
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object
from autograder.checks.exercise import RAISED, Answers, Value
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.checks.values import telling_part
from autograder.course.errors import CourseError

# Expected values are rounded to this grid, so that the last digits of another
# processor's float64 arithmetic cannot change a stored reference.
GRID = 2.0**20


def expected_answers(
    specification: Specification, reference: object, inputs: Answers
) -> Answers:
    """What the reference answers, computed in float64 and given in float32.

    Raises:
        CourseError: it raises an error.
    """
    before = torch.get_default_dtype()
    try:
        if specification.precise:
            torch.set_default_dtype(torch.float64)
            inputs = {name: _double(value) for name, value in inputs.items()}
        answers = observe(find(specification.name), reference, inputs)
    finally:
        torch.set_default_dtype(before)
    if RAISED in answers:
        raise CourseError(
            f"{specification.name}: the solution fails: {answers[RAISED]}"
        )
    return {name: _stored(value) for name, value in answers.items()}


class Late(UserDict[str, Any]):
    """Answers of which some are computed when somebody first asks for them.

    Who has not solved an exercise asks for none.
    """

    def __getitem__(self, name: str) -> Value:
        if callable(found := super().__getitem__(name)):
            found = self.data[name] = found()
        value: Value = found
        return value


def mistaken_objects(
    specification: Specification, names: Collection[str] | None = None
) -> dict[str, object]:
    """What each mutant makes in its first way, or each of those with ``names``."""
    return {
        mutant.name: build_object(specification, mutant.ways[0])
        for mutant in specification.mutants
        if names is None or mutant.name in names
    }


def ways_named(
    specification: Specification, names: Collection[str]
) -> dict[str, object]:
    """What the ways with these names make.

    Raises:
        CourseError: there is no such way.
    """
    ways = {way.name: way for m in specification.mutants for way in m.ways}
    if unknown := set(names) - set(ways):
        raise CourseError(f"{specification.name} has no mutant {sorted(unknown)[0]}")
    return {name: build_object(specification, ways[name]) for name in names}


def mistaken_answers(
    specification: Specification, objects: Mapping[str, object], inputs: Answers
) -> dict[str, Answers]:
    """What each mutant answers, in float32 as a student's code would.

    Of errors only the part is kept that tells them: others are lines of the solution.
    """
    found = {
        name: observe_answer(specification, o, inputs) for name, o in objects.items()
    }
    return {
        name: {RAISED: telling_part(str(answers[RAISED]))}
        if RAISED in answers
        else answers
        for name, answers in found.items()
    }


def _double(value: Value) -> Value:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    return value


def _stored(value: Value) -> Value:
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return ((value * GRID).round() / GRID).float()
    return value
