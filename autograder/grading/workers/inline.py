"""Grade in the command's own process: for one job, and under a debugger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from autograder.grading.grade import grade
from autograder.grading.task import Graded, Task
from autograder.grading.warmable import Warmable
from autograder.grading.workers.cluster import Cluster
from autograder.grading.workers.parallel import Pool


class InlineExecutor:
    """An executor in this process; `submit` returns once the task is graded.

    ``shared`` are processes that tasks need, such as the server of sandboxes.
    """

    slots = 1
    busy: Mapping[int, str] = {}

    def __init__(self, shared: Sequence[Warmable]) -> None:
        self._shared = shared

    def preload(self) -> None:
        """Start in the background what tasks need."""
        for warmable in self._shared:
            warmable.preload()

    def submit(self, task: Task) -> Future[Graded]:
        future: Future[Graded] = Future()
        try:
            future.set_result(grade(task))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Do nothing, since there is no process to end."""


Executor = Pool | Cluster | InlineExecutor  # where submissions are graded
