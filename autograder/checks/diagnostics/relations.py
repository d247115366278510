"""Recognise symptoms that only several answers together show.

For example, a part of a module never gets a gradient.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch

from autograder.checks.diagnostics.alike import is_gradient
from autograder.checks.diagnostics.values import CREATED, Sign
from autograder.checks.exercise import AFTERWARDS, CaseResult, Finding, Value
from autograder.checks.language import _, translate
from autograder.checks.points import MINOR
from autograder.checks.probes.default import ATTRIBUTE, MAKE
from autograder.checks.properties import what_was_seen

_GRADIENT = "gradient of "
_PARAMETER = re.compile(r"(?<![\w.])([\w.]+) \([\d, ]*\)")  # a name and a shape
_NAMED = 3  # names in a sentence
_TELLING = 3  # this many different values are not right by chance


def of_relations(results: Sequence[CaseResult]) -> Sign:
    """The first symptom that several answers together show, or None."""
    ordinary = [r for r in results if not (r.case.says or r.case.measure)]
    return (
        _other_parameters(ordinary)
        or _no_attribute(ordinary)
        or _unused(results)
        or _some_are_right(ordinary)
    )


def _unused(results: Sequence[CaseResult]) -> Sign:
    """Recognise that no parameter of some part of a module ever gets a gradient."""
    gradients: dict[str, list[bool]] = {}  # whether each one is zero
    for name, finding in _gradients(results):
        actual = finding.actual
        is_zero = isinstance(actual, torch.Tensor) and not actual.any()
        gradients.setdefault(name, []).append(is_zero)
    dead = {name for name, are_zero in gradients.items() if all(are_zero)}
    # If nothing at all gets a gradient, no part stands out.
    if not dead or dead == gradients.keys():
        return None
    parts = {_largest_part(name, dead, gradients) for name in dead}
    message = _("No gradient ever reaches {names}.").format(names=_join(sorted(parts)))
    asks = _(
        "Which line uses it, and does the result of that line reach what you return?"
    )
    return message, asks


def _gradients(results: Sequence[CaseResult]) -> Iterator[tuple[str, Finding]]:
    """Yield (tensor's name, finding) for each gradient that should not be zero."""
    for result in results:
        for finding in result.findings:
            expected = finding.expected
            is_expected = isinstance(expected, torch.Tensor) and bool(expected.any())
            if is_gradient(finding) and is_expected:
                name, _label = what_was_seen(finding.name)
                yield name.removeprefix(_GRADIENT), finding


def _largest_part(name: str, dead: set[str], names: Iterable[str]) -> str:
    """Return the outermost module around a parameter in which nothing gets a gradient.

    If there is none, return ``name``. ``dead`` lists parameters without gradient.
    """
    steps = name.split(".")
    for count in range(1, len(steps)):
        part = ".".join(steps[:count])
        if all(n in dead for n in names if n.startswith(f"{part}.")):
            return part
    return name


def _other_parameters(results: Sequence[CaseResult]) -> Sign:
    """Recognise the same extra or missing parameters in all cases with wrong ones."""
    wrong = [
        (_parameters(f.expected), _parameters(f.actual))
        for result in results
        for f in result.findings
        if f.problem and f.name == "parameters"
    ]
    differences = {(actual - expected, expected - actual) for expected, actual in wrong}
    if len(differences) != 1:
        return None
    more, fewer = differences.pop()
    if more and not fewer:
        message = _("In some cases your module holds more than is asked for: {names}.")
        return message.format(names=_join(sorted(more))), _(CREATED)
    if fewer and not more:
        message = _("In some cases your module lacks {names}.")
        asks = _("Which arguments decide whether it is created?")
        return message.format(names=_join(sorted(fewer))), asks
    return None


def _parameters(value: Value | None) -> frozenset[str]:
    return frozenset(_PARAMETER.findall(value) if isinstance(value, str) else ())


def _no_attribute(results: Sequence[CaseResult]) -> Sign:
    """Recognise that nothing is wrong except that a module lacks some attributes."""
    findings = [f for result in results for f in result.findings if f.problem]
    is_module = all(any(n.startswith(MAKE) for n in r.case.inputs) for r in results)
    if not findings or not is_module:
        return None
    if not all(f.actual == "None" and f.name.startswith(ATTRIBUTE) for f in findings):
        return None
    names = _join(list(dict.fromkeys(f.name[len(ATTRIBUTE) :] for f in findings)))
    message = _("Your module does not hold {names} as an attribute of that name.")
    return message.format(names=names), _(
        "Which attributes does the contract list, and where does `__init__` set them?"
    )


def _some_are_right(results: Sequence[CaseResult]) -> Sign:
    """Recognise that some results are right in every case, while others are not."""
    wrong, right = _names(results, bool), _names(results, lambda problem: not problem)
    # A right result is telling if it varies, and its name begins like no wrong one.
    telling = [
        name
        for name, values in right.items()
        if len(values) >= _TELLING and not any(name.startswith(w) for w in wrong)
    ]
    failed = [result for result in results if not result.passed]
    if (
        len(failed) < 2
        or not telling
        or not all(_shows_both(r, telling) for r in failed)
    ):
        return None
    message = _("{right} came out right in every case; {wrong} did not.")
    return (
        message.format(right=_quote(telling), wrong=_quote(list(wrong))),
        _("What does the wrong one depend on that the right one does not?"),
    )


def _shows_both(result: CaseResult, right: Sequence[str]) -> bool:
    """Whether a case has a wrong result, and also one of the results in ``right``."""
    wrong = [f for f in result.findings if f.problem and _is_result(result, f)]
    return bool(wrong) and any(f.name in right for f in result.findings)


def _names(
    results: Sequence[CaseResult], belongs: Callable[[str], bool]
) -> dict[str, set[str]]:
    """Map results to their expected values, as texts; tensors to their first entries.

    ``belongs`` tests a finding's ``problem``, which is "" for a right result.
    """
    names: dict[str, set[str]] = {}
    for result in results:
        for f in result.findings:
            if _is_result(result, f) and belongs(f.problem):
                names.setdefault(f.name, set()).update(_entries(f.expected))
    return names


def _is_result(result: CaseResult, finding: Finding) -> bool:
    """Whether a finding is about a result, not about a gradient or a changed input."""
    name = finding.name
    is_left = is_gradient(finding) or name.endswith(AFTERWARDS)
    return bool(name) and not is_left and result.case.aspect_of(name) not in MINOR


def _entries(value: Value | None) -> list[str]:
    """The first entries of a tensor as text; any other value as one text."""
    if isinstance(value, torch.Tensor):
        return [f"{entry:.3g}" for entry in value.flatten()[:_TELLING].tolist()]
    return [str(value)]


def _quote(names: Sequence[str]) -> str:
    return _limit([f'"{translate(name)}"' for name in names])


def _join(names: Sequence[str]) -> str:
    return _limit([f"`{name}`" for name in names])


def _limit(names: Sequence[str]) -> str:
    """Join up to three names, and say how many more there are."""
    first_names, omitted = ", ".join(names[:_NAMED]), len(names) - _NAMED
    if omitted <= 0:
        return first_names
    return _("{names} and {more} more").format(names=first_names, more=omitted)
