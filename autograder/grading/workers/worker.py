"""The processes that grade, and the one that they are forked from.

Started by `sandbox/launch.py`, it imports all that grading needs, once, and then forks
a worker for each ``start`` that arrives on the socket that its argument names: for
milliseconds and a few megabytes each. It has one thread, for a fork copies no others; a
process with threads, like a Jupyter server, cannot fork by itself. The end of the
socket is its end and that of all workers.

A worker grades one task after the other: bytes in, bytes out, and meanwhile signs of
life, as long as it uses CPU. A fork of it is its judge: the judge decodes what comes
from sandboxes, and would cost two seconds to import.
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

_NOTHING = 0.002  # CPU seconds: less is used by who waits and does not even look
_REPLY_SECONDS = 600.0


def main() -> None:
    """Serve until the other end of the socket closes."""
    logs.name_process("fork server")
    control = Connection(socket.socket(fileno=int(sys.argv[1])))
    if sys.platform == "linux":
        adopt_orphans()  # the judge of a worker that died
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
    """Carry out a request: start a worker on a connection, or end one."""
    if "end" in request:
        return {"status": _end(request["end"])}
    os.environ.update(request["start"])
    worker = os.fork()
    if worker == 0:
        control.close()
        _work(fds[0])
    os.close(fds[0])
    log.debug("worker %d started", worker)
    return {"pid": worker}


def _end(worker: int) -> int:
    """Kill a worker if it still runs; return its exit status, or minus the signal."""
    os.kill(worker, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])


def _work(descriptor: int) -> None:
    """Grade what arrives, until nothing does any more."""
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
    """Send a sign of life every so many seconds while this process uses CPU."""
    over = threading.Event()

    def tell() -> None:
        reported = 0.0
        with contextlib.suppress(ConnectionLostError):  # who waits for us is gone
            while not over.wait(every):
                busy_seconds = time.process_time() - time.thread_time()
                if busy_seconds > reported + _NOTHING:
                    reported = busy_seconds
                    tasks.send({**names, "alive": True}, _REPLY_SECONDS)

    thread = threading.Thread(target=tell)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
