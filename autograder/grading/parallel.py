"""Grading in several processes at once, through concurrent.futures' interface.

A `Pool` hands tasks to worker processes (see `worker.py`), one at a time each. The
processes share the one warm server for kernels that the pool's owner has started. What
passes between them is bytes: see `work.py`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection

from autograder.errors import CourseError
from autograder.grading.work import Task, warm_up
from autograder.kernel.client import SERVER_VARIABLE
from autograder.kernel.inside import THREADS

TRIES = 2  # processes that may die over a submission


class SetupError(CourseError):
    """No submission at all can be graded by processes, as things are."""


class Died(Exception):
    """A worker process ended in the midst of a task."""


class Pool:
    """Up to ``slots`` processes that grade; they are started when they are needed.

    Args:
        slots: how many tasks run at once.
    """

    def __init__(self, slots: int):
        self.slots = slots
        self.busy: dict[int, str] = {}  # slot -> the student whose task it runs
        self._nursery: _Nursery | None = None
        self._idle: deque[_Worker] = deque()
        self._threads = ThreadPoolExecutor(slots)

    def submit(self, task: Task) -> Future[bytes]:
        """Have a task graded; what comes is for `work.opened`.

        Raises:
            SetupError: the processes cannot be started, or given these settings.
            CourseError: in the future: its worker died, and another one, too.
        """
        try:
            data = task.to_bytes()
            if self._nursery is None:
                self._nursery = _Nursery(functools.partial(warm_up, task))
        except CourseError as error:
            raise SetupError(str(error)) from error
        return self._threads.submit(self._graded, task.student, data)

    def close(self) -> None:
        """Stop at once; what was not finished is lost."""
        nursery, self._nursery = self._nursery, None
        self._threads.shutdown(wait=False, cancel_futures=True)
        if nursery:
            nursery.close()
        self._threads.shutdown()
        for worker in self._idle:
            worker.connection.close()

    def _graded(self, student: str, data: bytes) -> bytes:
        slot = threading.get_ident()
        self.busy[slot] = student
        try:
            return self._tried(data)
        finally:
            del self.busy[slot]

    def _tried(self, data: bytes) -> bytes:
        ends = []
        while len(ends) < TRIES and (nursery := self._nursery):
            worker = self._worker(nursery)
            try:
                reply = worker.graded(data)
            except Died:
                ends.append(nursery.end(worker))
            else:
                self._idle.append(worker)
                return reply
        raise CourseError(f"the process that graded it died: {', then '.join(ends)}")

    def _worker(self, nursery: _Nursery) -> _Worker:
        try:
            return self._idle.pop()
        except IndexError:
            return nursery.start()


class _Worker:
    def __init__(self, connection: Connection, pid: int):
        self.connection, self.pid = connection, pid

    def graded(self, data: bytes) -> bytes:
        try:
            self.connection.send_bytes(data)
            return self.connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise Died from error


class _Nursery:
    """The handle on the process that workers are forked from."""

    def __init__(self, share: Callable[[], None]):
        self._lock = threading.Lock()  # a request and its answer belong together
        self._control, theirs = socket.socketpair()
        self._ready = False
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __package__ + ".worker", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us to handle
            )
        try:
            share()  # while the process imports what it needs
            self._welcome()
        except BaseException:
            self.close()
            raise

    def _welcome(self) -> None:
        text = self._control.recv(1 << 10)
        if not text:
            raise CourseError("the processes that grade do not start; see above")
        if (threads := json.loads(text)["threads"]) != 1:
            raise CourseError(
                f"an import starts {threads - 1} threads, so that no process can be "
                "forked; find it among the modules that nbgrader_config.py names, or "
                "grade with c.Autograde.jobs = 1"
            )
        self._ready = True

    def start(self) -> _Worker:
        """Raises CourseError if the process is gone."""
        shared = {SERVER_VARIABLE: os.environ.get(SERVER_VARIABLE, "")}
        ours, theirs = socket.socketpair()
        with theirs:
            pid = self._ask({"start": shared}, [theirs.fileno()])["pid"]
        return _Worker(Connection(ours.detach()), pid)

    def end(self, worker: _Worker) -> str:
        """See that it has ended; how it did."""
        worker.connection.close()
        status = self._ask({"end": worker.pid})["status"]
        if status >= 0:
            return f"exit status {status}"
        with contextlib.suppress(ValueError):
            return signal.Signals(-status).name
        return f"signal {-status}"

    def _ask(self, request: dict, descriptors: tuple | list = ()) -> dict:
        with self._lock:
            try:
                text = json.dumps(request).encode()
                socket.send_fds(self._control, [text], descriptors)
                reply = self._control.recv(1 << 10)
            except OSError:
                reply = b""
        if not reply:
            raise CourseError("the processes that grade were ended; run it again")
        return json.loads(reply)

    def close(self) -> None:
        """End all workers."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10 if self._ready else 0)
        self._process.kill()
        self._process.wait()
        self._control.close()


def _environment() -> dict[str, str]:
    """Ours, with one thread and our import path: a fork copies no further thread."""
    paths = [path or os.getcwd() for path in sys.path]
    return {**os.environ, **THREADS, "PYTHONPATH": os.pathsep.join(paths)}


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
