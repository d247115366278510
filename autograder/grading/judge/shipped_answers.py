"""Fresh cases whose right answers ship: who has read the visible ones has these, too.

A mask without padding, a rotation by as many steps as a visible one, an error that
every impossible size raises: some fresh drawings have the answer of a visible case. To
repeat it takes no solution, so it counts only beside a right answer that cannot be
repeated, as what is `open` does. Nothing is drawn again in its place: if a fresh answer
never were a visible one, that alone would tell which of two it is.
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

    Not where the judge makes the answers of what a sandbox reports: those of a clinic
    are the same two words in every case. And not if nothing else were left: rather let
    an answer be repeated than a right one earn nothing.
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
    """Whether a right answer stands in a visible case or in the sandbox.

    In a visible drawing of the same case, under the same name; under any if names are
    drawn. A tensor of many numbers may stand in any case: it is none by chance. So may
    an answer of a case that has no visible drawing.
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
    """Tensors that a sandbox has, for one that none of them equals by chance."""
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
