"""One question to the judge process, seen from the grading process.

The grading process sends the messages on the left, and receives those on the right:

    prepare    exercise, submission, seeds   ->  prepared   the exercise is loaded
    ask        the sandbox's channel         ->  ready      its answers begin; repeated
                                                            as a sign of life
                                             ->  decided    the final verdict
    over       (the cell has ended)          ->  named      the mistake, if looked for

Each message of an exchange carries the same id, exercise and submission. A message that
does not match, or comes too late, is never used.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.ipc import Connection, ConnectionLostError, Message
from autograder.grading.judge.verdict import CaseEvidence, RenderedVerdict, Verdict
from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import Budget, Span

_AFTERWARDS = Budget(cpu=5.0, clock=10.0)  # for the cell to end after its verdict


@dataclass(frozen=True)
class Seconds:
    """Limits on CPU time in seconds: for one answer, and for all answers to a check.

    The limits on real time are twice as long.
    """

    answer: float = 20.0
    check: float = 60.0


@dataclass(frozen=True)
class Question:
    """What the judge is asked about one check.

    Attributes:
        exercise: the name of the exercise, "unit/name".
        key: seeds the submission's inputs, together with the course's secret.
        replaced: exercises for which the course's solution replaces the student's.
        with_evidence: whether the verdict comes with inputs and compared answers.
    """

    exercise: str
    submission: str
    key: str
    seconds: Seconds = Seconds()
    replaced: tuple[str, ...] = ()
    with_evidence: bool = False


class Exchange:
    """One question to the judge, from preparing its cases to the verdict.

    Args:
        names: the fields that every message of the exchange carries.
        patience: seconds for which the judge may be silent.

    Attributes:
        ready: whether the sandbox has begun to answer.
        code: the course's version of the replaced exercises, as Python code.
        complete: whether the sandbox has answered all that it was asked.
        hindered: whether an answer was late because the machine was busy.
        took: seconds that answering took, including the judge's own replies.
    """

    def __init__(self, line: Connection, names: Message, patience: float):
        self._line, self._names, self._patience = line, names, patience
        # It goes on if, after the verdict, one that names the mistake is to come.
        self._asked = self._goes_on = False
        self.ready = self.complete = self.hindered = False
        self.code, self.took, self.heard = "", 0.0, time.monotonic()
        self.verdict: RenderedVerdict | None = None
        self._channel = select.poll()
        self._afterwards: Span | None = None

    @property
    def finished(self) -> bool:
        """Whether no more messages of this exchange are expected."""
        return not self._asked or bool(self.verdict and not self._goes_on)

    def prepare(self, **request: object) -> None:
        """Send the judge the seeds, limits and options of a check, and await its reply.

        Raises:
            GradingInfrastructureError: the judge was lost.
        """
        self._asked = True
        self._send({"prepare": request})
        self.code = str(self._take("prepared")["code"])

    def ask(self, channel: socket.socket, supervisor: int | None, ticket: str) -> None:
        """Let the judge ask the sandbox its questions.

        Args:
            channel: the socket on which the sandbox answers, passed on to the judge.
            supervisor: the id of the process that watches the sandbox's CPU time.
            ticket: identifies the call in the sandbox that is to answer.
        """
        request = {"ticket": ticket, "supervisor": supervisor}
        self._send({"ask": request}, [channel.fileno()])
        self._channel.register(channel, select.POLLIN)
        self.heard = time.monotonic()

    def look(self) -> None:
        """Read the messages that the judge has sent, without waiting for more."""
        while not self.verdict and self._line.has_something():
            self._take("ready", "decided")

    def reason_to_end(self, span: Span) -> EndReason | None:
        """Return the reason to end the check's cell now, or None; called repeatedly.

        Raises:
            GradingInfrastructureError: the judge was lost.
        """
        self.look()
        # The judge has lost the sandbox: its cell may never end by itself.
        if self.verdict and not self.complete:
            return EndReason.DECIDED
        if self.verdict:
            self._afterwards = self._afterwards or span.next(_AFTERWARDS)
            return self._afterwards.exceeded_limit()
        # From the first answer on, the judge limits the time, so our clock rests.
        if self.ready or self._channel.poll(0):
            span.pause()
            if time.monotonic() > self.heard + self._patience:
                raise GradingInfrastructureError(
                    "the judge was lost: it does not answer"
                )
        return span.exceeded_limit()

    def settle(self) -> RenderedVerdict:
        """Wait for the verdict after the cell has ended, and return it.

        Raises:
            GradingInfrastructureError: the judge was lost.
        """
        self.look()
        if not self.verdict:
            self._send({"over": True})
        while not self.verdict:
            self._take("ready", "decided")
        return self.verdict

    def await_mistake(self) -> RenderedVerdict:
        """Wait while the judge looks for a known mistake; return the final verdict.

        If it finds one, the final verdict names the mistake.
        """
        verdict = self.settle()
        if self._goes_on:
            # If naming fails, the first verdict still holds.
            with contextlib.suppress(GradingInfrastructureError):
                self._take("named")
        return self.verdict or verdict

    def _send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send a message with the fields of this exchange."""
        try:
            self._line.send({**self._names, **message}, self._patience, descriptors)
        except ConnectionLostError as error:
            raise GradingInfrastructureError(f"the judge was lost: {error}") from None

    def _take(self, *states: str) -> Message:
        """Receive this exchange's next message, which must have one of these states.

        A verdict in it is kept, in place of any earlier one.
        """
        try:
            message, _ = self._line.receive(self._patience)
        except ConnectionLostError as error:
            raise GradingInfrastructureError(f"the judge was lost: {error}") from None
        is_ours = all(message.get(k) == v for k, v in self._names.items())
        if not is_ours or message.get("state") not in states:
            raise GradingInfrastructureError(
                "the judge's reply was to another question"
            )
        self.ready, self.heard = message["state"] != "prepared", time.monotonic()
        if message["state"] in ("decided", "named"):
            self._decide(message)
        return message

    def _decide(self, message: Message) -> None:
        """Keep the verdict in a message, after checking that it is on this check."""
        verdict = Verdict.from_json(message["verdict"])
        judged = verdict.exercise, verdict.submission
        if judged != (self._names["exercise"], self._names["submission"]):
            raise GradingInfrastructureError("the judge's verdict was on another check")
        if self.verdict and verdict.points != self.verdict.verdict.points:
            raise GradingInfrastructureError("the judge has changed its verdict")
        evidence = tuple(map(CaseEvidence.from_json, message["evidence"]))
        self.verdict = RenderedVerdict(verdict, message["html"], evidence)
        self.complete, self.hindered = message["complete"], message["hindered"]
        self.took, self._goes_on = message["took"], message["more"]
