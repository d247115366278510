"""Grading in the command's own process: for one job, and under a debugger."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from autograder.course.errors import CourseError
from autograder.grading.grade import grade
from autograder.grading.task import Graded, Task
from autograder.grading.warmable import Warmable
from autograder.grading.workers.cluster import Cluster
from autograder.grading.workers.parallel import Pool


class InlineExecutor:
    """Grades in this process, at once: what `Pool` is with one job.

    Args:
        shared: what grading needs, started beside our own imports.
    """

    slots = 1
    busy: Mapping[int, str] = {}

    def __init__(self, shared: Sequence[Warmable]) -> None:
        self._shared = shared
        self._waiting: threading.Thread | None = None

    def preload(self) -> None:
        """Start in the background what tasks need."""
        for one in self._shared:
            one.preload()

    def wait(self) -> None:
        with contextlib.suppress(CourseError):  # who needs it will say so
            for one in self._shared:
                one.wait()

    def submit(self, task: Task) -> Future[Graded]:
        if self._waiting is None:
            self._waiting = threading.Thread(target=self.wait)
            self._waiting.start()
        future: Future[Graded] = Future()
        try:
            future.set_result(grade(task))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing is left."""
        if self._waiting:
            self._waiting.join()


Executor = Pool | Cluster | InlineExecutor  # where submissions are graded
