"""The grading process's handle on the judge, the process that compares answers.

Only the judge knows the correct answers and decodes what the sandbox sends.
`Judge` starts it as a child process, and opens an exchange of messages with it
for each check (see `exchange.py`). A judge that fails is killed and replaced.
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
DRAWINGS = 4  # sets of fresh cases per exercise, each shared by some submissions


class Judge:
    """Starts the judge process, and a new one when it is lost.

    Args:
        secret: the course's secret, which seeds all fresh inputs.
        patience: seconds for which the judge may be silent.
    """

    def __init__(self, secret: bytes, patience: float = 600.0):
        self.secret, self.patience = secret, patience
        self._process: subprocess.Popen[bytes] | _Fork | None = None
        self._line: Connection | None = None
        self._greeted = False

    @contextlib.contextmanager
    def exchange(self, question: Question) -> Iterator[Exchange]:
        """Begin the exchange of messages with the judge about one check.

        The judge is killed if the exchange is not finished when the `with` block ends.

        Raises:
            GradingInfrastructureError: the judge was lost.
            CourseError: no judge can be started.
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
            exchange.prepare(
                seconds=asdict(question.seconds), given=question.replaced,
                with_evidence=question.with_evidence, **self._seeds(question),
            )  # fmt: skip
            yield exchange
        finally:
            if not exchange.finished:
                self.close()

    def _seeds(self, question: Question) -> dict[str, str]:
        """Derive the seeds of a check's hidden cases from the course's secret.

        "own" seeds cases that only this submission gets, "shared" those for several.
        Grading a submission again asks the same questions.
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
        """Start the judge as a fork of this process, which must have only one thread.

        The fork calls ``serve`` with its end of the connection.
        """
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                # It keeps only the standard descriptors and its end of the connection.
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
            unit: the unit whose exercises it then loads, if any.
        """
        if not self._process:
            command = launch.command(f"{__package__}.judging")
            self._process, ours = child.start(command, ALIKE)
            self._line, self._greeted = Connection(ours), False
            atexit.register(self.close)
        # The next exchange reports that the judge was lost.
        with contextlib.suppress(ConnectionLostError):
            if unit and self._line:
                self._line.send({"preload": unit}, self.patience)

    def wait(self) -> None:
        """Wait until the judge process is ready; start it if necessary.

        Raises:
            CourseError: the process does not start.
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
    """A forked child process, with `kill` and `wait` as `subprocess.Popen` has them."""

    def __init__(self, pid: int):
        self._pid = pid

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
