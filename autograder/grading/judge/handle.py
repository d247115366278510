"""The grading process's handle on its judge: one exchange for each check.

The judge is a process that knows the answers (`judging.py`). An exchange goes

    prepare    exercise, submission, seeds   ->  prepared   it knows the exercise
    ask        the box's channel             ->  ready      the box has begun to answer,
                                                            and now and then after that
                                             ->  decided    the verdict, for good
    over       (the cell has ended)          ->  named      the mistake, if looked for

and every message of it carries the same id, exercise and submission. Whatever does not
match, comes too late or not at all ends the judge process: nothing of it is used any
more, a fresh one is started for the next check, and the submission is undecided.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import hmac
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from autograder.course.errors import CourseError
from autograder.grading.faults import Undecided
from autograder.grading.judge.record import Record
from autograder.grading.line import Line, LineError, Message
from autograder.kernel import launch
from autograder.kernel.inside import ALIKE

START_SECONDS = 300.0  # for its imports, on a busy machine
DRAWINGS = 4  # of an exercise's fresh cases, over which submissions are spread
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

    def __init__(self, line: Line, names: Message, patience: float):
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
            with contextlib.suppress(Undecided):  # the verdict stands without it
                self._take("named")
        return self.decision or decision

    def _put(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        try:
            self._line.put({**self._names, **message}, self._patience, descriptors)
        except LineError as error:
            raise Undecided(f"the judge was lost: {error}") from None

    def _take(self, *states: str) -> Message:
        """Receive the next message, which must be this exchange's."""
        try:
            message, _ = self._line.get(self._patience)
        except LineError as error:
            raise Undecided(f"the judge was lost: {error}") from None
        same = all(message.get(k) == v for k, v in self._names.items())
        if not same or message.get("state") not in states:
            raise Undecided("the judge's reply was to another question")
        self.ready, self.heard = message["state"] != "prepared", time.monotonic()
        if message["state"] in ("decided", "named"):
            self.decision = self._opened(message)
        return message

    def _opened(self, message: Message) -> Decision:
        record = Record.from_json(message["record"])
        whose = record.exercise, record.submission
        if whose != (self._names["exercise"], self._names["submission"]):
            raise Undecided("the judge's verdict was on another check")
        if self.decision and record.points != self.decision.record.points:
            raise Undecided("the judge has changed its verdict")
        flags = {name: message[name] for name in _FLAGS}
        return Decision(record, message["panel"], **flags)


class Process(Protocol):
    """A process of ours that can be ended."""

    def kill(self) -> None: ...
    def wait(self) -> object: ...


class Judge:
    """Starts the judge process, and another one when it is lost.

    Args:
        secret: the course's secret; fresh inputs are drawn from it.
        patience: seconds for which it may be silent.
    """

    def __init__(self, secret: bytes, patience: float = 600.0):
        self.secret, self.patience = secret, patience
        self._process: Process | None = None
        self._line: Line | None = None
        self._greeted = False

    @contextlib.contextmanager
    def exchange(self, question: Question) -> Iterator[Exchange]:
        """An exchange that is prepared: the box may be asked.

        If it is not finished when it is left, the judge is ended.

        Raises:
            Undecided: the judge was lost.
            CourseError: none can be started.
        """
        self.start()
        assert self._line
        names = {
            "id": secrets.token_hex(8),
            "exercise": question.exercise,
            "submission": question.submission,
        }
        exchange = Exchange(self._line, names, self.patience)
        try:
            seeds = self._seeds(question)
            seconds = asdict(question.seconds)
            exchange.prepare(seconds=seconds, given=question.given, **seeds)
            yield exchange
        finally:
            if not exchange.finished:
                self.close()

    def _seeds(self, question: Question) -> dict[str, str]:
        """What is drawn for this submission alone, and what it shares with some others.

        Which drawing it shares depends on what was handed in, like all that it is
        asked: who is graded once more, is asked the same.
        """
        own = self._digest(f"{question.key}/{question.exercise}")
        shared = f"{int(own, 16) % DRAWINGS}/{question.exercise}"
        return {"own": own, "shared": self._digest(shared)}

    def _digest(self, text: str) -> str:
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()

    def close(self) -> None:
        """End the judge process."""
        if self._process and self._line:
            self._line.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def fork(self, serve: Callable[[socket.socket], None]) -> None:
        """Start the judge process as a fork of this one, which costs milliseconds.

        Only while this process has one thread, and nothing open that a judge should
        not have but by number: its copies are closed.
        """
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                os.closerange(3, theirs.fileno())
                os.closerange(theirs.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
                serve(theirs)
            finally:
                os._exit(0)
        self._process, self._line, self._greeted = _Fork(pid), Line(ours), True
        theirs.close()

    def begin(self) -> None:
        """Have the process running; its imports take a while."""
        if self._process:
            return
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                launch.command(f"{__package__}.judging", theirs.fileno()),
                pass_fds=[theirs.fileno()],
                env=os.environ | ALIKE,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us to handle
            )
        self._line, self._greeted = Line(ours), False
        atexit.register(self.close)

    def expect(self, unit: str) -> None:
        """Say whose exercises will be asked for: it imports them meanwhile."""
        with contextlib.suppress(LineError):  # who asks it will learn that it is gone
            if self._line:
                self._line.put({"expect": unit}, self.patience)

    def start(self) -> None:
        """Have the process running, and its imports done: a cell's clock is not ours.

        Raises:
            CourseError: it does not start.
        """
        self.begin()
        if self._greeted or self._line is None:
            return
        try:
            self._line.get(START_SECONDS)
        except LineError as error:
            self.close()
            reason = f"the judge process does not start: {error}; {launch.AGAIN}"
            raise CourseError(reason) from None
        self._greeted = True


class _Fork:
    """A forked child, ended as a `subprocess.Popen` is."""

    def __init__(self, pid: int):
        self._pid = pid

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
