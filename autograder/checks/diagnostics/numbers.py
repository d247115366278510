"""Recognise symptoms in the numbers of one answer, if all its shapes are right.

Each function takes the findings on that answer from all cases in which it is wrong, and
returns a message and a question, or None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from autograder.checks.diagnostics.alike import (
    MANY,
    Pairs,
    compose_sign,
    holds_the_same,
    value_pairs,
    wrong_entries,
)
from autograder.checks.diagnostics.ranges import cut_off, rounded
from autograder.checks.diagnostics.values import MOVED, SUPERFLUOUS, Sign
from autograder.checks.exercise import Finding
from autograder.checks.language import _

_LARGE = 1e6  # times the largest expected number: something grows without a bound


def _format(number: torch.Tensor) -> str:
    """Return a tensor's only number as text, a float to four significant digits."""
    value = number.item()
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def sums(findings: Sequence[Finding]) -> Sign:
    """Recognise rows of probabilities that do not sum to 1.

    If those along another dimension do, the message says so.
    """
    pairs = [
        (a, b) for a, b in value_pairs(findings) if a.dim() and a.is_floating_point()
    ]
    if len(pairs) < len(findings) or not all(
        a.shape[-1] > 1 and bool((a >= 0).all()) and _are_one(a.sum(-1))
        for a, b in pairs
    ):
        return None
    if any(_are_one(b.sum(-1)) for a, b in pairs):
        return None
    for dim in range(pairs[0][0].dim() - 1):
        if all(b.dim() > dim + 1 and _are_one(b.sum(dim)) for a, b in pairs):
            message = _(
                'The numbers of "{name}" sum to 1 along dimension {dim}, but '
                "should do so along the last one."
            )
            asks = _("Over which entries should each set of numbers sum to 1?")
            return compose_sign(findings, message, asks, dim=dim)
    rows = pairs[0][1].double().sum(-1)
    actual = _format(rows.flatten()[(rows - 1).abs().argmax()])
    message = _('Each row of "{name}" should sum to 1, but one of yours sums to {own}.')
    asks = _("Which step makes a row sum to 1, and what happens to the row after it?")
    return compose_sign(findings, message, asks, own=actual)


def _are_one(sums: torch.Tensor) -> bool:
    return bool((sums.double() - 1).abs().max() < 1e-4) if sums.numel() else False


def one_value(findings: Sequence[Finding]) -> Sign:
    """Recognise that all wrong entries are the same number."""
    pairs = value_pairs(findings)
    if not pairs:
        return None
    kinds = [(a[wrong_entries(a, b)], b[wrong_entries(a, b)]) for a, b in pairs]
    if len({part.dtype for kind in kinds for part in kind}) > 1:
        return None
    expected, actual = (torch.cat(parts) for parts in zip(*kinds, strict=True))
    if len(actual) < 3 or len(actual.unique()) > 1:
        return None
    if actual.dtype == torch.int64 and not actual.any() and pairs[0][0].dim():
        return None  # padding of a row that ended too early
    fields = {"own": _format(actual[0]), "expected": _format(expected[0])}
    message = _('Wherever "{name}" is wrong, yours is {own} instead of {expected}.')
    if len(expected.unique()) > 1:
        message = _('Wherever "{name}" is wrong, yours is {own}.')
    asks = _("What do these entries have in common?")
    return compose_sign(findings, message, asks, **fields)


def not_zero(findings: Sequence[Finding]) -> Sign:
    """Recognise that many entries are not 0, although they should be.

    "Many" is more than half of the wrong entries, or three quarters of the zeros. If
    no answer has dimensions, it is all wrong ones.
    """
    pairs = [(a, b) for a, b in value_pairs(findings) if a.is_floating_point()]
    astray = [b[(a == 0) & wrong_entries(a, b)] for a, b in pairs]
    actual = torch.cat([torch.empty(0), *astray])
    if not all(len(n) or a.all() for n, (a, _b) in zip(astray, pairs, strict=True)):
        return None
    count_wrong = sum(int(wrong_entries(a, b).sum()) for a, b in pairs)
    count_zeros = sum(int((a == 0).sum()) for a, _b in pairs)
    is_rule, has_dimensions = len(actual) == count_wrong, any(a.dim() for a, _ in pairs)
    if has_dimensions:
        is_rule = 2 * len(actual) > min(count_wrong, 1.5 * count_zeros)
    if not is_rule or len(actual) < (MANY if has_dimensions else 1):
        return None
    if 2 * sum(len(numbers) > 0 for numbers in astray) < len(pairs):  # few cases
        return None
    message = _('In "{name}", some entries should be exactly 0, but one is {own}.')
    asks = _("When is 0 the correct value, and which of your lines ensures it?")
    largest = _format(actual[actual.abs().argmax()])
    return compose_sign(findings, message, asks, own=largest)


