"""The grading process's handle on its judge, a process that knows the answers.

It serves one exchange for each check (`exchange.py`, and `judging.py` at the other
end). Whatever does not match, comes too late or not at all ends the judge process:
nothing of it is used any more, a fresh one is started for the next check, and the
submission is undecided.
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
from collections.abc import Callable, Iterator
from dataclasses import asdict

from autograder.course import child
from autograder.course.errors import CourseError
from autograder.grading.ipc import Connection, ConnectionLostError
from autograder.grading.judge.exchange import Exchange, Question
from autograder.sandbox import launch
from autograder.sandbox.inside import ALIKE

START_SECONDS = 300.0  # for its imports, on a busy machine
DRAWINGS = 4  # of an exercise's fresh cases, over which submissions are spread


class Judge:
    """Starts the judge process, and another one when it is lost.

    Args:
        secret: the course's secret; fresh inputs are drawn from it.
        patience: seconds for which it may be silent.
    """

    def __init__(self, secret: bytes, patience: float = 600.0):
        self.secret, self.patience = secret, patience
        self._process: subprocess.Popen[bytes] | _Fork | None = None
        self._line: Connection | None = None
        self._greeted = False

    @contextlib.contextmanager
    def exchange(self, question: Question) -> Iterator[Exchange]:
        """An exchange that is prepared: the sandbox may be asked.

        If it is not finished when it is left, the judge is ended.

        Raises:
            GradingInfrastructureError: the judge was lost.
            CourseError: none can be started.
        """
        self.wait()
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
            exchange.prepare(
                seconds=seconds, given=question.replaced,
                with_evidence=question.with_evidence, **seeds,
            )  # fmt: skip
            yield exchange
        finally:
            if not exchange.finished:
                self.close()

    def _seeds(self, question: Question) -> dict[str, str]:
        """The seed of the cases for this submission alone, and that of shared cases.

        Which of the shared drawings a submission gets depends on its content, like
        everything that it is asked: a second grading asks the same questions.
        """
        own_seed = self._digest(f"{question.key}/{question.exercise}")
        shared = f"{int(own_seed, 16) % DRAWINGS}/{question.exercise}"
        return {"own": own_seed, "shared": self._digest(shared)}

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

        This is only for a process with one thread. The fork closes its copies of all
        open files, except its end of the connection.
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
        self._process, self._line, self._greeted = _Fork(pid), Connection(ours), True
        theirs.close()

    def preload(self, unit: str = "") -> None:
        """Start the process in the background, if it does not run.

        Args:
            unit: whose exercises it imports then, if any.
        """
        if not self._process:
            command = launch.command(f"{__package__}.judging")
            self._process, ours = child.start(command, ALIKE)
            self._line, self._greeted = Connection(ours), False
            atexit.register(self.close)
        # Whoever asks it will learn that it is gone.
        with contextlib.suppress(ConnectionLostError):
            if unit and self._line:
                self._line.send({"preload": unit}, self.patience)

    def wait(self) -> None:
        """Have the process running, and its imports done: a cell's clock is not ours.

        Raises:
            CourseError: it does not start.
        """
        self.preload()
        if self._greeted or self._line is None:
            return
        try:
            self._line.receive(START_SECONDS)
        except ConnectionLostError as error:
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
