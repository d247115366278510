"""One question to the judge process, as the grading process asks it.

An exchange goes

    prepare    exercise, submission, seeds   ->  prepared   it knows the exercise
    ask        the sandbox's channel         ->  ready      its answers begin, and then
                                                            now and then after that
                                             ->  decided    the verdict, for good
    over       (the cell has ended)          ->  named      the mistake, if looked for

and every message of it carries the same id, exercise and submission. Nothing of what
does not match, or comes too late, is used.
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

_AFTERWARDS = Budget(cpu=5.0, clock=10.0)  # for a cell to end once it is decided


@dataclass(frozen=True)
class Seconds:
    """CPU time that a sandbox may take for one answer, and for all answers to a check.

    Code that sleeps may take twice as long on the clock. The judge may work just as
    long on what the sandbox asks it.
    """

    answer: float = 20.0
    check: float = 60.0


@dataclass(frozen=True)
class Question:
    """What is asked about one check.

    Attributes:
        submission: whose check it is.
        key: what its fresh inputs are drawn from, with the course's secret.
        seconds: CPU time that answers may take.
        replaced: exercises whose course version stands in place of the student's.
        with_evidence: whether the verdict brings the evidence for it.
    """

    exercise: str
    submission: str
    key: str
    seconds: Seconds = Seconds()
    replaced: tuple[str, ...] = ()
    with_evidence: bool = False


class Exchange:
    """One question to the judge, from the drawing of its cases to the verdict.

    Args:
        names: what each message of it carries.
        patience: how many seconds the judge may be silent when it may be its turn. What
            the sandbox does is no sign of the judge: it may always do a little.

    Attributes:
        ready: the sandbox has begun to answer.
        code: puts the course's version of the replaced exercises in place.
        heard: when the judge has last said something.
        verdict: once it is decided.
        complete: whether the sandbox has answered all that it was asked.
        hindered: whether an answer was late although the sandbox had CPU time left, on
            a machine that kept it waiting.
        took: seconds on its clock that the sandbox has taken for its answers, and CPU
            time of the judge for what it has asked.
    """

    def __init__(self, line: Connection, names: Message, patience: float):
        self._line, self._names, self._patience = line, names, patience
        self._asked = self._goes_on = False
        self.ready = self.complete = self.hindered = False
        self.code, self.took, self.heard = "", 0.0, time.monotonic()
        self.verdict: RenderedVerdict | None = None
        self._channel = select.poll()
        self._afterwards: Span | None = None

    @property
    def finished(self) -> bool:
        """Whether no message of this exchange is still to come."""
        return not self._asked or bool(self.verdict and not self._goes_on)

    def prepare(self, **request: object) -> None:
        """See that the judge is there, before the sandbox is asked anything."""
        self._asked = True
        self._send({"prepare": request})
        self.code = str(self._take("prepared")["code"])

    def ask(self, channel: socket.socket, supervisor: int | None, ticket: str) -> None:
        """Give the judge the sandbox's channel, and the process that watches it."""
        request = {"ticket": ticket, "supervisor": supervisor}
        self._send({"ask": request}, [channel.fileno()])
        self._channel.register(channel, select.POLLIN)
        self.heard = time.monotonic()

    def look(self) -> None:
        """Take in what the judge has sent, without waiting for more."""
        while not self.verdict and self._line.has_something():
            self._take("ready", "decided")

    def over(self, span: Span) -> EndReason | None:
        """The reason to end the check's cell now, or None; called repeatedly.

        The cell's own clock runs before the sandbox begins to answer, and again once
        the verdict is final. In between, the judge measures the time of each answer.
        The cell's clock is paused while the judge has not yet read what the sandbox has
        sent, because the sandbox may be waiting for it.

        Raises:
            GradingInfrastructureError: the judge was lost.
        """
        self.look()
        if self.verdict and not self.complete:
            return EndReason.DECIDED
        if self.verdict:
            self._afterwards = self._afterwards or span.next(_AFTERWARDS)
            return self._afterwards.over()
        if self.ready or self._channel.poll(0):
            span.pause()
            if time.monotonic() > self.heard + self._patience:
                raise GradingInfrastructureError(
                    "the judge was lost: it does not answer"
                )
        return span.over()

    def settle(self) -> RenderedVerdict:
        """The verdict, now that the cell has ended and no answer comes any more."""
        self.look()
        if not self.verdict:
            self._send({"over": True})
        while not self.verdict:
            self._take("ready", "decided")
        return self.verdict

    def await_mistake(self) -> RenderedVerdict:
        """Wait for the verdict that names the mistake, if it comes in time."""
        verdict = self.settle()
        if self._goes_on:
            # The verdict stands without it.
            with contextlib.suppress(GradingInfrastructureError):
                self._take("named")
        return self.verdict or verdict

    def _send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        try:
            self._line.send({**self._names, **message}, self._patience, descriptors)
        except ConnectionLostError as error:
            raise GradingInfrastructureError(f"the judge was lost: {error}") from None

    def _take(self, *states: str) -> Message:
        """Receive the next message, which must be this exchange's."""
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
        verdict = Verdict.from_json(message["verdict"])
        whose = verdict.exercise, verdict.submission
        if whose != (self._names["exercise"], self._names["submission"]):
            raise GradingInfrastructureError("the judge's verdict was on another check")
        if self.verdict and verdict.points != self.verdict.verdict.points:
            raise GradingInfrastructureError("the judge has changed its verdict")
        evidence = tuple(map(CaseEvidence.from_json, message["evidence"]))
        self.verdict = RenderedVerdict(verdict, message["html"], evidence)
        self.complete, self.hindered = message["complete"], message["hindered"]
        self.took, self._goes_on = message["took"], message["more"]
