"""Signs: functions that recognise what is wrong with the shape of an answer.

Each takes the findings on one answer from all cases in which it is wrong, and
returns an observation and a question for the student, or None.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import torch

from autograder.checks.diagnostics.alike import compose_sign, tensor_pairs
from autograder.checks.diagnostics.values import SUPERFLUOUS, Sign
from autograder.checks.exercise import Finding
from autograder.checks.language import _, translatable

_MOVES = translatable(
    "What does each dimension stand for, and which step moves yours there?"
)
Shape = tuple[int, ...]
Shapes = list[tuple[Shape, Shape]]  # expected, and the student's


def _shapes(findings: Sequence[Finding]) -> Shapes:
    """Return pairs (expected, actual) of shapes; [] unless all shapes are wrong."""
    if any(f.problem != "shape" for f in findings):
        return []
    return [(tuple(a.shape), tuple(b.shape)) for a, b in tensor_pairs(findings)]


def _same_rank(findings: Sequence[Finding]) -> Shapes:
    """Return the wrong shapes, as `_shapes`, if all have one rank above 1; else []."""
    pairs = _shapes(findings)
    ranks = {len(shape) for pair in pairs for shape in pair}
    return pairs if len(ranks) == 1 and ranks.pop() > 1 else []


def rank(findings: Sequence[Finding]) -> Sign:
    """Recognise a wrong number of dimensions, like 3 instead of 2 in all cases."""
    pairs = _shapes(findings)
    ranks = {(len(a), len(b)) for a, b in pairs}
    if len(ranks) != 1 or len(set(next(iter(ranks)))) == 1:
        return None
    expected, actual = ranks.pop()
    message = _(
        '"{name}" should have {expected} dimensions, but yours has {own}: shape '
        "{own_shape} instead of {shape}."
    )
    asks = _("What does each dimension stand for, and which step adds or drops one?")
    shapes = {"shape": pairs[0][0], "own_shape": pairs[0][1]}
    return compose_sign(
        findings, message, asks, expected=expected, own=actual, **shapes
    )


def order(findings: Sequence[Finding]) -> Sign:
    """Recognise the right dimensions in a wrong order, the same one in all cases."""
    pairs = _same_rank(findings)
    if all(len(set(a)) == 1 for a, _b in pairs):  # also true without any pairs
        return None
    orders = itertools.permutations(range(len(pairs[0][0])))
    if len(pairs[0][0]) > 5 or not any(
        all(tuple(a[dim] for dim in permutation) == b for a, b in pairs)
        for permutation in orders
    ):
        return None
    message = _(
        'The dimensions of "{name}" are in a different order: its shape is {own} '
        "instead of {expected}."
    )
    expected, actual = pairs[0]
    return compose_sign(findings, message, _(_MOVES), own=actual, expected=expected)


def displacement(findings: Sequence[Finding]) -> Sign:
    """Recognise a size that belongs in one dimension but appears in another one."""
    pairs = _same_rank(findings)
    dims = range(len(pairs[0][0])) if pairs else ()
    for dim, actual_dim in itertools.permutations(dims, 2):
        sizes = {a[dim] for a, _b in pairs}
        if len(sizes) < 2 or any(
            b[actual_dim] != a[dim]
            or b[actual_dim] == a[actual_dim]
            or b[dim] == a[dim]
            for a, b in pairs
        ):
            continue
        message = _(
            'What should be dimension {dim} of "{name}" is dimension {own} of '
            "yours: shape {own_shape} instead of {shape}."
        )
        shapes = {"shape": pairs[0][0], "own_shape": pairs[0][1]}
        return compose_sign(
            findings, message, _(_MOVES), dim=dim, own=actual_dim, **shapes
        )
    return None


def surplus(findings: Sequence[Finding]) -> Sign:
    """Recognise right token ids with superfluous ones in front or behind."""
    pairs = tensor_pairs(findings) if _shapes(findings) else []
    if not pairs or any(
        a.dtype != torch.int64 or a.dim() != 1 or len(b) <= len(a) for a, b in pairs
    ):
        return None
    if all(torch.equal(a, b[len(b) - len(a) :]) for a, b in pairs):
        message = _(
            '"{name}" is right, but there is something in front of it: {own} numbers '
            "instead of {expected}."
        )
    elif all(torch.equal(a, b[: len(a)]) for a, b in pairs):
        message = _(
            '"{name}" is right, but there is something behind it: {own} numbers '
            "instead of {expected}."
        )
    else:
        return None
    asks = _("What do you add to it, and does the task ask for that?")
    fields = {"expected": len(pairs[0][0]), "own": len(pairs[0][1])}
    return compose_sign(findings, message, asks, **fields)


def times(findings: Sequence[Finding]) -> Sign:
    """Recognise a dimension that is too long by the same factor in all cases."""
    for dim, sizes in _along(_shapes(findings)):
        # If only one size were expected, it would not show a factor.
        if any(not a or b % a for a, b in sizes) or len({a for a, _b in sizes}) < 2:
            continue
        factors = {b // a for a, b in sizes}
        if len(factors) == 1 and (factor := factors.pop()) > 1:
            message = _(
                'Dimension {dim} of "{name}" is {factor} times as long as it '
                "should be: {own} instead of {expected}."
            )
            asks = _("Is something there more than once, or never cut off?")
            fields = {"dim": dim, "expected": sizes[0][0], "own": sizes[0][1]}
            return compose_sign(findings, message, asks, factor=factor, **fields)
    return None


def single(findings: Sequence[Finding]) -> Sign:
    """Recognise a dimension of size 1 where another size is expected."""
    for dim, sizes in _along(_shapes(findings)):
        lengths = {expected for expected, _actual in sizes}
        if len(lengths) < 2 or {actual for _expected, actual in sizes} != {1}:
            continue
        message = _(
            'Dimension {dim} of "{name}" has only one entry in every case that '
            "fails: 1 instead of {expected}."
        )
        asks = _(
            "Which step keeps a single entry: an index like `[-1]`, a sum, or "
            "`keepdim`?"
        )
        return compose_sign(findings, message, asks, dim=dim, expected=sizes[0][0])
    return None


def longer(findings: Sequence[Finding]) -> Sign:
    """Recognise a dimension whose length is wrong by the same number in all cases."""
    for dim, sizes in _along(_shapes(findings)):
        offsets = {actual - expected for expected, actual in sizes}
        if len(findings) < 2 or not all(is_prefix_or_suffix(f, dim) for f in findings):
            continue
        if len(offsets) == 1 and (count := offsets.pop()):
            long = _("Dimension {dim} of {name} is too long by {count}.")
            short = _("Dimension {dim} of {name} is too short by {count}.")
            asks = _(
                "What sets the length of this dimension: a slice, a range, a token, or "
                "padding?"
            )
            if len(_shapes(findings)[0][0]) == 1:
                long = _("{name}: {count} too many.")
                short = _("{name}: {count} too few.")
                asks = _(SUPERFLUOUS)
            message = long if count > 0 else short
            return compose_sign(findings, message, asks, dim=dim, count=abs(count))
    return None


def too_long(findings: Sequence[Finding]) -> Sign:
    """Recognise a dimension that is always too long, or always too short.

    By how much may vary, unlike in `longer`.
    """
    for dim, sizes in _along(_shapes(findings)):
        if not all(is_prefix_or_suffix(f, dim) for f in findings):
            continue
        if len(sizes) < 2 or len({(a < b) - (a > b) for a, b in sizes}) > 1:
            continue
        expected, actual = sizes[0]
        if actual == expected:
            continue
        message = _(
            'Dimension {dim} of "{name}" is too long: {own} instead of {expected}.'
        )
        asks = _(
            "Which entries should not be there, and what sets the length of this "
            "dimension?"
        )
        if actual < expected:
            message = _(
                'Dimension {dim} of "{name}" is too short: {own} instead of {expected}.'
            )
            asks = _("What is left out, or ends too early?")
        fields = {"dim": dim, "own": actual, "expected": expected}
        return compose_sign(findings, message, asks, **fields)
    return None


def is_prefix_or_suffix(finding: Finding, dim: int) -> bool:
    """Return whether one tensor of token ids is a prefix or a suffix of the other.

    They are compared along ``dim``. Any dtype but int64 gives True.
    """
    if not finding.tensors:
        return False
    a, b = finding.tensors
    if a.dtype != torch.int64:
        return True
    common = min(a.size(dim), b.size(dim))
    heads = [ids.narrow(dim, 0, common) for ids in (a, b)]
    tails = [ids.narrow(dim, ids.size(dim) - common, common) for ids in (a, b)]
    return torch.equal(*heads) or torch.equal(*tails)


def _along(pairs: Shapes) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield each dimension with its (expected, actual) sizes in all pairs of shapes.

    Nothing is yielded if the shapes differ in rank.
    """
    ranks = {len(shape) for pair in pairs for shape in pair}
    for dim in range(ranks.pop() if len(ranks) == 1 else 0):
        yield dim, [(a[dim], b[dim]) for a, b in pairs]


# Of one answer, in all cases in which it is wrong.
SHAPES = (rank, order, displacement, surplus, times, single, longer)
