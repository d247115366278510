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
        draw: draws whatever may differ, like an order; seeded by the judge's secret.
    """

    keeps: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        self.inputs, self.draw = inputs, draw

    @classmethod
    def in_grading(cls, inputs: Mapping[str, Any], draw: random.Random) -> Interactor:
        """Create the judge's version, which may draw more of the case anew."""
        return cls(inputs, draw)

    def reveal_inputs(self) -> Answers:
        """Select the inputs that the student's side may see."""
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
    """Build the function by which the student's side asks for a `reply`."""

    def ask(question: Mapping[str, object]) -> Mapping[str, Any]:
        answers = exchange({name: plain(value) for name, value in question.items()})
        if RAISED in answers:
            raise WrongAnswerError(str(answers[RAISED]))
        return answers

    return ask


def concluded(side: Interactor, answers: Answers) -> Answers:
    """What the other side makes of a report, as values that can be compared."""
    beside = {CALLED: answers[CALLED]} if CALLED in answers else {}
    if RAISED in answers:
        return answers
    answers = {n: v for n, v in answers.items() if n != CALLED} if beside else answers
    try:
        conclusion = side.conclude(answers)
    except WrongAnswerError as error:
        return {RAISED: str(error), **beside}
    if conclusion is answers:
        return {**answers, **beside} if beside else answers
    return {name: plain(value) for name, value in conclusion.items()} | beside


def require_tensor(
    answers: Answers, name: str, dim: int, dtypes: Sequence[torch.dtype], most: int
) -> torch.Tensor:
    """Return the tensor of this name, if its dtype, rank and size are as expected.

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
    """Correct and faulty subjects under neutral names; which is which stays here.

    Each subject comes up a few times, in a random order, and one after the other: the
    word on one is final before the next one can be looked at. Otherwise a comparison of
    all of them might single out the correct one without knowing what is correct.
    """

    MOST_TIMES: ClassVar[int] = 3
    UNSTEADY: ClassVar[str] = "sometimes rejected"  # of a subject with several words
    SEED_BITS: ClassVar[int] = 32  # of a generator: too many to try them all

    @classmethod
    def in_grading(cls, inputs: Mapping[str, Any], draw: random.Random) -> Interactor:
        """Create a trial with new weights for each subject, which no file holds.

        Otherwise the visible cases would give the weights away, and equal subjects
        would have equal numbers.
        """
        return cls({**inputs, "apart": ""} if "seed" in inputs else inputs, draw)

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        super().__init__(inputs, draw)
        self.names = [
            name
            for name in self.list_subjects()
            for _ in range(draw.randint(1, self.most_times(name)))
        ]
        draw.shuffle(self.names)
        self._words: list[str] = []  # on the first subjects, before the current one

    def own_seed(self) -> int:
        """Draw the seed of one subject's weights."""
        bits = self.draw.getrandbits(self.SEED_BITS) if "apart" in self.inputs else 0
        return int(self.inputs["seed"]) ^ bits

    def most_times(self, name: str) -> int:
        """How often a subject comes up at most."""
        return self.MOST_TIMES

    def list_subjects(self) -> Sequence[str]:
        """List the names of the subjects, as answers call them."""
        raise NotImplementedError

    def try_subject(self, number: int, question: Answers) -> Mapping[str, object]:
        """Answer a question with the current subject."""
        raise NotImplementedError

    def answer(self, question: Answers) -> Mapping[str, object]:
        """Try the current subject, or note the verdict on it, which needs no answer."""
        number = int(require_tensor(question, "thing", 0, [torch.int64], 1))
        if number != len(self._words) or number == len(self.names):
            raise WrongAnswerError(
                "there is one thing at a time, and it is another one"
            )
        if "word" not in question:
            return self.try_subject(number, question)
        word = question["word"]
        if not isinstance(word, str):
            raise WrongAnswerError("expected a word on the thing")
        self._words.append(word)
        return {}

    def conclude(self, answers: Answers) -> Mapping[str, object]:
        """Report one word for each subject, if all its appearances got the same."""
        if len(self._words) < len(self.names):
            raise WrongAnswerError("expected a word on each thing that was tried")
        words: dict[str, set[str]] = {name: set() for name in self.list_subjects()}
        for name, word in zip(self.names, self._words, strict=True):
            words[name].add(word)
        return {
            name: verdicts.pop() if len(verdicts) == 1 else self.UNSTEADY
            for name, verdicts in words.items()
        }


def one_by_one(count: int, ask: Ask, judged: Callable[[int], str]) -> dict[str, Any]:
    """Have each subject of a `BlindTrial` judged; send the judge a word about each."""
    for number in range(count):
        ask({"thing": torch.tensor(number), "word": judged(number)})
    return {}
