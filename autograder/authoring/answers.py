"""Compute the answers of an exercise's solution and of its mutants to given inputs."""

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
from autograder.checks.wire import as_received
from autograder.course.errors import CourseError

# Expected values are rounded to this grid, so that the last digits of another
# processor's float64 arithmetic cannot change a stored reference.
GRID = 2.0**20


def expected_answers(
    specification: Specification, reference: object, inputs: Answers
) -> Answers:
    """Compute the reference object's answers to a case's inputs.

    Those in float64 are rounded and returned in float32, so that they do not depend
    on the processor.

    Raises:
        CourseError: the object raises an error, or an answer is complex.
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
    if any(isinstance(a, torch.Tensor) and a.is_complex() for a in answers.values()):
        raise CourseError(
            f"{specification.name}: the solution returns complex numbers; they are not "
            "compared; return their real and imaginary parts, or their absolute values"
        )
    return {name: _to_stored(value) for name, value in answers.items()}


class LazyAnswers(UserDict[str, Any]):
    """Answers by name, some of which are computed when they are first looked up.

    Until then, the answer is stored as a function without arguments.
    """

    def __getitem__(self, name: str) -> Value:
        """Look up an answer; if it is still a function, call that first."""
        answer = super().__getitem__(name)
        if callable(answer):
            answer = self.data[name] = answer()
        value: Value = answer
        return value


def mistaken_objects(
    specification: Specification, names: Collection[str] | None = None
) -> dict[str, object]:
    """Build the wrong functions or classes of an exercise, by name.

    Args:
        names: the variants of mistakes to build; None for all.
    """
    variants = {v.name: v for mutant in specification.mutants for v in mutant.variants}
    names = variants if names is None else names
    if unknown := set(names) - set(variants):
        raise CourseError(f"{specification.name} has no mutant {sorted(unknown)[0]}")
    return {name: build_object(specification, variants[name]) for name in names}


def mistaken_answers(
    specification: Specification, objects: Mapping[str, object], inputs: Answers
) -> dict[str, Answers]:
    """Compute wrong programs' answers to a case's inputs, by the programs' names.

    Errors are cut to the part that identifies the mistake, since the rest may quote
    the solution. Answers are as a check receives them from a student's sandbox.
    """
    answers_by_name = {
        name: observe_answer(specification, o, inputs) for name, o in objects.items()
    }
    return {
        name: {RAISED: telling_part(str(answers[RAISED]))}
        if RAISED in answers
        else {key: as_received(answer) for key, answer in answers.items()}
        for name, answers in answers_by_name.items()
    }


def _double(value: Value) -> Value:
    """Convert a tensor of floats to float64; leave other values as they are."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    return value


def _to_stored(value: Value) -> Value:
    """Round a float64 tensor to multiples of 1/GRID, in float32; keep other values."""
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return ((value * GRID).round() / GRID).float()
    return value
