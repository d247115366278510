"""What a check takes: its cases, drawn for a submission or for several, and our sides.

What is drawn here, and for whom, decides what a student could know before.
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

_BY_HAND = 4  # numbers that a person might compute


def preload(unit: str) -> None:
    """Load a unit's exercises and visible cases, while nobody waits for them."""
    with contextlib.suppress(Exception):  # whoever asks for one of them gets the error
        specifications(unit)
        _visible(unit)


@dataclass(frozen=True)
class PreparedCheck:
    """A check that is ready to be asked for.

    Attributes:
        own_seed: seeds the cases that nobody else is asked.
        shared_seed: seeds the cases that others are asked, too; "" for none of them.
    """

    exercise: Visible
    task: Specification
    own_seed: str
    shared_seed: str = ""

    @property
    def fresh(self) -> tuple[Case, ...]:
        """Cases that do not ship, with the right answers; they take a while to draw.

        The stored hidden cases stay here: whatever enters the sandbox could be printed
        by the student's code. Where answers are many numbers that are computed, a few
        drawings serve all submissions: to know inputs of theirs is to know no answers.
        Where we play a side, feedback tells which words were right; where a model is
        measured, inputs are read by people; a mask or a list of words can be filled in
        by hand, or by feedback: these are drawn for each submission.
        """
        if self.shared_seed and _is_computed(self.task.name):
            return _fresh_for_several(self.task.name, self.shared_seed)
        return _fresh(self.task.name, self.own_seed)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The visible cases, then the fresh ones."""
        return (*self.exercise.cases, *self.fresh)

    def side(self, case: Case) -> Interactor:
        """The judge's side of a case, with random choices that no student can know.

        The two fresh drawings of a case get different choices, so that a lucky guess
        for one does not help with the other.
        """
        suffix = " again" if case.hidden and self._is_second(case) else ""
        draw = random.Random(f"{self.own_seed} {case.name} {case.hidden}{suffix}")
        return self.task.side.in_grading(case.inputs, draw)

    def _is_second(self, case: Case) -> bool:
        drawings = (drawing for drawing in self.fresh if drawing.name == case.name)
        return case is not next(drawings)

    def pack_inputs(self, case: Case) -> Packed | None:
        """Pack a whole case, once for all sandboxes; None where we play a side."""
        if self.task.side is not Interactor:
            return None
        if case not in _packed:
            _packed[case] = packed(case.inputs)
        return _packed[case]


def find_exercise(name: str) -> Visible:
    """Find an exercise as students see it; one never built has only its name."""
    exercise: Visible | None = _visible(name.split("/")[0]).get(name)
    return exercise or Visible(name, name, 0.0, ())


def prepare_check(name: str, own_seed: str, shared_seed: str = "") -> PreparedCheck:
    """Collect all that a check takes; see `PreparedCheck`."""
    unit = name.split("/")[0]
    return PreparedCheck(
        _visible(unit)[name], specification(name), own_seed, shared_seed
    )


_visible = functools.cache(references.load)
_packed = WeakKeyDictionary[Case, Packed]()  # of cases that are there anyway


@functools.cache
def _is_computed(name: str) -> bool:
    """Whether right answers have to be computed from inputs that the sandbox has whole.

    This also needs most cases to have answers with more numbers than a person writes
    down.
    """
    exercise, task = _visible(name.split("/")[0])[name], specification(name)
    if task.side is not Interactor or any(kind.measure for kind in task.cases):
        return False
    closed = [case for case in exercise.cases if not case.open]
    return 2 * sum(map(_has_many_numbers, closed)) > len(closed)


def _has_many_numbers(case: Case) -> bool:
    """Whether an answer is made of many numbers that are not counts."""
    return any(
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and int((value != value.round()).sum()) > _BY_HAND
        for name, value in case.expected.items()
        if not name.endswith(AFTERWARDS)
    )


def _draw_cases(name: str, seed: str) -> tuple[Case, ...]:
    """Draw fresh cases; in a clinic, two of each that has no visible drawing.

    One guess in three or four is right, so each case counts by two drawings at least.
    """
    task, exercise = specification(name), _visible(name.split("/")[0])[name]
    visible = (*exercise.cases, *exercise.small)
    cases = fresh_cases(task, seed)
    if issubclass(task.side, BlindTrial):
        cases += fresh_cases(task, f"{seed} again", only_hidden=True)
    return mark_shipped(cases, visible, task.side)


# More than the exercises of one submission, and than all that a unit's exercises have.
_fresh = functools.lru_cache(maxsize=24)(_draw_cases)
_fresh_for_several = functools.lru_cache(maxsize=128)(_draw_cases)
