"""The interactor of a probe, which holds what the student's code must not see.

A probe is the course's code that calls a student's object. What would give the
answer away, such as a model with fixed replies, is left to the interactor,
which the probe asks. In grading, it runs in the judge's own process.
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

# Sends a question to the interactor and returns the answer; both sides know the types.
Ask = Callable[[Mapping[str, object]], Mapping[str, Any]]
# Errors of a call whose arguments do not fit: they are the student's, not ours.
_MISFITS = (RuntimeError, ValueError, IndexError, TypeError, KeyError)


class Interactor:
    """Answers a probe's questions about one case, and concludes from its report.

    It holds what the student's code must not see; ``keeps`` lists hidden inputs.

    Args:
        inputs: all inputs of the case.
        draw: a random generator; in grading, its seed is secret.
    """

    keeps: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        self.inputs, self.draw = inputs, draw

    @classmethod
    def in_grading(cls, inputs: Mapping[str, Any], draw: random.Random) -> Interactor:
        """Create the interactor for grading; a subclass may draw more at random."""
        return cls(inputs, draw)

    def reveal_inputs(self) -> Answers:
        """Select the inputs that the student's side may see."""
        return {n: value for n, value in self.inputs.items() if n not in self.keeps}

    def answer(self, question: Answers) -> Mapping[str, object]:
        """Answer one question from the student's side with named values.

        Raises:
            WrongAnswerError: there is no answer; the text says why.
        """
        raise WrongAnswerError("there is nobody to ask")

    def conclude(self, answers: Answers) -> Mapping[str, object]:
        """Turn the report of the student's side into the answers that are compared.

        Raises:
            WrongAnswerError: the report is not what it should be.
        """
        return answers


def reply(side: Interactor, question: Answers) -> Answers:
    """The interactor's answer to a question; on an error, ``{"raised": why}``."""
    try:
        return {name: plain(value) for name, value in side.answer(question).items()}
    except WrongAnswerError as error:
        return {RAISED: str(error)}
    except _MISFITS as error:
        lines = str(error).strip().splitlines() or ["no message"]
        return {RAISED: f"{type(error).__name__}: {lines[0][:300]}"}


def make_ask(exchange: Callable[[Answers], Answers]) -> Ask:
    """Return the function with which a probe asks its interactor.

    It raises WrongAnswerError if the reply is an error. ``exchange`` takes a
    question to the interactor, and returns its `reply`.
    """

    def ask(question: Mapping[str, object]) -> Mapping[str, Any]:
        answers = exchange({name: plain(value) for name, value in question.items()})
        if RAISED in answers:
            raise WrongAnswerError(str(answers[RAISED]))
        return answers

    return ask


def concluded(side: Interactor, answers: Answers) -> Answers:
    """Return what the interactor concludes from a probe's report, for comparison.

    A report of an error is returned as it is. The note on ready-made answers is kept
    from the interactor, and added again.
    """
    called = {CALLED: answers[CALLED]} if CALLED in answers else {}
    if RAISED in answers:
        return answers
    answers = {n: v for n, v in answers.items() if n != CALLED} if called else answers
    try:
        conclusion = side.conclude(answers)
    except WrongAnswerError as error:
        return {RAISED: str(error), **called}
    if conclusion is answers:
        return {**answers, **called} if called else answers
    return {name: plain(value) for name, value in conclusion.items()} | called


def require_tensor(
    answers: Answers, name: str, dim: int, dtypes: Sequence[torch.dtype], most: int
) -> torch.Tensor:
    """Return the tensor of this name, if its dtype, rank and size are as expected.

    Raises:
        WrongAnswerError: it is not, or has more than ``most`` entries.
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
    """Presents correct and faulty objects to a student's test, one at a time.

    Each "subject" comes up a few times, in random order. The test gives its verdict
    (a "word") before it sees the next one, so that it cannot just compare them.
    """

    MOST_TIMES: ClassVar[int] = 3
    UNSTEADY: ClassVar[str] = "sometimes rejected"  # for differing verdicts
    SEED_BITS: ClassVar[int] = 32  # of a subject's seed: too many to try all seeds

    @classmethod
    def in_grading(cls, inputs: Mapping[str, Any], draw: random.Random) -> Interactor:
        """Create a trial in which each object to judge has secret weights of its own.

        Otherwise, equal numbers would give the objects away.
        """
        return cls({**inputs, "apart": ""} if "seed" in inputs else inputs, draw)

    def __init__(self, inputs: Mapping[str, Any], draw: random.Random):
        """Draw how often each subject comes up, and in which order."""
        super().__init__(inputs, draw)
        self.names = [
            name
            for name in self.list_subjects()
            for _ in range(draw.randint(1, self.most_times(name)))
        ]
        draw.shuffle(self.names)
        self._words: list[str] = []  # verdicts on the subjects before the current one

    def own_seed(self) -> int:
        """Draw a seed for one object's weights; outside grading, all share one."""
        bits = self.draw.getrandbits(self.SEED_BITS) if "apart" in self.inputs else 0
        return int(self.inputs["seed"]) ^ bits

    def most_times(self, name: str) -> int:
        """How often a subject comes up at most."""
        return self.MOST_TIMES

    def list_subjects(self) -> Sequence[str]:
        """List the names of the objects to judge, such as the layers of a clinic."""
        raise NotImplementedError

    def try_subject(self, number: int, question: Answers) -> Mapping[str, object]:
        """Try the current subject, ``self.names[number]``, and return its results."""
        raise NotImplementedError

    def answer(self, question: Answers) -> Mapping[str, object]:
        """Try the current object, or note the test's verdict on it.

        The key "thing" holds the object's number, and "word" the verdict, if any.

        Raises:
            WrongAnswerError: the question is about another object, or is malformed.
        """
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
        """Return one verdict for each subject's name; `UNSTEADY` if verdicts differ."""
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
    """Send a `BlindTrial` the verdict on each of its objects, and report nothing.

    ``judged`` returns the verdict on the object with a given number.
    """
    for number in range(count):
        ask({"thing": torch.tensor(number), "word": judged(number)})
    return {}
