"""Fresh cases whose right answers ship: who has read the visible cases knows these.

Some fresh drawings have the answer of a visible case: a mask without padding, a
rotation by as many steps, an error that every impossible size raises. No solution is
needed to repeat such an answer, so it counts only if an answer that cannot be repeated
is right, too, as for a case that is `open`. Such a case is not drawn again: if a fresh
answer never were a visible one, this alone would tell which of two answers it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch

from autograder.checks.exercise import AFTERWARDS, Answers, Case, Value
from autograder.checks.interactor import Interactor
from autograder.checks.points import aspects, open_parts
from autograder.checks.values import same_tensors


def mark_shipped(
    fresh: Iterable[Case], visible: Sequence[Case], side: type[Interactor]
) -> tuple[Case, ...]:
    """The fresh cases, each with the aspects whose right answers ship.

    Nothing is marked where the judge computes answers from what a sandbox reports: a
    clinic has the same two words in every case. Nor is anything marked if no other
    answer were left, because then no right answer would earn points.
    """
    fresh = tuple(fresh)
    if side.conclude is not Interactor.conclude:
        return fresh
    marked = tuple(
        case if case.measure else replace(case, shipped=_shipped(case, visible, side))
        for case in fresh
    )
    all_parts = {(case.name, aspect) for case in marked for aspect in aspects(case)}
    return marked if all_parts - open_parts(marked) else fresh


def _shipped(
    case: Case, visible: Sequence[Case], side: type[Interactor]
) -> frozenset[str]:
    """The aspects of a fresh case of which each right answer can be repeated."""
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
    """Whether a right answer can be read off a visible case or the sandbox.

    An answer is looked up in the visible drawings of the same case, under the same
    name, or in all visible cases if this one has no visible drawing. A tensor of many
    numbers is looked up everywhere, since no two are equal by chance.
    """
    if name.endswith(AFTERWARDS):  # what is to stay as it was
        return True
    alike = [drawing for drawing in visible if drawing.name == case.name] or visible
    answers = itertools.chain(
        _answers(alike, name), _many_numbers(value, case, visible, side)
    )
    return any(_is_same(value, answer, case) for answer in answers)


def _answers(cases: Iterable[Case], name: str) -> Iterator[Value]:
    for case in cases:
        yield from (
            [case.expected[name]] if name in case.expected else (case.expected.values())
        )


def _many_numbers(
    value: Value, case: Case, visible: Sequence[Case], side: type[Interactor]
) -> Iterator[Value]:
    """The tensors in a sandbox, for a value too large to equal one by chance."""
    if not isinstance(value, torch.Tensor) or value.numel() < 2:
        return
    yield value.flatten()[:1].expand_as(value)  # one number, everywhere
    yield from _inputs_of(case.inputs, side)
    for visible_case in visible:
        yield from visible_case.expected.values()


def _inputs_of(inputs: Answers, side: type[Interactor]) -> Iterator[Value]:
    """The inputs of a case that the sandbox gets."""
    yield from (tensor for name, tensor in inputs.items() if name not in side.keeps)


def _is_same(value: Value, answer: Value, case: Case) -> bool:
    if isinstance(value, torch.Tensor):
        return same_tensors(value, answer, case.atol, case.rtol)
    return value == answer
