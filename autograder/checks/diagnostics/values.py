"""Signs: functions that recognise what all wrong answers have in common.

Each takes the failed cases, or the findings on their wrong answers, and returns
an observation and a question for the student, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from autograder.checks.diagnostics.alike import (
    agree,
    close,
    compose_sign,
    holds_the_same,
    is_gradient,
    tensor_pairs,
    which_input,
)
from autograder.checks.exercise import AFTERWARDS, CaseResult, Finding
from autograder.checks.forms import dtype_of
from autograder.checks.language import _, translatable, translate

Sign = tuple[str, str] | None  # an observation and a question, or None
Wrong = Sequence[CaseResult]

# Questions that parts.py asks as well.
CUT = translatable(
    "Where does a tensor leave the graph (`detach`, `.data`, `item`, a new tensor "
    "made from its values)?"
)
BIAS = translatable("Which layers have a bias, and which arguments switch it off?")
CREATED = translatable(
    "Which line creates it? Is it a part of what the contract lists?"
)
DTYPE = translatable(
    "Which dtype does the tensor have when you create it, and does a later step change "
    "it?"
)
MOVED = translatable(
    "Which step moves entries: a `reshape` where a `transpose` belongs, the "
    "wrong dimension, the wrong order?"
)
SUPERFLUOUS = translatable("What should not be there, or what is missing?")
NO_NUMBER = translatable(
    "What could cause it: a division by zero, infinity minus infinity, a softmax "
    "over nothing but minus infinity, the exponential of a large number?"
)


def faults(wrong: Wrong) -> list[Finding]:
    """All findings with a problem in the given cases, in their order."""
    return [f for result in wrong for f in result.findings if f.problem]


def _nothing_returned(wrong: Wrong) -> Sign:
    if not all("got None" in f.message for f in faults(wrong)):
        return None
    return (
        _("Nothing comes back: your code returns `None`."),
        _("Which line hands the result to the caller?"),
    )


def _only_gradients(wrong: Wrong) -> Sign:
    findings = faults(wrong)
    if not all(map(is_gradient, findings)):
        return None
    message = _("The values are right, but the {name} is not.")
    return compose_sign(findings, message, _(CUT))


def _only_repeated_calls(wrong: Wrong) -> Sign:
    """Recognise that only repeated calls give wrong answers, not the first ones."""
    if not all("second call" in finding.name for finding in faults(wrong)):
        return None
    return (
        _("The first call is right, but the same call again is not."),
        _(
            "What carries over from one call to the next: an attribute, a global name, "
            "an input that was changed?"
        ),
    )


def _only_kind(wrong: Wrong) -> Sign:
    """Recognise that the values are right, and only their type is wrong."""
    problems = faults(wrong)
    if not all(f.name.startswith("kind of ") for f in problems):
        return None
    return (
        _(
            "All values are right, but the kind of {name} is not: {own} instead of "
            "{expected}."
        ).format(
            name=translate(problems[0].name.removeprefix("kind of ")),
            own=_join_kinds(translate(str(problems[0].actual))),
            expected=_join_kinds(translate(str(problems[0].expected))),
        ),
        _(
            "What does the docstring promise to return, and what turns one into the "
            "other?"
        ),
    )


def _join_kinds(kinds: str) -> str:
    """Put "and" before the last of several types: "a list, a str and a tuple"."""
    first, comma, last = kinds.rpartition(", ")
    return _("{first} and {last}").format(first=first, last=last) if comma else kinds


def parameters(findings: Sequence[Finding]) -> Sign:
    """Recognise extra or missing parameters, the same ones in every case."""
    pairs = {(f.name, str(f.actual)) for f in findings}
    name, names = pairs.pop()
    if pairs:
        return None
    if name == "parameters that are missing":
        return _("Your module lacks {names}.").format(names=names), _(BIAS)
    if name == "other parameters":
        message = _("Your module holds more than is asked for: {names}.")
        return message.format(names=names), _(CREATED)
    return None


def _other_type(wrong: Wrong) -> Sign:
    """Recognise the right values in the wrong dtype."""
    pairs = tensor_pairs(faults(wrong))
    if not pairs or not all(
        a.shape == b.shape and a.dtype != b.dtype and close(a, b, 1e-2)
        for a, b in pairs
    ):
        return None
    expected, actual = map(dtype_of, pairs[0])
    message = _("The values are right, but their dtype is {own} instead of {expected}.")
    return message.format(own=actual, expected=expected), _(DTYPE)


def _no_numbers(wrong: Wrong) -> Sign:
    if not all(f.problem == "finite" for f in faults(wrong)):
        return None
    message = _("There is NaN or infinity in {name}.")
    return compose_sign(faults(wrong), message, _(NO_NUMBER))


def _zeros(wrong: Wrong) -> Sign:
    """Recognise that all wrong answers are zeros, with several numbers in all."""
    pairs = tensor_pairs(faults(wrong))
    if not pairs or any(b.any() or b.dtype == torch.bool for _, b in pairs):
        return None
    if any(finding.name.endswith(AFTERWARDS) for finding in faults(wrong)):
        return None  # the zeros were written into an input, not returned
    if sum(b.numel() for _, b in pairs) < 4:
        return None
    right = any(
        not (f.problem or f.name.endswith(AFTERWARDS))
        for result in wrong
        for f in result.findings
    )
    if right and len({f.name for f in faults(wrong)}) > 1:
        return None  # parts.py says which ones are wrong
    message = _('"{name}" is all zeros.') if right else _("Your result is all zeros.")
    asks = _("Which step should fill it with other values?")
    return compose_sign(faults(wrong), message, asks)


def _input_returned(wrong: Wrong) -> Sign:
    """Recognise that one and the same input comes back unchanged."""
    names = {which_input(r, f) for r in wrong for f in faults([r])}
    if len(names) != 1 or "" in names:
        return None
    return (
        _("Your code returns `{name}` unchanged.").format(name=names.pop()),
        _("Is the result of each step used by the next one?"),
    )


def _exchanged(wrong: Wrong) -> Sign:
    """Recognise the right results in the wrong order."""
    for result in wrong:
        pairs = [f.tensors for f in faults([result]) if f.tensors]
        if any(actual.dtype == torch.bool for _a, actual in pairs):
            return None  # booleans often agree by chance
        if len(pairs) < 2 or not all(
            any(agree(pair[1], other[0]) for other in pairs if other is not pair)
            for pair in pairs
        ):
            return None
    return (
        _("The results are right, but in the wrong order."),
        _("In which order does the docstring name them?"),
    )


def _other_shape(wrong: Wrong) -> Sign:
    """Recognise the right values, in the right order, in the wrong shape."""
    pairs = tensor_pairs(faults(wrong))
    if not pairs or not all(
        a.shape != b.shape
        and a.numel() == b.numel()
        and agree(a.flatten(), b.flatten())
        for a, b in pairs
    ):
        return None
    expected, actual = (tuple(t.shape) for t in pairs[0])
    message = _("The values are right, but their shape is {own} instead of {expected}.")
    asks = _("Which dimension is one too many, or missing?")
    return message.format(own=actual, expected=expected), asks


def _elsewhere(wrong: Wrong) -> Sign:
    pairs = tensor_pairs(faults(wrong))
    if not pairs or not all(holds_the_same(a, b) for a, b in pairs):
        return None
    return _("All values are there, but at the wrong positions."), _(MOVED)


def _multiplied(wrong: Wrong) -> Sign:
    """Recognise right values times a factor that is the same in all cases."""
    factors = []
    for expected, actual in tensor_pairs(faults(wrong)):
        if expected.shape != actual.shape or not expected.is_floating_point():
            return None
        a, b = expected.double().flatten(), actual.real.double().flatten()
        if len(a) < 3 or not a.any() or len(a.unique()) < 3:
            return None
        factor = float((a * b).sum() / a.square().sum())
        if not close(a * factor, b, 1e-4):
            return None
        factors.append(factor)
    if not factors or max(factors) - min(factors) > 1e-3 * abs(factors[0]):
        return None
    if f"{factors[0]:.4g}" in ("1", "0"):  # only later digits are wrong: not helpful
        return None
    message = _("Every wrong value is {factor:.4g} times what it should be.")
    return message.format(factor=factors[0]), _("Where does this factor come from?")


def _few_digits(wrong: Wrong) -> Sign:
    """Recognise values that are right to two digits, as if rounded on the way."""
    pairs = tensor_pairs(faults(wrong))
    if not pairs or not all(
        a.shape == b.shape and a.is_floating_point() and close(a, b, 1e-2)
        for a, b in pairs
    ):
        return None
    return (
        _("Nearly right: all values agree to two or three digits, but no further."),
        _(
            "Is a small constant different, such as an epsilon, or is something "
            "rounded, approximated or computed in a smaller dtype?"
        ),
    )


def _first_only(wrong: Wrong) -> Sign:
    """Recognise that only the first example of a batch, or the first row, is right."""
    pairs = tensor_pairs(faults(wrong))
    if not pairs or not all(
        a.shape == b.shape
        and a.dim() > 1
        and len(a) > 1
        and agree(a[0], b[0])
        and not any(agree(x, y) for x, y in zip(a[1:], b[1:], strict=True))
        for a, b in pairs
    ):
        return None
    return (
        _("Only the first entry along the first dimension is right."),
        _("What does your code do with the second example, or the second row?"),
    )


SIGNS: tuple[Callable[[Wrong], Sign], ...] = (
    _nothing_returned, _only_gradients, _only_repeated_calls, _only_kind,
    lambda wrong: parameters(faults(wrong)), _other_type, _no_numbers, _zeros,
    _input_returned, _exchanged, _other_shape, _elsewhere, _multiplied, _few_digits,
    _first_only,
)  # fmt: skip
