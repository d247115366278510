"""The judge's end of the socket to a sandbox: it asks for the student's answers.

The sandbox runs the student's code and is not trusted, so the time, size and
number of its messages are limited.
"""

from __future__ import annotations

import contextlib
import math
import select
import socket
import time
from collections.abc import Callable, Iterator

import torch

from autograder.checks.exercise import RAISED, Answers, Mistake
from autograder.checks.interactor import Interactor, concluded, reply
from autograder.checks.wire import Limits, Packed, Wait, WireError, receive, send
from autograder.grading.ipc import Connection
from autograder.grading.judge.exchange import Seconds
from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import LOOK_SECONDS, Budget, Meter, Span, usual_budget

NO_ANSWER = "the check got no readable answer from the notebook"
MOST_ANSWERED = 1 << 28  # bytes of all answers to one check, which are kept
MOST_QUESTIONS = 50_000  # that a sandbox may ask during one check
TOO_SLOW = "an answer took longer than {}"
TOO_SLOW_IN_ALL = "the answers to this check together took longer than {}"
_HINTS = {
    EndReason.CPU_TIME: "Does each loop end, and what is done again that could be done "
    "once?",
    EndReason.TIME: "What does your code wait for?",
    EndReason.TOO_MANY_QUESTIONS: "How many calls does your code need to find out what "
    "it wants to know?",
}
_SIGN = 1.0  # seconds between signs of life
_MAX_STRAYS = 4  # messages of an interrupted call that are skipped


