"""Prepare a check in the judge: load the exercise, and draw its hidden cases.

Submissions share hidden cases only if knowing the inputs reveals no answers.
"""

from __future__ import annotations

import contextlib
import functools
import random
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.specification import Specification
from autograder.checks import references
from autograder.checks.exercise import AFTERWARDS, Case
from autograder.checks.exercise import Exercise as Visible
from autograder.checks.interactor import BlindTrial, Interactor
from autograder.checks.wire import Packed, packed
from autograder.grading.judge.shipped_answers import mark_shipped

_BY_HAND = 4  # entries that a person could compute by hand


def preload(unit: str) -> None:
    """Load a unit's exercises and visible cases before they are needed."""
    with contextlib.suppress(Exception):  # preparing a check raises it again
        specifications(unit)
        _visible(unit)


@dataclass(frozen=True)
class PreparedCheck:
    """An exercise with all that is needed to question a sandbox about it.

    Attributes:
        exercise: the exercise with its visible cases, as students see it.
        task: the course's specification, which draws hidden cases and solves them.
        own_seed: seeds the cases that only this submission gets.
        shared_seed: seeds the cases that other submissions get, too; "" if none do.
    """

    exercise: Visible
    task: Specification
    own_seed: str
    shared_seed: str = ""

    @property
    def fresh(self) -> tuple[Case, ...]:
        """Draw the check's hidden cases, with correct answers; slow at the first call.

        Submissions share cases whose answers cannot be written down without computing
        them. Otherwise each submission gets its own, so that nobody can pass them on.
        """
        if self.shared_seed and _is_computed(self.task.name):
            return _fresh_for_several(self.task.name, self.shared_seed)
        return _fresh(self.task.name, self.own_seed)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The visible cases, then the fresh ones."""
        return (*self.exercise.cases, *self.fresh)

    def side(self, case: Case) -> Interactor:
        """Create a case's interactor: the judge's object that answers the sandbox.

        Its random choices depend on the secret, so no student can know them.
        """
        suffix = " again" if case.hidden and self._is_second(case) else ""
        draw = random.Random(f"{self.own_seed} {case.name} {case.hidden}{suffix}")
        return self.task.interactor_class.in_grading(case.inputs, draw)

    def _is_second(self, case: Case) -> bool:
        """Whether an earlier fresh case has the same name."""
        drawings = (drawing for drawing in self.fresh if drawing.name == case.name)
        return case is not next(drawings)

    def pack_inputs(self, case: Case) -> Packed | None:
        """Serialise a case's inputs for the sandbox; None if the judge interacts."""
        if self.task.interactor_class is not Interactor:
            return None
        if case not in _packed:
            _packed[case] = packed(case.inputs)
        return _packed[case]


def find_exercise(name: str) -> Visible:
    """Return an exercise as students see it.

    If no build has included the exercise, it has only a name, no cases and no points.
    """
    exercise: Visible | None = _visible(name.split("/")[0]).get(name)
    return exercise or Visible(name, name, 0.0, ())


def prepare_check(name: str, own_seed: str, shared_seed: str = "") -> PreparedCheck:
    """Load an exercise's visible cases and its specification for a check."""
    unit = name.split("/")[0]
    return PreparedCheck(
        _visible(unit)[name], specification(name), own_seed, shared_seed
    )


_visible = functools.cache(references.load)
_packed = WeakKeyDictionary[Case, Packed]()  # as long as the case itself is in use


@functools.cache
def _is_computed(name: str) -> bool:
    """Return whether an exercise's answers can only be found by computing them.

    Several submissions may then share hidden cases.
    """
    exercise, task = _visible(name.split("/")[0])[name], specification(name)
    if task.interactor_class is not Interactor or any(
        kind.measure for kind in task.cases
    ):
        return False
    closed = [case for case in exercise.cases if not case.open]
    # In most cases, nobody could work the answers out by hand.
    return 2 * sum(map(_has_many_numbers, closed)) > len(closed)


def _has_many_numbers(case: Case) -> bool:
    """Return whether an answer has many numbers that are not whole, so not counts."""
    return any(
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and int((value != value.round()).sum()) > _BY_HAND
        for name, value in case.expected.items()
        if not name.endswith(AFTERWARDS)
    )


def _draw_cases(name: str, seed: str) -> tuple[Case, ...]:
    """Draw the fresh cases of an exercise.

    In a bug clinic, where a guess is often right, each is asked at least twice.
    """
    task, exercise = specification(name), _visible(name.split("/")[0])[name]
    visible = (*exercise.cases, *exercise.small)
    cases = fresh_cases(task, seed)
    if issubclass(task.interactor_class, BlindTrial):
        cases += fresh_cases(task, f"{seed} again", only_hidden=True)
    return mark_shipped(cases, visible, task.interactor_class)


# Larger than the exercises of one submission, and than all shared cases of a unit.
_fresh = functools.lru_cache(maxsize=24)(_draw_cases)
_fresh_for_several = functools.lru_cache(maxsize=128)(_draw_cases)
