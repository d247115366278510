"""One question to the judge process, as the grading process asks it.

An exchange goes

    prepare    exercise, submission, seeds   ->  prepared   it knows the exercise
    ask        the box's channel             ->  ready      the box has begun to answer,
                                                            and now and then after that
                                             ->  decided    the verdict, for good
    over       (the cell has ended)          ->  named      the mistake, if looked for

and every message of it carries the same id, exercise and submission. Nothing of what
does not match, or comes too late, is used.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.ipc import Connection, ConnectionLostError, Message
from autograder.grading.judge.record import Record

_FLAGS = ("complete", "hindered", "took", "more")  # of a decision, in its message


@dataclass(frozen=True)
class Seconds:
    """CPU time that a box may take for one answer, and for all answers to a check.

    Twice as much on the clock, for code that sleeps; no longer may the judge work for
    what it is asked in turn.
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
        given: exercises whose course version stands in place of the student's.
    """

    exercise: str
    submission: str
    key: str
    seconds: Seconds = Seconds()
    given: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A verdict, and how the exchange with the box went.

    Attributes:
        panel: the verdict as HTML.
        complete: whether the box has answered all that it was asked.
        hindered: whether an answer was late although the box had CPU time left, on a
            machine that kept it waiting.
        took: seconds on its clock that the box has taken for its answers, and CPU time
            of the judge for what it has asked.
        more: whether the judge goes on to look for the mistake.
    """

    record: Record
    panel: str
    complete: bool = True
    hindered: bool = False
    took: float = 0.0
    more: bool = False


class Exchange:
    """One question to the judge, from the drawing of its cases to the verdict.

    Args:
        names: what each message of it carries.
        patience: seconds for which the judge may be silent.
    """

    def __init__(self, line: Connection, names: Message, patience: float):
        self._line, self._names, self._patience = line, names, patience
        self._asked = False
        self.ready = False  # the box has begun to answer
        self.code = ""  # which puts in place what the question says is given
        self.heard = time.monotonic()  # when the judge has last said something
        self.decision: Decision | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing of it is still to come."""
        return not self._asked or bool(self.decision and not self.decision.more)

    def prepare(self, **request: object) -> None:
        """See that the judge is there, before the box is asked anything."""
        self._asked = True
        self._put({"prepare": request})
        self.code = str(self._take("prepared")["code"])

    def ask(self, channel: socket.socket, supervisor: int | None, ticket: str) -> None:
        """Give the judge the box's channel, and the process that watches the box."""
        request = {"ticket": ticket, "supervisor": supervisor}
        self._put({"ask": request}, [channel.fileno()])

    def look(self) -> None:
        """Take in what the judge has sent, without waiting for more."""
        while not self.decision and self._line.has_something():
            self._take("ready", "decided")

    def settle(self) -> Decision:
        """The decision, now that the cell has ended and no answer comes any more."""
        self.look()
        if not self.decision:
            self._put({"over": True})
        while not self.decision:
            self._take("ready", "decided")
        return self.decision

    def named(self) -> Decision:
        """The decision with the mistake that was found, if it comes in time."""
        decision = self.settle()
        if decision.more:
            with contextlib.suppress(
                GradingInfrastructureError
            ):  # the verdict stands without it
                self._take("named")
        return self.decision or decision

    def _put(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        try:
            self._line.put({**self._names, **message}, self._patience, descriptors)
        except ConnectionLostError as error:
            raise GradingInfrastructureError(f"the judge was lost: {error}") from None

    def _take(self, *states: str) -> Message:
        """Receive the next message, which must be this exchange's."""
        try:
            message, _ = self._line.get(self._patience)
        except ConnectionLostError as error:
            raise GradingInfrastructureError(f"the judge was lost: {error}") from None
        same = all(message.get(k) == v for k, v in self._names.items())
        if not same or message.get("state") not in states:
            raise GradingInfrastructureError(
                "the judge's reply was to another question"
            )
        self.ready, self.heard = message["state"] != "prepared", time.monotonic()
        if message["state"] in ("decided", "named"):
            self.decision = self._opened(message)
        return message

    def _opened(self, message: Message) -> Decision:
        record = Record.from_json(message["record"])
        whose = record.exercise, record.submission
        if whose != (self._names["exercise"], self._names["submission"]):
            raise GradingInfrastructureError("the judge's verdict was on another check")
        if self.decision and record.points != self.decision.record.points:
            raise GradingInfrastructureError("the judge has changed its verdict")
        flags = {name: message[name] for name in _FLAGS}
        return Decision(record, message["panel"], **flags)
