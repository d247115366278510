"""Submissions on their way: begun in order, graded anywhere, recorded in order."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from autograder.course.errors import CourseError
from autograder.grading.grade import grade
from autograder.grading.metadata import GradingMetadata
from autograder.grading.task import Graded, Task
from autograder.grading.warmable import Warmable
from autograder.grading.workers.cluster import Cluster
from autograder.grading.workers.parallel import Pool
from autograder.grading.workers.reply import opened

MOST_AHEAD = 256  # submissions that may wait for a slow one before them
MOST_AHEAD_BYTES = 256 << 20


@dataclass
class Work:
    """A notebook that is being graded, or is up to date: then it has no future."""

    task: Task
    digest: str
    known: GradingMetadata
    future: Future[Any] | None = None

    def graded(self, log: logging.Logger) -> Graded:
        """What came of it, or what grading raised."""
        assert self.future
        result = self.future.result()
        return result if isinstance(result, Graded) else opened(result, self.task, log)


@dataclass
class Begun:
    """A submission on its way, and what is kept for it until it is recorded.

    ``final``: it is its second try.
    """

    student: str
    final: bool = False
    stamp: Any = None
    texts: Mapping[str, bytes] = field(default_factory=dict)
    works: list[Work] = field(default_factory=list)
    error: Exception | None = None
    kept: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def futures(self) -> list[Future[Any]]:
        return [work.future for work in self.works if work.future]

    @property
    def done(self) -> bool:
        return all(future.done() for future in self.futures)

    @property
    def held(self) -> int:
        """The bytes of results that wait to be recorded."""
        ended = [f for f in self.futures if f.done() and not f.exception()]
        return sum(len(f.result()) for f in ended if isinstance(f.result(), bytes))

    def close(self) -> None:
        self.kept.close()


class Here:
    """Grades in this process, at once: what `Pool` is with one job."""

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
        if self._waiting is None:  # beside our own imports
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


Slots = Pool | Cluster | Here  # where submissions are graded


def enough(begun: Iterable[Begun], slots: Slots) -> bool:
    """Whether no more should begin: all slots have work, or too much waits."""
    waiting = list(begun)
    running = sum(not one.done for one in waiting)
    return (
        running > slots.slots
        or len(waiting) >= MOST_AHEAD
        or sum(one.held for one in waiting) > MOST_AHEAD_BYTES
    )


def names_of(busy: Mapping[int, str]) -> str:
    """Who is being graded, in a few words."""
    names = list(dict(busy).values())
    more = f" +{len(names) - 3}" if len(names) > 3 else ""
    return ", ".join(name[:16] for name in names[:3]) + more
