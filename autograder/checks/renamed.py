"""Accept arguments that a student has renamed, by matching them by position.

If a call by keyword fails, the case is tried once more. Each of the task's
names is then passed as the student's argument at the same position.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.checks.exercise import (
    RAISED,
    RENAMED,
    Answers,
    Case,
    CaseResult,
    Exercise,
    Finding,
    Mistake,
)
from autograder.checks.language import _

LISTED = "names_of_arguments"  # the input that lists the task's names of arguments
Arguments = Mapping[str, Sequence[str]]  # by function, or by class and method
_LONGEST_NAME = 100  # characters; student code may report any
_REFUSED = re.compile(r"^TypeError: .*unexpected keyword argument")


def ask_by_position(
    exercise: Exercise, answers: Mapping[Case, Answers], ask: Callable[[Case], Answers]
) -> dict[Case, Answers]:
    """Repeat the cases in which a keyword was refused, with arguments by position.

    Return the answers to all cases, with new ones where that has helped.
    """
    listed = {LISTED: json.dumps({k: [*v] for k, v in exercise.arguments.items()})}
    adapted = dict(answers)
    for case, case_answers in answers.items():
        if exercise.arguments and _REFUSED.match(str(case_answers.get(RAISED, ""))):
            again = ask(replace(case, inputs={**case.inputs, **listed}))
            if RENAMED in again:
                adapted[case] = again
    return adapted


def note(
    results: tuple[CaseResult, ...],
) -> tuple[tuple[CaseResult, ...], Mistake | None]:
    """Report a renamed argument in the first result in which it was found.

    Return the results and the mistake, with which only this result is charged.
    """
    for place, result in enumerate(results):
        names = str(result.answers.get(RENAMED, "")).split()
        if len(names) != 2 or max(map(len, names)) > _LONGEST_NAME:
            continue
        message = _("Your argument `{own}` is called `{name}` in the task.")
        message = message.format(name=names[0], own=names[1])
        finding = Finding("", RENAMED, message)
        noted = replace(result, findings=(finding, *result.findings), credit=0.0)
        asks = _("Which names do the arguments have in the cell that you were given?")
        mistake = Mistake("renamed", message, asks)
        return (*results[:place], noted, *results[place + 1 :]), mistake
    return results, None


def split(inputs: Answers) -> tuple[Answers, Arguments]:
    """Return a case's inputs without its list of argument names, and that list."""
    if LISTED not in inputs:
        return inputs, {}
    remaining = {name: value for name, value in inputs.items() if name != LISTED}
    return remaining, json.loads(str(inputs[LISTED]))


def adapt(answer: Any, arguments: Arguments, renamed: dict[str, str]) -> Any:
    """Wrap a student's functions or class, so that parameters may have other names.

    Calls use the names that the task states. Where the student chose another name for
    a parameter in the same position, ``renamed`` maps the stated name to it.
    """
    if isinstance(answer, tuple):
        return tuple(adapt(part, arguments, renamed) for part in answer)
    name = getattr(answer, "__name__", "")
    if not inspect.isclass(answer):
        return _by_position(answer, arguments.get(name, ()), renamed)
    methods = {
        method: _by_position(getattr(answer, method), names, renamed)
        for path, names in arguments.items()
        for owner, _, method in [path.partition(".")]
        if owner == name and hasattr(answer, method)
    }
    members = {"__module__": answer.__module__, **methods}
    return types.new_class(name, (answer,), exec_body=lambda b: b.update(members))


def _by_position(
    function: Callable[..., Any], names: Sequence[str], renamed: dict[str, str]
) -> Callable[..., Any]:
    """Wrap a function so that the task's names reach its parameters by position.

    Each call adds the names that it translated to ``renamed``.
    """
    try:
        parameters = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        return function
    parameter_of = {
        name: parameter
        for name, parameter in zip(names, parameters, strict=False)
        if name not in parameters and parameter not in names
    }

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        renamed.update({n: parameter_of[n] for n in keywords if n in parameter_of})
        by_parameter = {parameter_of.get(n, n): v for n, v in keywords.items()}
        return function(*args, **by_parameter)

    return call


def report(renamed: Mapping[str, str]) -> dict[str, str]:
    """The answer that reports a renamed argument by its two names; {} if none is."""
    return {RENAMED: " ".join(next(iter(renamed.items())))} if renamed else {}
