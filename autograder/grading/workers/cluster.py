"""Grading on other machines, through a Dask scheduler: what `Pool` is on this one.

A Dask worker hands each task to a `Pool` of its own. So what a submission can bring
down is a process of that pool, with the same two tries as on one machine, and Dask is
left with the loss of machines: it gives what was there to others. A machine that gives
no sandboxes would fail faster than others grade, and draw all the work to it: it is
asked once. Machines share no disk; a task brings along all that it needs, the course's
secret included (use Dask's TLS where the network is not yours alone).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import logging
import shutil
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import autograder
from autograder.course.errors import CourseError
from autograder.grading.task import Task
from autograder.grading.warmable import warmables
from autograder.grading.workers.parallel import Pool, SetupError

PATIENCE = 30.0  # seconds for a scheduler to answer, and to have a worker
log = logging.getLogger("autograder.grading")
_lock = threading.Lock()
_pools: list[Pool] = []  # of a worker: one at most


class NoSandboxError(Exception):
    """A worker's machine can grade nothing; its arguments are its name, and why."""


class Cluster:
    """Grades on the workers of a Dask scheduler. Needs the extra ``cluster``.

    Args:
        address: the scheduler's, like ``tcp://10.0.0.1:8786``.

    Raises:
        SetupError: no scheduler or worker is there, or a worker has another course.
    """

    def __init__(self, address: str):
        self.busy: dict[int, str] = {}
        self._unfit: dict[str, str] = {}  # by worker, why nothing is given to it
        self._executors: list[Any] = []  # Dask's, one for each task sent
        self._closed = threading.Event()
        self._client = _connected(address)
        try:
            self._client.wait_for_workers(1, PATIENCE)
            self._compare_versions()
        except TimeoutError:
            self._client.close()
            raise SetupError(f"the scheduler at {address} has no workers") from None
        except BaseException:
            self._client.close()
            raise
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def slots(self) -> int:
        """The tasks that can run at once; workers come and go."""
        return sum(self._fit().values())

    def _fit(self) -> dict[str, int]:
        """The threads of each worker that may grade."""
        threads = self._client.nthreads().items()
        return {name: count for name, count in threads if name not in self._unfit}

    def preload(self) -> None:
        """Do nothing, since the workers of a cluster have already been started."""

    def submit(self, task: Task) -> Future[bytes]:
        """Have a task graded, as `Pool.submit` does.

        Raises:
            SetupError: these settings cannot be sent, or no worker can grade.
            CourseError: in the future: see `Pool.submit`, or four machines were lost.
        """
        try:
            data = task.to_bytes()
        except CourseError as error:
            raise SetupError(str(error)) from error
        future: Future[bytes] = Future()
        self.busy[id(future)] = task.student
        try:
            self._send(data, future)
        except SetupError:
            self.busy.pop(id(future))
            raise
        return future

    def _send(self, data: bytes, future: Future[bytes]) -> None:
        """Send a task to a worker that is not known to be unfit, if there is one."""
        among: dict[str, Any] = {}
        if self._unfit:
            # Others only where none of these is left: who comes later may grade, too.
            among = {"workers": list(self._fit()), "allow_other_workers": True}
            if not among["workers"]:
                name, reason = next(iter(self._unfit.items()))
                raise SetupError(f"no worker can grade; {name}: {reason}")
        self._executors.append(self._client.get_executor(pure=False, **among))
        sent = self._executors[-1].submit(grade_there, data, course_version())
        sent.add_done_callback(functools.partial(self._settle, data, future))

    def _settle(self, data: bytes, future: Future[bytes], sent: Future[bytes]) -> None:
        error = None if sent.cancelled() else sent.exception()
        if isinstance(error, NoSandboxError):
            # Not here, in the thread that would bring the scheduler's answers.
            thread = threading.Thread(
                target=self._send_again, args=(data, future, error), daemon=True
            )
            thread.start()
            return
        self.busy.pop(id(future), None)
        if sent.cancelled():
            future.set_exception(CourseError("it was called off"))
        elif type(error).__name__ == "KilledWorker":  # Dask has given up
            future.set_exception(CourseError("each machine that graded it was lost"))
        elif error:
            future.set_exception(error)
        else:
            future.set_result(sent.result())

    def _send_again(
        self, data: bytes, future: Future[bytes], error: NoSandboxError
    ) -> None:
        """Give a task to another worker than the one that could not grade it."""
        try:
            self._leave_out(*error.args)
            self._send(data, future)
        except Exception as fault:
            self.busy.pop(id(future), None)
            future.set_exception(fault)

    def _leave_out(self, worker: str, reason: str) -> None:
        if worker not in self._unfit:
            self._unfit[worker] = reason
            log.warning("the worker %s gets no more submissions: %s", worker, reason)

    def _watch(self) -> None:
        """Warn when work waits for a worker that is not there."""
        has_warned = False
        while not self._closed.wait(PATIENCE):
            with contextlib.suppress(Exception):  # it is not the one to tell of a loss
                waits = bool(self.busy) and not self._fit()
                if waits and not has_warned:
                    log.warning("no worker is left; waiting for a new one")
                has_warned = waits

    def close(self) -> None:
        """Call off what has not ended, and leave the scheduler."""
        self._closed.set()
        for executor in self._executors:
            executor.shutdown(wait=False)
        self._client.close()

    def _compare_versions(self) -> None:
        try:
            theirs = self._client.run(course_version)
        except ImportError as error:
            raise SetupError(f"a worker does not have the course: {error}") from error
        except OSError as error:
            raise SetupError(f"a worker was lost: {error}; try again") from error
        ours = course_version()
        mismatched = [name for name, version in theirs.items() if version != ours]
        if mismatched:
            raise SetupError(
                f"{len(mismatched)} workers have a different version of the course or "
                f"of its libraries ({mismatched[0]}): install the same, and restart "
                "them"
            )


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise SetupError("a scheduler needs Dask: pip install distributed") from None
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = f"the scheduler at {address} does not answer: {error}"
        raise SetupError(reason) from None


@functools.cache
def course_version() -> str:
    """A digest of the package and of the versions of what grading stands on."""
    digest = hashlib.sha256()
    for name in ("torch", "numpy", "nbgrader", "nbclient", "nbformat", "ipykernel"):
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    folder = Path(autograder.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".safetensors", ".json", ".toml"):
            digest.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


# --- on a worker ---------------------------------------------------------------------


def grade_there(data: bytes, version: str) -> bytes:
    """Grade a task's bytes on this machine; runs in a thread of a Dask worker.

    Raises:
        CourseError: another version of the course was asked for, or see `Pool.submit`.
        NoSandboxError: this machine can grade nothing.
    """
    if version != course_version():
        raise CourseError("a worker of the cluster has a different version")
    folder = tempfile.mkdtemp(prefix="grading-")
    try:
        task = replace(Task.from_bytes(data), folder=f"{folder}/work")
        with _lock:
            future = _submitted(task)
        return future.result()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _submitted(task: Task) -> Future[bytes]:
    """A task in this worker's pool. Raises NoSandboxError: this machine has none.

    The pool is created with the first task and has one process per thread.
    """
    from distributed import get_worker

    worker = get_worker()
    if not _pools:
        shared = warmables(task.preprocessors, task.config)
        _pools.append(Pool(worker.state.nthreads, shared))
    try:
        return _pools[0].submit(task)
    except SetupError as error:
        raise NoSandboxError(worker.address, str(error)) from None
