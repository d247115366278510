"""Answers that take no work: those of visible cases, errors, and constants.

They are judged as in grading, without a sandbox: what it would report is given here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from autograder.checks.compare import judge
from autograder.checks.exercise import RAISED, Answers, Case, CheckResult, Value
from autograder.checks.interactor import concluded, make_ask, reply
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.grading.judge.preparing import PreparedCheck, prepare_check

Answerer = Callable[[Sequence[Case], Answers, Case], Answers]


def equal(first: Value, second: Value | None) -> bool:
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        return first.dtype == second.dtype and torch.equal(first, second)
    return type(first) is type(second) and first == second


def form(inputs: Answers) -> dict[str, object]:
    """Shapes and types of tensors, and texts as they are."""
    return {
        name: (value.shape, value.dtype) if isinstance(value, torch.Tensor) else value
        for name, value in inputs.items()
    }


def nearest(cases: Sequence[Case], inputs: Answers) -> Case:
    """The visible case whose inputs have most in common with some."""
    inputs_form = form(inputs)

    def apart(case: Case) -> int:
        case_form = form(case.inputs)
        return sum(
            case_form.get(n, 0) != inputs_form.get(n, 0)
            for n in inputs_form.keys() | case_form.keys()
        )

    same_case = (
        c for c in cases if all(equal(v, inputs.get(n)) for n, v in c.inputs.items())
    )
    return next(same_case, min(cases, key=apart))


def answers_of(case: Case, inputs: Answers) -> Answers:
    """The answers of a visible case; what was an input there, is one here."""
    answers: dict[str, Value] = {}
    for name, value in case.expected.items():
        input_name = name.removesuffix(" afterwards")
        alike = (n for n, v in case.inputs.items() if n in inputs and equal(v, value))
        source = (
            input_name
            if input_name != name and input_name in inputs
            else next(alike, None)
        )
        answers[name] = value if source is None else inputs[source]
    return answers


def of_the_nearest(cases: Sequence[Case], revealed: Answers, _case: Case) -> Answers:
    return answers_of(nearest(cases, revealed), revealed)


def of_the_same_kind(cases: Sequence[Case], revealed: Answers, case: Case) -> Answers:
    """As if a sandbox knew which case is asked."""
    alike = [candidate for candidate in cases if candidate.name == case.name]
    return answers_of(alike[0] if alike else nearest(cases, revealed), revealed)


def an_error(_cases: Sequence[Case], _revealed: Answers, _case: Case) -> Answers:
    return {RAISED: "ValueError: no"}


ANSWERERS: Mapping[str, Answerer] = {
    "nearest": of_the_nearest,
    "same kind": of_the_same_kind,
    "error": an_error,
}


class Raises(nn.Module):
    """A module that refuses to be made."""

    def __init__(self, *_: Any, **__: Any):
        raise ValueError("no")


def raises(*_: Any, **__: Any) -> Any:
    raise ValueError("no")


def _first_tensor(values: Sequence[Any]) -> torch.Tensor:
    return next(v for v in values if isinstance(v, torch.Tensor))


# Functions and classes that have solved nothing, whatever they are asked.
OBJECTS: Mapping[str, Any] = {
    "class that raises": Raises,
    "function that raises": raises,
    "nothing": lambda *_, **__: None,
    "zero": lambda *_, **__: 0,
    "zero as a float": lambda *_, **__: 0.0,
    "one as a float": lambda *_, **__: 1.0,
    "true": lambda *_, **__: True,
    "no text": lambda *_, **__: "",
    "no list": lambda *_, **__: [],
    "first argument": lambda *given, **_: given[0],
    "zeros": lambda *given, **_: torch.zeros_like(_first_tensor(given)),
    "ones": lambda *given, **_: torch.ones_like(_first_tensor(given)),
    "linear layer": nn.Linear,
}


def result_of(
    check: PreparedCheck, answer: Callable[[Case, Answers], Answers]
) -> CheckResult:
    """What the judge makes of answers, each to a case and what is shown of it."""

    def ask(case: Case) -> Answers:
        side = check.side(case)
        return concluded(side, answer(case, side.reveal_inputs()))

    return judge(check.exercise, check.cases, ask)


def points_without_work(name: str, seed: str = "one") -> dict[str, float]:
    """What each of these answers earns in one drawing of an exercise, if anything."""
    check = prepare_check(name, seed)
    visible = check.exercise.cases
    points_by_way = {
        way_name: result_of(
            check, lambda case, shown, ask=ask: ask(visible, shown, case)
        ).points
        for way_name, ask in ANSWERERS.items()
    }
    points_by_way |= {
        way_name: points_of(check, value) for way_name, value in OBJECTS.items()
    }
    return {way_name: points for way_name, points in points_by_way.items() if points}


def points_of(check: PreparedCheck, value: Any) -> float:
    """What an object earns."""
    return result_of_object(check, value).points


def result_of_object(check: PreparedCheck, value: Any) -> CheckResult:
    """What the judge makes of an object."""
    probe = find(check.exercise.name)

    def ask(case: Case) -> Answers:
        side = check.side(case)

        def report(student_object: Any, revealed: Answers) -> Mapping[str, object]:
            return probe.play(
                student_object, revealed, make_ask(lambda asked: reply(side, asked))
            )

        return concluded(side, observe(report, value, side.reveal_inputs()))

    return judge(check.exercise, check.cases, ask)