def zeros(findings: Sequence[Finding]) -> Sign:
    """Recognise zeros in place of other numbers, in some entries of every case."""
    pairs = value_pairs(findings)
    if not pairs or any(not b.is_floating_point() or not b.any() for _a, b in pairs):
        return None
    counts = [int(((b == 0) & wrong_entries(a, b)).sum()) for a, b in pairs]
    if min(counts) < 1 or sum(counts) < MANY:
        return None
    message = _('In "{name}", some numbers are 0 that should not be.')
    asks = _("Which entries are these, and which step leaves them out or writes a 0?")
    return compose_sign(findings, message, asks)


def scaled(findings: Sequence[Finding]) -> Sign:
    """Recognise right numbers times one factor, or plus one constant, in all cases."""
    pairs = value_pairs(findings)
    if not pairs or not all(a.is_floating_point() for a, b in pairs):
        return None
    if not all(_tell_apart([pair[side] for pair in pairs]) for side in (0, 1)):
        return None
    factor = _ratio(pairs)
    if factor and all(_is_times(factor, *pair) for pair in pairs):
        message = _('Every number of "{name}" is {factor:.4g} times what it should be.')
        asks = _("Where does this factor come from?")
        return compose_sign(findings, message, asks, factor=factor)
    offsets = [float((b.double() - a.double()).mean()) for a, b in pairs]
    if all(_is_plus(offsets[0], *pair) for pair in pairs):
        message = _(
            'Every number of "{name}" differs from the right one by {more:.4g}.'
        )
        asks = _("Which constant is added, or missing?")
        return compose_sign(findings, message, asks, more=offsets[0])
    return None


def scaled_apart(findings: Sequence[Finding]) -> Sign:
    """Recognise correct values times a factor that differs from case to case."""
    pairs = value_pairs(findings)
    if len(pairs) < 2 or not all(
        a.is_floating_point() and _tell_apart([a]) and _tell_apart([b])
        for a, b in pairs
    ):
        return None
    factors = [_ratio([pair]) for pair in pairs]
    if not all(f and _is_times(f, *p) for f, p in zip(factors, pairs, strict=True)):
        return None
    message = _(
        'In every case the numbers of "{name}" are right up to a factor: '
        "{first:.4g} in one of them, {second:.4g} in another."
    )
    asks = _("What is the factor in each case: a size, a count, a sum?")
    return compose_sign(
        findings, message, asks, first=max(factors), second=min(factors)
    )


def scaled_rows(findings: Sequence[Finding]) -> Sign:
    """Recognise right numbers times a factor that differs from row to row.

    Rows that are right as they are have the factor 1.
    """
    pairs = value_pairs(findings)
    factors = set[float]()
    for a, b in pairs:
        if a.dim() < 2 or not a.is_floating_point():
            return None
        for row in zip(a.flatten(0, -2), b.flatten(0, -2), strict=True):
            if not _tell_apart([row[0]]):
                continue
            factor = _ratio([row], least=0.0)
            if not factor or not _is_times(factor, *row):
                return None
            factors.add(round(factor, 3))
    if len(factors) < MANY:
        return None
    message = _(
        'In each row of "{name}" the numbers are right up to a factor, which '
        "differs from row to row: {first:.4g}, {second:.4g}."
    )
    asks = _(
        "What is each row divided or multiplied by, and what is that computed from?"
    )
    return compose_sign(
        findings, message, asks, first=max(factors), second=min(factors)
    )


def _ratio(pairs: Pairs, least: float = 1e-3) -> float:
    """The factor by which the largest expected number is multiplied; 0.0 if unusable.

    A usable factor is not 0, and differs from 1 by at least ``least``.
    """
    a, b = max(pairs, key=lambda pair: float(pair[0].abs().max()))
    place = a.abs().argmax()
    factor = float(b.flatten()[place]) / (float(a.flatten()[place]) or math.inf)
    return factor if abs(factor) > 1e-6 and abs(factor - 1) >= least else 0.0


