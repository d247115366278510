"""Recognise wrong keys or errors, refused inputs, and unwanted gradients or changes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import torch

from autograder.checks.diagnostics.alike import agree, compose_sign, is_gradient
from autograder.checks.diagnostics.values import Sign, Wrong, faults
from autograder.checks.exercise import AFTERWARDS, RAISED, Finding, Value
from autograder.checks.language import _, translatable, translate
from autograder.checks.values import is_raised_by_code

_IN_PLACE = translatable(
    "Which operation modifies a tensor in place (`+=` or `&=`, a method whose name "
    "ends in `_`, an assignment to a slice or through a mask)?"
)
_IN_A_LIST = translatable(
    "Which operation modifies an argument (`append`, `del`, `sort`, `reverse`, an "
    "assignment to an entry) instead of creating a new object?"
)
_OTHER = "other names"  # what a probe reports of a dictionary beyond the promised names


def _names(wrong: Wrong) -> Sign:
    """Recognise a dictionary with the wrong keys, if nothing else is wrong."""
    findings = faults(wrong)
    about = [f for f in findings if f.problem == "missing" or f.name == _OTHER]
    return names(findings) if len(about) == len(findings) else None


def names(findings: Sequence[Finding]) -> Sign:
    """Recognise a dictionary whose keys are not those that the docstring lists."""
    missing = [f.name for f in findings if f.problem == "missing"]
    unexpected = [str(f.actual) for f in findings if f.name == _OTHER]
    if not missing and not unexpected:
        return None
    if missing and unexpected:
        message = _(
            "The names are not those of the docstring: `{missing}` is missing, and "
            "instead there is `{own}`."
        ).format(missing=missing[0], own=unexpected[0].split(", ")[0])
        return message, _("How does the docstring spell each name?")
    if missing:
        message = _("Something is missing from what comes back: `{name}`.")
        asks = _(
            "Which names does the docstring list, and which does your result have?"
        )
        return message.format(name=missing[0]), asks
    message = _("Your result holds more than the docstring lists: {names}.")
    asks = _("Which names does the docstring list?")
    return message.format(names=unexpected[0]), asks


def another_error(findings: Sequence[Finding]) -> Sign:
    """Recognise a call that raises a different error than it should, or none."""
    if not all(_is_error(f.expected) and isinstance(f.actual, str) for f in findings):
        return None
    promised, actual = str(findings[0].expected), str(findings[0].actual)
    message = _(
        "A `{error}` is promised, but what your code raises is different: {own} "
        "({where})."
    )
    asks = _("Which error does the docstring name, and which statement raises yours?")
    if actual == "no error":
        message = _("A `{error}` is promised, but your code raises no error ({where}).")
        asks = _("Which inputs does the docstring forbid, and which line finds them?")
    name = translate(findings[0].name)
    return message.format(error=promised, own=actual, where=name), asks


def _is_error(value: object) -> bool:
    """Return whether a value is text that looks like the name of an exception class."""
    return isinstance(value, str) and value.isidentifier() and value[-5:] == "Error"


def refusal(wrong: Wrong) -> Sign:
    """Recognise an allowed input that the student's own `raise` or `assert` refuses."""
    for finding in faults(wrong):
        if finding.problem != RAISED or not is_raised_by_code(finding.message):
            return None
    message = _("Your own check refuses an input that is allowed: {case}.")
    asks = _(
        "For which inputs is your condition true? Try it for the largest one that is "
        "allowed."
    )
    return message.format(case=_(wrong[0].case.title)), asks


def _reaches_too_far(wrong: Wrong) -> Sign:
    """Recognise a gradient that reaches inputs which it should not reach."""
    findings = faults(wrong)
    for f in findings:
        if not f.tensors or not is_gradient(f):
            return None
        a, b = f.tensors
        if a.shape != b.shape or not agree(a[a != 0], b[a != 0]):
            return None
    message = _(
        "The values are right, but the {name} reaches entries that should have none."
    )
    asks = _(
        "Which entries should training never change, and what keeps a gradient from "
        "them?"
    )
    return compose_sign(findings, message, asks)


def _only_a_trace(wrong: Wrong) -> Sign:
    """Recognise code that is right, except that it changes an input or other state."""
    problems = faults(wrong)
    if not all(f.name.endswith(AFTERWARDS) for f in problems):
        return None
    if find_changed_input(problems[0], wrong):
        return input_change(wrong)
    name = translate(problems[0].name.removesuffix(AFTERWARDS))
    message = _("Your code leaves a trace: {name} ({how}).")
    asks = _(
        "What does your code change, even if it changes it back, and could it do "
        "without?"
    )
    return message.format(name=name, how=problems[0].message), asks


def input_change(wrong: Wrong) -> Sign:
    """Recognise an input that the student's code has changed, in some case."""
    for finding in faults(wrong):
        if name := find_changed_input(finding, wrong):
            message = _("Your code writes into its input: {name} has changed.")
            asks = _IN_A_LIST if isinstance(finding.expected, str) else _IN_PLACE
            return message.format(name=translate(name)), _(asks)
    return None


def find_changed_input(finding: Finding, wrong: Wrong) -> str:
    """Return the name of the input that a finding reports as changed; "" for none."""
    name = finding.name.removesuffix(AFTERWARDS)
    if name == finding.name:
        return ""
    is_input = any(name in result.case.inputs for result in wrong)
    is_made = name.isidentifier() and _is_data(finding.expected)
    return name if is_input or is_made else ""


def _is_data(value: Value | None) -> bool:
    """Whether a value is a tensor, or a list or dictionary as JSON."""
    if not isinstance(value, str):
        return isinstance(value, torch.Tensor)
    try:
        return isinstance(json.loads(value), list | dict)
    except ValueError:
        return False


# Signs that are tried before those about values.
FIRST = (
    _reaches_too_far, _names, lambda wrong: another_error(faults(wrong)), _only_a_trace,
)  # fmt: skip
