"""The worker processes that grade, and the fork server from which they are forked.

The fork server does all imports once, and then forks a worker in milliseconds.
It must have only one thread, because a fork copies no others. A worker grades
one task after the other, and has a judge of its own, which is a fork of it.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.course import child
from autograder.grading import feedback, scores  # noqa: F401  (before forks)
from autograder.grading.execute import JudgedExecute
from autograder.grading.ipc import Connection, ConnectionLostError, Message
from autograder.grading.judge.handle import Judge
from autograder.grading.judge.judging import serve
from autograder.grading.workers.reply import answer
from autograder.sandbox import logs
from autograder.sandbox.confine import adopt_orphans
from autograder.sandbox.launch import imported
from autograder.sandbox.processes import end_all_children

log = logging.getLogger(__name__)

_IDLE_SECONDS = 0.002  # CPU seconds; a process that only waits uses less
_REPLY_SECONDS = 600.0


def main() -> None:
    """Start and end workers on request, until the other end of the socket closes."""
    logs.name_process("fork server")
    control = Connection(socket.socket(fileno=int(sys.argv[1])))
    if sys.platform == "linux":
        adopt_orphans()  # such as the judge of a worker that died
    imported()
    try:
        with contextlib.suppress(ConnectionLostError):
            control.send({"threads": _threads()}, _REPLY_SECONDS)
            while True:
                request, fds = control.receive(math.inf)
                reply = _carry_out(request, fds, control)
                control.send({**reply, "id": request["id"]}, _REPLY_SECONDS)
    finally:
        end_all_children()


def _threads() -> int:
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else 1


def _carry_out(request: Message, fds: list[int], control: Connection) -> Message:
    """Carry out a request: start a worker on a connection, or end one.

    "start" holds environment variables, and "end" a worker's process id. To start a
    worker, ``fds`` holds its connection.
    """
    if "end" in request:
        return {"status": _end(request["end"])}
    os.environ.update(request["start"])
    worker = os.fork()
    if worker == 0:
        control.close()
        # In the fork; it does not return.
        _work(fds[0])
    os.close(fds[0])
    log.debug("worker %d started", worker)
    return {"pid": worker}


def _end(worker: int) -> int:
    """Kill a worker if it still runs; return its exit status, or minus the signal."""
    os.kill(worker, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])


def _work(descriptor: int) -> None:
    """Grade tasks as they arrive, until the connection is closed."""
    try:
        child.end_with_parent()
        logs.name_process("worker")
        judge = Judge(b"")
        judge.fork(serve)
        JudgedExecute.adopt(judge)
        tasks = Connection(socket.socket(fileno=descriptor))
        with contextlib.suppress(ConnectionLostError):
            while True:
                request, _ = tasks.receive(math.inf)
                names = {"id": request["id"]}
                with _signs_of_life(tasks, names, request["every"]):
                    graded = answer(request["task"].encode()).decode()
                tasks.send({**names, "graded": graded}, _REPLY_SECONDS)
    finally:
        os._exit(0)


@contextlib.contextmanager
def _signs_of_life(tasks: Connection, names: Message, every: float) -> Iterator[None]:
    """Send signs of life from a thread while a task is graded and uses CPU time.

    ``names`` are the fields of each message; ``every`` is in seconds.
    """
    over = threading.Event()

    def tell() -> None:
        reported = 0.0
        with contextlib.suppress(ConnectionLostError):  # the pool is gone
            while not over.wait(every):
                # The time of all threads but this one.
                busy_seconds = time.process_time() - time.thread_time()
                if busy_seconds > reported + _IDLE_SECONDS:
                    reported = busy_seconds
                    tasks.send({**names, "alive": True}, _REPLY_SECONDS)

    thread = threading.Thread(target=tell)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
