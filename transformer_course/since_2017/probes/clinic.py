"""The clinic: what a student's test says of decoders with a cache."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, one_by_one, require_tensor
from autograder.checks.probes import Inputs, Seen, probe, seed
from autograder.checks.probes.clinics import Patients, accepts
from transformer_course.since_2017.probes.patients import Decoder

_START = -(1 << 40)  # among lengths to which a cache is cut: begin anew


class _Patients(Patients):
    """The judge's side of the clinic: decoders, correct or with a bug."""

    RIGHT = "a right decoder"
    MOST = 1 << 10  # ids that are fed at once
    MOST_TIMES = 2

    def __init__(self, inputs: Inputs, draw: random.Random):
        super().__init__(inputs, draw)
        self._decoders, sizes = [], inputs["sizes"].tolist()
        for name in self.names:
            seed(self.own_seed())
            self._decoders.append(Decoder(*self.style_and_bug(name), *sizes))

    def most_times(self, name: str) -> int:
        """Once for the right decoder, which a test tries in full; else more often."""
        return 1 if name == self.RIGHT else self.MOST_TIMES

    def reveal_inputs(self) -> Answers:
        """How many decoders there are, and the size of their vocabulary."""
        vocab_size, *_ = self.inputs["sizes"].tolist()
        return {"sizes": torch.tensor([vocab_size, len(self._decoders)])}

    def try_subject(self, number: int, question: Answers) -> Seen:
        """Carry out the calls that were put off, then compute the logits of ids."""
        decoder = self._decoders[number]
        for length in require_tensor(
            question, "before", 1, [torch.int64], self.MOST
        ).tolist():
            decoder.start() if length == _START else decoder.cut(length)
        run = {"feed": decoder.feed, "full": decoder.full}.get(str(question.get("do")))
        if run is None:
            raise WrongAnswerError("a decoder cannot do that")
        return {
            "logits": run(require_tensor(question, "ids", 2, [torch.int64], self.MOST))
        }


class _Patient:
    """The student's side of a decoder; it knows only the size of its vocabulary.

    Calls without an answer are put off, and sent with the next question.
    """

    def __init__(self, number: int, vocab_size: int, ask: Ask):
        self.vocab_size = vocab_size
        self._number, self._ask = torch.tensor(number), ask
        self._before: list[int] = []
        self.crashed = False

    def start(self) -> None:
        """Forget what was fed."""
        self._before.append(_START)

    def cut(self, length: int) -> None:
        """Forget all but the first positions that were fed."""
        self._before.append(int(length))

    def full(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of a whole text, without a cache."""
        return self._logits("full", ids)

    def feed(self, ids: torch.Tensor) -> torch.Tensor:
        """Compute the logits of new positions."""
        return self._logits("feed", ids)

    def _logits(self, do: str, ids: torch.Tensor) -> torch.Tensor:
        before = torch.tensor(self._before, dtype=torch.int64)
        self._before.clear()
        question = {"thing": self._number, "before": before, "do": do, "ids": ids}
        try:
            response = self._ask(question)
        except Exception:
            self.crashed = True
            raise
        logits: torch.Tensor = response["logits"]
        return logits


@probe(
    "since_2017/bug_clinic",
    interactor=_Patients,
    results="a right decoder; the other one; a third one",
)
def bug_clinic(test: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """What the student's test says of each decoder."""
    vocab_size, count = inputs["sizes"].tolist()

    def judged(number: int) -> str:
        return _verdict(test, _Patient(number, vocab_size, ask))

    return one_by_one(count, ask, judged)


def _verdict(test: Callable[..., Any], decoder: _Patient) -> str:
    try:
        result = test(decoder)
    except (NotImplementedError, NameError):  # whatever the decoder
        raise
    except AssertionError:
        return "rejected"
    except Exception as error:
        if decoder.crashed:
            return "rejected"
        raise WrongAnswerError(
            f"expected an AssertionError, got {type(error).__name__}: {error}"
        ) from error
    return accepts(result)
