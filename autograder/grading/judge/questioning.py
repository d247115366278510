"""The judge's end of a kernel's channel: asks the box, and believes nothing it says."""

from __future__ import annotations

import math
import select
import socket
import time
from collections.abc import Callable
from typing import TypeVar

import torch

from autograder.grading.line import Line
from autograder.kernel.meter import LOOK_SECONDS, Budget, Meter, Span, usual_budget
from autograder.student.exercise import RAISED, Answers
from autograder.student.otherside import OtherSide, concluded, reply
from autograder.student.wire import Limits, Packed, Wait, WireError, receive, send

NO_ANSWER = "the check got no readable answer from the notebook"
TOO_MANY = "the check was asked more than it answers"
MOST_ANSWERED = 1 << 28  # bytes of all answers to one check, which are kept
MOST_QUESTIONS = 50_000  # that a box may ask during one check
TOO_SLOW = "an answer took longer than {:.0f} seconds of {}"
_SIGN = 1.0
_STRAYS = 4  # messages of an interrupted call that are passed over

Result = TypeVar("Result")


class Respondent:
    """The student's process, as far as the judge can tell.

    Args:
        ticket: of the call in the box that is to answer.
        seconds: CPU time that one answer may take.
        stop: ends the wait as soon as there is something to read on it.
        waits: called every `_SIGN` seconds while an answer is awaited: a sign of life.

    Attributes:
        took: seconds on its clock that the box has taken for its answers.
    """

    def __init__(
        self, channel: socket.socket, ticket: str, meter: Meter, seconds: float,
        stop: Line | None = None, waits: Callable[[], None] = lambda: None,
    ):  # fmt: skip
        self._channel, self._ticket, self._stop = channel, ticket, stop
        self._meter, self._budget = meter, usual_budget(seconds)
        self._number, self._questions, self._lost = 0, 0, ""
        self._room, self.took = MOST_ANSWERED, 0.0
        self._waits, self._said = waits, time.monotonic()
        self.heard = self.complete = self.hindered = False

    def await_ready(self) -> bool:
        """Whether our call in the box begins; the grading process bounds the wait."""
        never = Span(self._meter, Budget(math.inf, math.inf))
        self.heard = self._until((f"ready {self._ticket}",), never) is not None
        return self.heard

    def ask(self, side: OtherSide, shown: Packed | None = None) -> Answers:
        """The answers to a case; once an answer is missing, none is asked for.

        Meanwhile the box may ask, too: we play the other side of its probe.

        Args:
            shown: what that side shows, for who has it put together already.
        """
        span = Span(self._meter, self._budget)
        try:
            return self._asked(side, shown or side.shown(), span)
        finally:
            self._meter.look()
            self.took += span.clock

    def _asked(
        self, side: OtherSide, shown: Answers | Packed, span: Span
    ) -> Answers:  # fmt: skip
        call = f"{self._ticket} {self._number}"
        kinds = (f"answer {call}", f"question {call}")
        asked = self._send(f"ask {call}", shown, span)
        while asked and (found := self._until(kinds, span)):
            if found[0] == kinds[0]:
                self._number += 1
                self._room -= _size(found[1])
                return concluded(side, found[1])
            self._questions += 1
            if self._questions > MOST_QUESTIONS:
                self._lost = TOO_MANY
            asked = self._send(f"reply {call}", reply(side, found[1]), span)
        return {RAISED: self._lost}

    def done(self) -> None:
        """Let the notebook go on."""
        span = Span(self._meter, self._budget)
        self.complete = self._send(f"done {self._ticket}", {}, span)

    def _send(self, kind: str, values: Answers | Packed, span: Span) -> bool:
        """Whether a box that still answers has taken a message."""
        if not self._lost:
            self._try(lambda: send(self._channel, kind, values, self._waiting(span)))
        return not self._lost

    def _until(self, kinds: tuple[str, ...], span: Span) -> tuple[str, Answers] | None:
        """A message of these kinds, past some of an interrupted call; None: lost."""
        for _ in range(_STRAYS):
            found = self._try(lambda: self._receive(span))
            if found is None:
                return None
            if found[0] in kinds:
                return found
        self._lost = NO_ANSWER
        return None

    def _receive(self, span: Span) -> tuple[str, Answers]:
        """A message within what there is still room for."""
        limits = Limits(data=min(Limits.data, self._room))
        return receive(self._channel, limits, self._waiting(span))

    def _try(self, action: Callable[[], Result]) -> Result | None:
        """What an action on the channel gives; None if the box is lost."""
        try:
            return None if self._lost else action()
        except WireError:
            self._lost = self._lost or NO_ANSWER
            return None

    def _waiting(self, span: Span) -> Wait:
        """Waits for the channel, as long as the answer may take."""

        def wait(channel: socket.socket, event: int) -> None:
            poll = select.poll()
            poll.register(channel, event)
            if self._stop:
                poll.register(self._stop, select.POLLIN)
            while not (found := dict(poll.poll(LOOK_SECONDS * 1000))):
                self._refuse_late(span)
            if self._stop and self._stop.fileno() in found:
                raise WireError("stopped")
            self._refuse_late(span)  # messages without end are late, too

        return wait

    def _refuse_late(self, span: Span) -> None:
        if self.heard and time.monotonic() > self._said + _SIGN:
            self._said = time.monotonic()
            self._waits()
        if over := span.over():
            self._lost = TOO_SLOW.format(self._budget.cpu, over)
            self.hindered = over == "time" and span.busy
            raise WireError("too slow")


def _size(answers: Answers) -> int:
    """Bytes of tensors."""
    return sum(v.nbytes for v in answers.values() if isinstance(v, torch.Tensor))