def _is_times(factor: float, a: torch.Tensor, b: torch.Tensor) -> bool:
    predicted = factor * a.double()
    atol = 1e-5 * float(predicted.abs().max())
    return torch.allclose(b.double(), predicted, 1e-3, atol)


def _is_plus(offset: float, a: torch.Tensor, b: torch.Tensor) -> bool:
    rounding = 1e-5 * max(float(a.abs().max()), 1.0)
    gap = (b.double() - a.double()) - offset
    return abs(offset) > 100 * rounding and bool(gap.abs().max() < rounding)


def _tell_apart(values: Sequence[torch.Tensor]) -> bool:
    """Return whether tensors hold at least three different numbers, all finite.

    With fewer, a simple relation to the right numbers might be chance.
    """
    flat = torch.cat([value.double().flatten() for value in values])
    return len(flat.unique()) > 2 and bool(flat.isfinite().all())


def elsewhere(findings: Sequence[Finding]) -> Sign:
    """Recognise the right numbers at the wrong positions."""
    pairs = value_pairs(findings)
    if not pairs or not all(holds_the_same(a, b) for a, b in pairs):
        return None
    message = _('All numbers of "{name}" are there, but at the wrong positions.')
    return compose_sign(findings, message, _(MOVED))


def by_index(findings: Sequence[Finding]) -> Sign:
    """Recognise values that are right up to some index, and wrong from there on."""
    pairs = value_pairs(findings)
    ranks = {a.dim() for a, b in pairs}
    computed = all(a.is_floating_point() for a, _b in pairs)  # ids agree at BOS anyway
    if len(pairs) < 2 or len(ranks) != 1 or not computed:
        return None
    for dim in range(ranks.pop()):
        lines = [_along(wrong_entries(a, b), dim) for a, b in pairs]
        if any(len(line) < 3 for line in lines):
            continue
        right = [line.index(True) for line in lines]
        if all(n and all(line[n:]) for n, line in zip(right, lines, strict=True)):
            message = _(
                'Along dimension {dim}, "{name}" is right before index {index}, '
                "and wrong from there on."
            )
            if len(set(right)) > 1:
                message = _(
                    'Along dimension {dim}, "{name}" is right at first and wrong from '
                    "some index on: in one case from {index} on."
                )
            asks = _("What is different from there on?")
            return compose_sign(findings, message, asks, dim=dim, index=right[0])
    return None


def _along(wrong: torch.Tensor, dim: int) -> list[bool]:
    """For each index along a dimension, whether any entry at that index is wrong."""
    by_place = wrong.movedim(dim, 0).reshape(wrong.shape[dim], -1)
    return [bool(place.any()) for place in by_place]


def grows(findings: Sequence[Finding]) -> Sign:
    """Recognise numbers about a million times too large, as if they grew unchecked."""
    for a, b in value_pairs(findings):
        if not a.is_floating_point():
            continue
        largest = b.abs().max()
        if largest > _LARGE * a.abs().max().clamp_min(1):
            message = _('Numbers of "{name}" are far too large: {own} is the largest.')
            asks = _("Which step makes them larger, and what should keep them small?")
            return compose_sign(findings, message, asks, own=_format(largest))
    return None


def count(findings: Sequence[Finding]) -> Sign:
    """Recognise a whole number that is off by the same amount in every case."""
    pairs = [(a, b) for a, b in value_pairs(findings) if a.dim() == 0]
    if len(pairs) < 2 or len(pairs) < len(findings) or pairs[0][0].is_floating_point():
        return None
    offsets = {int(b) - int(a) for a, b in pairs}
    if len(offsets) > 1 or pairs[0][0].dtype == torch.bool:
        return None
    number = offsets.pop()
    many, few = _("{name}: {count} too many."), _("{name}: {count} too few.")
    message = many if number > 0 else few
    return compose_sign(findings, message, _(SUPERFLUOUS), count=abs(number))


# Of one answer, in all cases in which it is wrong.
NUMBERS = (
    count, elsewhere, scaled, rounded, cut_off, sums, one_value, not_zero,
    scaled_apart, scaled_rows, grows, by_index, zeros,
)  # fmt: skip
