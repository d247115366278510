"""Grade on other machines, through a Dask scheduler, as `Pool` does on this one.

Each Dask worker hands its tasks to a `Pool` of its own. A machine that cannot
start sandboxes gets no more tasks. A task contains all that it needs, including
the course's secret: use TLS where the network is not yours alone.
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
from autograder.root import CONTENT

PATIENCE = 30.0  # seconds for a scheduler to answer, and to have a worker
log = logging.getLogger("autograder.grading")
_lock = threading.Lock()
_pools: list[Pool] = []  # of this Dask worker: one at most


class NoSandboxError(Exception):
    """A worker's machine cannot grade; the arguments are its address and the reason."""


class Cluster:
    """Grades on the workers of a Dask scheduler. Needs the extra ``cluster``.

    Args:
        address: the scheduler's, like ``tcp://10.0.0.1:8786``.

    Raises:
        SetupError: there is no scheduler or worker, or a worker's version differs.
    """

    def __init__(self, address: str):
        """Connect to the scheduler, and refuse workers with another version."""
        self.busy: dict[int, str] = {}
        self._unfit: dict[str, str] = {}  # by worker, why it gets no tasks
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
        """How many tasks can run at once; this changes as workers come and go."""
        return sum(self._fit().values())

    def _fit(self) -> dict[str, int]:
        """Map the address of each worker that may grade to its number of threads."""
        threads = self._client.nthreads().items()
        return {name: count for name, count in threads if name not in self._unfit}

    def preload(self) -> None:
        """Do nothing, since the workers of a cluster have already been started."""

    def submit(self, task: Task) -> Future[bytes]:
        """Submit a task; the future is like that of `Pool.submit`.

        It also raises a CourseError, for example if no machine could grade the task.

        Raises:
            SetupError: the task's settings cannot be sent, or no worker can grade.
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
        """Send a serialised task to a worker; its result goes to ``future``.

        Raises:
            SetupError: all workers have turned out to be unfit.
        """
        among: dict[str, Any] = {}
        if self._unfit:
            # Others only if none of these is left; a worker that joins later may do.
            among = {"workers": list(self._fit()), "allow_other_workers": True}
            if not among["workers"]:
                name, reason = next(iter(self._unfit.items()))
                raise SetupError(f"no worker can grade; {name}: {reason}")
        self._executors.append(self._client.get_executor(pure=False, **among))
        sent = self._executors[-1].submit(grade_there, data, code_digest())
        sent.add_done_callback(functools.partial(self._settle, data, future))

    def _settle(self, data: bytes, future: Future[bytes], sent: Future[bytes]) -> None:
        """Pass the result that Dask's future ``sent`` holds to the caller's ``future``.

        If the machine that got the task could not grade, send the task again instead.
        """
        error = None if sent.cancelled() else sent.exception()
        if isinstance(error, NoSandboxError):
            # Not in this thread, which processes the scheduler's messages.
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
        """Give a task to a different worker than the one that could not grade it."""
        try:
            self._leave_out(*error.args)
            self._send(data, future)
        except Exception as fault:
            self.busy.pop(id(future), None)
            future.set_exception(fault)

    def _leave_out(self, worker: str, reason: str) -> None:
        """Give no more tasks to a worker."""
        if worker not in self._unfit:
            self._unfit[worker] = reason
            log.warning("the worker %s gets no more submissions: %s", worker, reason)

    def _watch(self) -> None:
        """Warn when tasks wait, but no worker is left."""
        has_warned = False
        while not self._closed.wait(PATIENCE):
            with contextlib.suppress(Exception):  # other calls report a lost connection
                waits = bool(self.busy) and not self._fit()
                if waits and not has_warned:
                    log.warning("no worker is left; waiting for a new one")
                has_warned = waits

    def close(self) -> None:
        """Cancel what has not ended, and disconnect from the scheduler."""
        self._closed.set()
        for executor in self._executors:
            executor.shutdown(wait=False)
        self._client.close()

    def _compare_versions(self) -> None:
        """Raise SetupError if a worker has a different version of the course."""
        try:
            theirs = self._client.run(code_digest)
        except ImportError as error:
            raise SetupError(f"a worker does not have the course: {error}") from error
        except OSError as error:
            raise SetupError(f"a worker was lost: {error}; try again") from error
        ours = code_digest()
        mismatched = [name for name, version in theirs.items() if version != ours]
        if mismatched:
            raise SetupError(
                f"{len(mismatched)} workers have a different version of the course or "
                f"of its libraries ({mismatched[0]}): install the same, and restart "
                "them"
            )


def _connected(address: str) -> Any:
    """Connect to a Dask scheduler; raises SetupError if that fails."""
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
def code_digest() -> str:
    """Return a digest of the engine, of the course and of the libraries for grading.

    A worker may grade only if its digest is that of the run.
    """
    digest = hashlib.sha256()
    for name in ("torch", "numpy", "nbgrader", "nbclient", "nbformat", "ipykernel"):
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    for folder in (Path(autograder.__file__).parent, CONTENT):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".safetensors", ".json", ".toml"):
                name = str(path.relative_to(folder.parent))
                digest.update(f"{name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


# --- on a worker ---------------------------------------------------------------------


def grade_there(data: bytes, version: str) -> bytes:
    """Grade a task's bytes on this machine; runs in a thread of a Dask worker.

    Raises:
        CourseError: this machine's version is a different one.
        GradingInfrastructureError: the processes that graded it died or hung.
        NoSandboxError: this machine cannot grade.
    """
    if version != code_digest():
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
    """Submit a task to this worker's pool, which is created with the first task.

    Raises:
        NoSandboxError: the pool's processes cannot be started on this machine.
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
