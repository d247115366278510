"""Submissions whose grading has begun, and whose results have not been recorded yet."""

from __future__ import annotations

import contextlib
import datetime
import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from autograder.grading.metadata import GradingMetadata
from autograder.grading.task import Graded, Task
from autograder.grading.workers.reply import read_reply

MOST_AHEAD = 256  # submissions that may wait for a slow one before them
MOST_AHEAD_BYTES = 256 << 20


@dataclass
class InFlightSubmission:
    """A submission that is being graded, with all that is needed to record it.

    Attributes:
        final: whether this is its second try, and the last one.
        stamp: when it was handed in; in UTC, without zone.
        beside: files that are published with the result.
        earlier: by notebook, the metadata that an earlier run stored.
        futures: by notebook, the future result, if it is graded again.
        error: why grading could not be started.
        cleanup: releases locks and removes folders when the submission is closed.
    """

    student: str
    final: bool = False
    stamp: datetime.datetime | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    tasks: tuple[Task, ...] = ()
    earlier: dict[str, GradingMetadata] = field(default_factory=dict)
    futures: dict[str, Future[Any]] = field(default_factory=dict)
    error: Exception | None = None
    cleanup: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @property
    def running(self) -> list[Future[Any]]:
        """The futures of notebooks whose grading has not ended yet."""
        return [future for future in self.futures.values() if not future.done()]

    @property
    def size(self) -> int:
        """The bytes of results that wait to be recorded."""
        ended = [f for f in self.futures.values() if f.done() and not f.exception()]
        return sum(len(f.result()) for f in ended if isinstance(f.result(), bytes))

    def close(self) -> None:
        self.cleanup.close()


def result_of(future: Future[Any], task: Task, log: logging.Logger) -> Graded:
    """Return a task's result, or raise what grading raised.

    If another process graded it, ``future`` holds the bytes of its reply, whose
    warnings go to ``log``.
    """
    result = future.result()
    return result if isinstance(result, Graded) else read_reply(result, task, log)


def is_at_capacity(begun: Iterable[InFlightSubmission], slots: int) -> bool:
    """Whether to start no more submissions: all slots are busy, or results pile up."""
    waiting = list(begun)
    running = sum(bool(submission.running) for submission in waiting)
    return (
        running > slots
        or len(waiting) >= MOST_AHEAD
        or sum(submission.size for submission in waiting) > MOST_AHEAD_BYTES
    )


def names_of(busy: Mapping[int, str]) -> str:
    """Name the first three students who are being graded, and count the others."""
    names = list(dict(busy).values())
    suffix = f" +{len(names) - 3}" if len(names) > 3 else ""
    return ", ".join(name[:16] for name in names[:3]) + suffix
