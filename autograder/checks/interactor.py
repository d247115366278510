"""The other side of a probe: what a student's object is tried on, played elsewhere.

A probe that builds something for the student's code to be tried on (a model that knows
its lines, a layer that may be ill) would hold the answer right beside that code. So it
builds a shell only, and asks the other side, call by call. In a notebook both sides are
played there; in grading the judge plays this one, and what a case `keeps` never enters
the student's process.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch

from autograder.checks.exercise import (
    CALLED,
    RAISED,
    Answers,
    Value,
    WrongAnswerError,
    plain,
)

# The other side says what it answers; who asks knows what that is.
Ask = Callable[[Mapping[str, object]], Mapping[str, Any]]
# What comes of a call with arguments that do not fit; it is the caller's own error.
_MISFITS = (RuntimeError, ValueError, IndexError, TypeError, KeyError)


class Interactor:
    """What one case tries a student's object on, and what it makes of the answers.

    Args:
        inputs: all that the case holds.
        draw: for what may be drawn anew, like an order; from the judge's secret.
    """

    keeps: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        self.inputs, self.draw = inputs, draw

    @classmethod
    def in_grading(cls, inputs: Mapping[str, Any], draw: random.Random) -> Interactor:
        """As the judge plays it: where that helps, with more that is drawn anew."""
        return cls(inputs, draw)

    def shown(self) -> Answers:
        """What the student's side is given."""
        return {n: value for n, value in self.inputs.items() if n not in self.keeps}

    def answer(self, question: Answers) -> Mapping[str, object]:
        """The answer to one call from the student's side.

        Raises:
            WrongAnswerError: there is no answer; the text says why.
        """
        raise WrongAnswerError("there is nobody to ask")

    def conclude(self, answers: Answers) -> Mapping[str, object]:
        """What is compared with the reference, from what the student's side reports.

        Raises:
            WrongAnswerError: it reports something else than it should.
        """
        return answers


def reply(side: Interactor, question: Answers) -> Answers:
    """The other side's answer, or ``{"raised": why}``."""
    try:
        return {name: plain(value) for name, value in side.answer(question).items()}
    except WrongAnswerError as error:
        return {RAISED: str(error)}
    except _MISFITS as error:
        lines = str(error).strip().splitlines() or ["no message"]
        return {RAISED: f"{type(error).__name__}: {lines[0][:300]}"}


def asking(exchange: Callable[[Answers], Answers]) -> Ask:
    """The student's end of a way to `reply`."""

    def ask(question: Mapping[str, object]) -> Mapping[str, Any]:
        found = exchange({name: plain(value) for name, value in question.items()})
        if RAISED in found:
            raise WrongAnswerError(str(found[RAISED]))
        return found

    return ask


def concluded(side: Interactor, answers: Answers) -> Answers:
    """What the other side makes of a report, as values that can be compared."""
    beside = {CALLED: answers[CALLED]} if CALLED in answers else {}
    if RAISED in answers:
        return answers
    answers = {n: v for n, v in answers.items() if n != CALLED} if beside else answers
    try:
        made = side.conclude(answers)
    except WrongAnswerError as error:
        return {RAISED: str(error), **beside}
    if made is answers:
        return {**answers, **beside} if beside else answers
    return {name: plain(value) for name, value in made.items()} | beside


def given(
    answers: Answers, name: str, dim: int, dtypes: Sequence[torch.dtype], most: int
) -> torch.Tensor:
    """The tensor of this name, if it is one that can be worked with.

    Raises:
        WrongAnswerError: it is missing, of another kind, or has more than ``most``
            entries; an empty one has as many as its other sides span.
    """
    value = answers.get(name)
    if not isinstance(value, torch.Tensor) or value.dtype not in dtypes:
        raise WrongAnswerError(f"expected {name} as a tensor, got {_kind(value)}")
    size = math.prod(max(side, 1) for side in value.shape)
    if value.dim() != dim or size > most:
        raise WrongAnswerError(f"{name} cannot have the shape {tuple(value.shape)}")
    return value


def _kind(value: Value | None) -> str:
    if isinstance(value, torch.Tensor):
        return f"one of {str(value.dtype).removeprefix('torch.')}"
    return "nothing" if value is None else "something else"


class BlindTrial(Interactor):
    """Things that are well or ill, under neutral names: which is which stays here.

    Each of `things` comes a few times, in an order that is drawn, and one after the
    other: what is said of one is final before the next one can be looked at. Who has
    seen all of them might find the right one by what it shares with the others, and
    know nothing of what is right.
    """

    MOST_TIMES: ClassVar[int] = 3
    UNSTEADY: ClassVar[str] = "sometimes rejected"  # of a thing that got several words
    SEED_BITS: ClassVar[int] = 32  # of a generator: too many to try them all

    @classmethod
    def in_grading(cls, inputs: Mapping[str, Any], draw: random.Random) -> Interactor:
        """With weights that no file holds, others for each thing that has any.

        Else those of visible cases were known, and equal things would be equal numbers.
        """
        return cls({**inputs, "apart": ""} if "seed" in inputs else inputs, draw)

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        super().__init__(inputs, draw)
        self.names = [
            name
            for name in self.things()
            for _ in range(draw.randint(1, self.most_times(name)))
        ]
        draw.shuffle(self.names)
        self._words: list[str] = []  # on the first things, up to the one at hand

    def own_seed(self) -> int:
        """Of the weights of one thing."""
        bits = self.draw.getrandbits(self.SEED_BITS) if "apart" in self.inputs else 0
        return int(self.inputs["seed"]) ^ bits

    def most_times(self, name: str) -> int:
        """How often a thing comes at most."""
        return self.MOST_TIMES

    def things(self) -> Sequence[str]:
        """The names of the things, as answers call them."""
        raise NotImplementedError

    def tried(self, number: int, question: Answers) -> Mapping[str, object]:
        """What the thing at hand answers to a question."""
        raise NotImplementedError

    def answer(self, question: Answers) -> Mapping[str, object]:
        """What comes of trying the thing at hand, or nothing for the word on it."""
        number = int(given(question, "thing", 0, [torch.int64], 1))
        if number != len(self._words) or number == len(self.names):
            raise WrongAnswerError(
                "there is one thing at a time, and it is another one"
            )
        if "word" not in question:
            return self.tried(number, question)
        word = question["word"]
        if not isinstance(word, str):
            raise WrongAnswerError("expected a word on the thing")
        self._words.append(word)
        return {}

    def conclude(self, answers: Answers) -> Mapping[str, object]:
        """One word for each thing, if all its appearances got the same."""
        if len(self._words) < len(self.names):
            raise WrongAnswerError("expected a word on each thing that was tried")
        words: dict[str, set[str]] = {name: set() for name in self.things()}
        for name, word in zip(self.names, self._words, strict=True):
            words[name].add(word)
        return {
            name: found.pop() if len(found) == 1 else self.UNSTEADY
            for name, found in words.items()
        }


def one_by_one(count: int, ask: Ask, judged: Callable[[int], str]) -> dict[str, Any]:
    """Have a word said on each thing of a `BlindTrial`; report nothing else."""
    for number in range(count):
        ask({"thing": torch.tensor(number), "word": judged(number)})
    return {}