class SandboxClient:
    """Asks the student's process for answers, within limits and without trusting it.

    Args:
        ticket: identifies the call in the sandbox that is to answer.
        seconds: CPU time for the answers, and for our replies to its questions.
        stop: a connection; waiting ends when there is something to read on it.
        waits: called every `_SIGN` seconds while an answer is awaited.

    Attributes:
        heard: whether the sandbox has begun to answer.
        complete: whether it has answered all that it was asked.
        hindered: whether the time ran out while the machine was busy.
        late: a limit that the sandbox has exceeded, as a mistake to show; or None.
        ended: which limit that was.
    """

    def __init__(
        self, channel: socket.socket, ticket: str, meter: Meter, seconds: Seconds,
        stop: Connection | None = None, waits: Callable[[], None] = lambda: None,
    ):  # fmt: skip
        self._channel, self._ticket, self._stop = channel, ticket, stop
        self._meter, self._seconds = meter, seconds
        self._answer_budget, self._check_budget = map(
            usual_budget, (seconds.answer, seconds.check)
        )
        self._worked = 0.0  # seconds of ours, for its questions
        self._number, self._questions, self._lost = 0, 0, ""
        # The bytes that its answers may still have, and the seconds that they took.
        self._room, self._clock = MOST_ANSWERED, 0.0
        self._waits, self._last_sign = waits, time.monotonic()
        self.heard = self.complete = self.hindered = False
        self.late: Mistake | None = None
        self.ended: EndReason | None = None  # why it is late

    @property
    def took(self) -> float:
        """Seconds that the sandbox took to answer, plus the CPU time of our replies."""
        return self._clock + self._worked

    @property
    def is_lost(self) -> bool:
        """Whether no answer can come any more."""
        return bool(self._lost)

    def await_ready(self) -> bool:
        """Wait until the student's process can answer; False if the sandbox is lost.

        There is no time limit here, because the grading process limits the cell.
        """
        never = self._begin_span(Budget(math.inf, math.inf))
        self.heard = self._until((f"ready {self._ticket}",), never) is not None
        return self.heard

    def ask(
        self, side: Interactor, inputs: Packed | None = None, kind: str = "ask"
    ) -> Answers:
        """Ask for the student's answers to a case; return them as they are compared.

        If the sandbox is lost, the answers consist of an error.

        Args:
            side: the judge's interactor, which replies to questions meanwhile.
            inputs: the packed inputs; if None, those that ``side`` reveals.
            kind: "ask", or "try" if the answer may take only a second.
        """
        span = self._begin_span(self._answer_budget.least(self._check_budget))
        try:
            shown = inputs or side.reveal_inputs()
            return self._await_answers(side, shown, span, kind)
        finally:
            self._meter.look()
            self._count_ours(span)
            self._clock += span.clock
            self._check_budget = self._check_budget.without(span)

    def _await_answers(
        self, side: Interactor, inputs: Answers | Packed, span: Span, kind: str
    ) -> Answers:
        """Send the inputs, and reply to questions until the answers come."""
        call = f"{self._ticket} {self._number}"
        kinds = (f"answer {call}", f"question {call}")
        is_sent = self._send(f"{kind} {call}", inputs, span)
        while is_sent and (message := self._until(kinds, span)):
            if message[0] == kinds[0]:
                answers = message[1]
                tensors = (v for v in answers.values() if isinstance(v, torch.Tensor))
                self._room -= sum(tensor.nbytes for tensor in tensors)
                self._number += 1
                return concluded(side, answers)
            self._questions += 1
            if self._questions > MOST_QUESTIONS:
                self._lose(EndReason.TOO_MANY_QUESTIONS)
            is_sent = self._send(f"reply {call}", reply(side, message[1]), span)
        return {RAISED: self._lost}

    def release(self) -> None:
        """Tell the sandbox that the check is over, so that the notebook goes on."""
        span = self._begin_span(self._answer_budget)
        self.complete = self._send(f"done {self._ticket}", {}, span)

    def _send(self, kind: str, values: Answers | Packed, span: Span) -> bool:
        """Send a message unless the sandbox is lost; return whether it was sent."""
        if not self._lost:
            with self._note_loss():
                send(self._channel, kind, values, self._waiting(span))
        return not self._lost

    def _until(self, kinds: tuple[str, ...], span: Span) -> tuple[str, Answers] | None:
        """Receive the next message of these kinds; None if the sandbox is lost."""
        limits = Limits(data=min(Limits.data, self._room))
        with self._note_loss():
            for _ in range(_MAX_STRAYS):
                message = receive(self._channel, limits, self._waiting(span))
                if message[0] in kinds:
                    return message
            raise WireError("none of these kinds")
        return None

    @contextlib.contextmanager
    def _note_loss(self) -> Iterator[None]:
        """Mark the sandbox as lost if exchanging messages with it fails."""
        try:
            yield
        except WireError:
            self._lost = self._lost or NO_ANSWER

    def _waiting(self, span: Span) -> Wait:
        """Make the function by which sending and receiving wait for the socket.

        It raises WireError if the span exceeds a limit, or if waiting is to stop.
        """

        def wait(channel: socket.socket, event: int) -> None:
            poll = select.poll()
            poll.register(channel, event)
            if self._stop:
                poll.register(self._stop, select.POLLIN)
            while not (ready := dict(poll.poll(LOOK_SECONDS * 1000))):
                self._refuse_late(span)
            if self._stop and self._stop.fileno() in ready:
                raise WireError("stopped")
            self._refuse_late(span)  # an endless stream of messages is late, too

        return wait

    def _refuse_late(self, span: Span) -> None:
        """Check the limits, and send a sign of life if it is due.

        Raises:
            WireError: a limit is exceeded, so the sandbox counts as lost.
        """
        if self.heard and time.monotonic() > self._last_sign + _SIGN:
            self._last_sign = time.monotonic()
            self._waits()
        self._count_ours(span)
        if self._worked > self._seconds.check:
            self._lose(EndReason.TOO_MANY_QUESTIONS)
            raise WireError("asked too much")
        if over := span.exceeded_limit():
            # Is it the limit of this answer, or that of all answers together?
            alone, seconds = self._answer_budget.exceeded_by(span), self._seconds
            budget = usual_budget(seconds.answer if alone else seconds.check)
            used = f"{budget.clock:g} seconds"
            if over is EndReason.CPU_TIME:
                used = f"{budget.cpu:g} seconds of CPU time"
            self._lose(over, (TOO_SLOW if alone else TOO_SLOW_IN_ALL).format(used))
            self.hindered = over is EndReason.TIME and span.busy
            raise WireError("too slow")

    def _lose(self, reason: EndReason, message: str = "") -> None:
        """Mark the sandbox as lost, because it exceeded a limit."""
        self._lost, self.ended = message or reason, reason
        sentence = f"The check was ended: {self._lost}."
        self.late = Mistake("late", sentence, _HINTS[reason])

    def _begin_span(self, budget: Budget) -> Span:
        """Begin to measure the sandbox's time and ours."""
        self._at = time.thread_time()
        return Span(self._meter, budget)

    def _count_ours(self, span: Span) -> None:
        """Add the CPU time that we have used since the last call to our own total.

        It is taken off the span's clock, because the sandbox waits for us meanwhile.
        """
        before, self._at = self._at, time.thread_time()
        self._worked += self._at - before
        span.give_back(self._at - before)
