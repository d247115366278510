"""Find fresh cases whose correct answers can be read from the visible cases.

An answer that can be repeated without a solution earns points only together
with one that cannot. The case is kept: if fresh answers always differed from
the visible ones, this alone would reveal some of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch

from autograder.checks.exercise import AFTERWARDS, Case, Value
from autograder.checks.interactor import Interactor
from autograder.checks.points import aspects, open_parts
from autograder.checks.values import same_tensors


def mark_shipped(
    fresh: Iterable[Case], visible: Sequence[Case], side: type[Interactor]
) -> tuple[Case, ...]:
    """Mark in each hidden case the aspects whose answers students can look up.

    An aspect is what an answer counts for, such as gradients. A submission in which
    only marked aspects are right earns no points.
    """
    fresh = tuple(fresh)
    # There, the judge computes what is compared, so it cannot be looked up.
    if side.conclude is not Interactor.conclude:
        return fresh
    marked = tuple(
        case if case.measure else replace(case, shipped=_shipped(case, visible, side))
        for case in fresh
    )
    all_parts = {(case.name, aspect) for case in marked for aspect in aspects(case)}
    # If everything were marked, no answer at all would earn points.
    return marked if all_parts - open_parts(marked) else fresh


def _shipped(
    case: Case, visible: Sequence[Case], side: type[Interactor]
) -> frozenset[str]:
    """The aspects of a fresh case whose correct answers can all be repeated."""
    unknown: set[str] = set()
    for name, value in case.expected.items():
        aspect = case.aspect_of(name)
        if aspect not in unknown and not _is_repeatable(
            name, value, case, visible, side
        ):
            unknown.add(aspect)
    return frozenset(set(aspects(case)) - unknown)


def _is_repeatable(
    name: str, value: Value, case: Case, visible: Sequence[Case], side: type[Interactor]
) -> bool:
    """Return whether a correct answer can be copied from a visible case or input."""
    if name.endswith(AFTERWARDS):  # it says that an input is unchanged
        return True
    alike = [drawing for drawing in visible if drawing.name == case.name] or visible
    answers = itertools.chain(
        _answers(alike, name), _available_tensors(value, case, visible, side)
    )
    return any(_is_same(value, answer, case) for answer in answers)


def _answers(cases: Iterable[Case], name: str) -> Iterator[Value]:
    """Yield the answers with this name, or all answers of a case that has none."""
    for case in cases:
        yield from (
            [case.expected[name]] if name in case.expected else (case.expected.values())
        )


def _available_tensors(
    value: Value, case: Case, visible: Sequence[Case], side: type[Interactor]
) -> Iterator[Value]:
    """Yield what code in a sandbox could return as a tensor without computing it.

    This may be an input, for example, or an answer to a visible case.
    """
    # With one entry, the constant tensor below would always be right.
    if not isinstance(value, torch.Tensor) or value.numel() < 2:
        return
    yield value.flatten()[:1].expand_as(value)  # one number, everywhere
    inputs = case.inputs.items()
    yield from (tensor for name, tensor in inputs if name not in side.keeps)
    for visible_case in visible:
        yield from visible_case.expected.values()


def _is_same(value: Value, answer: Value, case: Case) -> bool:
    """Whether two answers are equal, within the tolerance of the case."""
    if isinstance(value, torch.Tensor):
        return same_tensors(value, answer, case.atol, case.rtol)
    return value == answer
