"""Grade in several processes at once, with the interface of concurrent.futures.

A `Pool` hands tasks, as bytes, to worker processes that share a sandbox server.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from autograder.course import child
from autograder.course.errors import CourseError
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.ipc import (
    Connection,
    ConnectionLostError,
    ConnectionTimeoutError,
    Message,
)
from autograder.grading.task import Task
from autograder.grading.warmable import Warmable
from autograder.sandbox import launch
from autograder.sandbox.client import SERVER_VARIABLE
from autograder.sandbox.inside import ALIKE

TRIES = 2  # processes that may die over a submission
SECONDS = 300.0  # for the process that workers are forked from to answer
# Seconds for which a worker may do nothing at all: more than the ten minutes that it
# waits for a judge.
SILENCE = 900.0
HUNG = "the process that graded it did nothing any more"


class SetupError(CourseError):
    """The processes that grade cannot be started, so no submission can be graded."""


class WorkerDiedError(Exception):
    """A worker process, or the one that it was forked from, died during a task."""


class Pool:
    """Up to ``slots`` processes that grade; they are started when they are needed.

    ``shared`` are processes that they all use, such as the server of sandboxes.
    """

    def __init__(self, slots: int, shared: Sequence[Warmable]):
        self.slots, self._shared = slots, shared
        self.busy: dict[int, str] = {}  # slot -> the student whose task it runs
        self._server: _ForkServer | None = None
        self._is_ready = False  # whether that server can fork workers
        self._lock = threading.Lock()
        self._closed = False
        self._threads = ThreadPoolExecutor(slots)

    def preload(self) -> None:
        """Start in the background what the first task would wait for."""
        for warmable in self._shared:
            warmable.preload()
        self._server = _ForkServer()

    def wait(self) -> None:
        """Wait until workers can be forked. Raises SetupError if that is impossible."""
        if self._is_ready:
            return
        try:
            if self._server is None or self._server.lost:
                self._server = _ForkServer()
            for warmable in self._shared:  # while the server does its imports
                warmable.wait()
            self._server.wait()
        except CourseError as error:
            raise SetupError(str(error)) from error
        self._is_ready = True

    def submit(self, task: Task) -> Future[bytes]:
        """Submit a task; `reply.read_reply` reads the bytes of the result.

        The future raises a GradingInfrastructureError if workers died or hung.

        Raises:
            SetupError: the processes cannot be started, or the task cannot be sent.
        """
        try:
            data = task.to_bytes()
        except CourseError as error:
            raise SetupError(str(error)) from error
        self.wait()
        return self._threads.submit(self._grade, task.student, data)

    def close(self) -> None:
        """End all processes at once; tasks that have not been finished are lost."""
        self._closed = True
        # Threads that wait for a worker end once the processes are gone.
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._server:
            self._server.close()
        self._threads.shutdown()
        if self._server:
            self._server.close()  # one that was started meanwhile

    def _grade(self, student: str, data: bytes) -> bytes:
        """Have a worker grade a task, and another one if it dies."""
        slot, deaths = threading.get_ident(), list[str]()
        self.busy[slot] = student
        try:
            while len(deaths) < TRIES and not self._closed:
                try:
                    return self._living().grade(data)
                except WorkerDiedError as died:
                    deaths.append(str(died))
        finally:
            del self.busy[slot]
        raise GradingInfrastructureError(
            f"the process that graded it died: {', then '.join(deaths)}"
        )

    def _living(self) -> _ForkServer:
        """The fork server; a new one if it was lost."""
        with self._lock:
            server = self._server
            assert server
            if server.lost and not self._closed:
                server.close()
                server = self._server = _ForkServer()
                server.wait()
            return server


class _Worker(NamedTuple):
    """A worker process, and the connection to it."""

    line: Connection
    pid: int

    def grade(self, data: bytes) -> bytes:
        """Have the worker grade a serialised task, and return its serialised reply.

        Raises:
            ConnectionLostError: the worker has failed; it must not be used again.
        """
        names = {"id": secrets.token_hex(8)}
        task = {"task": data.decode(), "every": SILENCE / 100}
        self.line.send({**names, **task}, SILENCE)
        # Signs of life come before the result, so only a hung worker is silent.
        while True:
            message, _ = self.line.receive(SILENCE)
            if message["id"] != names["id"]:
                raise ConnectionLostError("a reply to another task")
            if "graded" in message:
                return str(message["graded"]).encode()


class _ForkServer:
    """The handle on the process that workers are forked from, and on its workers."""

    def __init__(self) -> None:
        """Start the process; `wait` says when it can fork workers."""
        self._lock = threading.Lock()  # a request and its answer belong together
        self._idle: deque[_Worker] = deque()
        self.lost = False
        self._ready = False
        # It must have only one thread, because a fork copies no others.
        command = launch.command(f"{__package__}.worker")
        self._process, ours = child.start(command, ALIKE, subprocess.DEVNULL)
        self._control = Connection(ours)

    def wait(self) -> None:
        """Wait until it can fork workers. Raises CourseError if that is impossible."""
        with contextlib.ExitStack() as failed:
            failed.callback(self.close)
            try:
                message, _ = self._control.receive(SECONDS)
            except ConnectionLostError as error:
                raise CourseError(
                    f"the processes that grade do not start: {error}; {launch.AGAIN}"
                ) from None
            if (threads := message["threads"]) != 1:
                raise CourseError(
                    f"an import starts {threads - 1} threads, so no process can be "
                    "forked; look for it among the modules that nbgrader_config.py "
                    "names, or grade with c.Autograde.jobs = 1"
                )
            failed.pop_all()
            self._ready = True

    def grade(self, data: bytes) -> bytes:
        """Have a worker grade; return its reply.

        Raises:
            WorkerDiedError: the worker died; the text says how.
            GradingInfrastructureError: the worker hangs, and might do so again.
        """
        worker = self._worker()
        try:
            reply = worker.grade(data)
        except ConnectionTimeoutError:
            self._end(worker)
            raise GradingInfrastructureError(HUNG) from None
        except ConnectionLostError:
            raise WorkerDiedError(self._end(worker)) from None
        self._idle.append(worker)
        return reply

    def _worker(self) -> _Worker:
        """An idle worker, or a newly forked one."""
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        shared = {SERVER_VARIABLE: os.environ.get(SERVER_VARIABLE, "")}
        ours, theirs = socket.socketpair()
        with theirs:
            pid = self._ask({"start": shared}, [theirs.fileno()])["pid"]
        return _Worker(Connection(ours), pid)

    def _end(self, worker: _Worker) -> str:
        """End a worker if it still runs; return in words how it ended."""
        worker.line.close()
        status = self._ask({"end": worker.pid})["status"]
        if status >= 0:
            return f"exit status {status}"
        with contextlib.suppress(ValueError):
            return signal.Signals(-status).name
        return f"signal {-status}"

    def _ask(self, request: Message, descriptors: Sequence[int] = ()) -> Message:
        """Send a request and file descriptors to the process; return its reply.

        Raises:
            WorkerDiedError: there is no proper reply; the process counts as lost.
        """
        names = {"id": secrets.token_hex(8)}
        with self._lock:
            try:
                if self.lost:
                    raise ConnectionLostError("its process is gone")
                self._control.send({**request, **names}, SECONDS, descriptors)
                reply, _ = self._control.receive(SECONDS)
                if reply["id"] != names["id"]:
                    raise ConnectionLostError("a reply to another request")
            except ConnectionLostError:
                self.lost = True
                raise WorkerDiedError(
                    "with the process that it was forked from"
                ) from None
        return reply

    def close(self) -> None:
        """End the process, and with it all workers."""
        self.lost = True
        self._control.shutdown()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10 if self._ready else 0)
        self._process.kill()
        self._process.wait()
        self._control.close()
        for worker in self._idle:
            worker.line.close()


def usable_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
