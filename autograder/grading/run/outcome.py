"""The outcomes of grading submissions, for the person who ran the command."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode
from tqdm.contrib.logging import logging_redirect_tqdm

from autograder.grading.cells.one_cell import TIMEOUT
from autograder.grading.intake import Repair
from autograder.grading.metadata import GradingMetadata

STATES = ("graded", "up to date", "refused", "undecided")


@dataclass(frozen=True)
class Outcome:
    """The outcome of grading a notebook; ``status`` is one of ``STATES``.

    ``id`` identifies the submission that the result is of; "" if nothing was decided.
    """

    student: str
    status: str
    reason: str = ""
    repairs: tuple[Repair, ...] = ()
    id: str = ""

    @property
    def needs_person(self) -> bool:
        return self.status in ("refused", "undecided")

    def __str__(self) -> str:
        parts = [f"{self.student}: {self.status}"]
        parts += [f": {self.reason}"] if self.reason else []
        if self.repairs and self.status != "refused":
            parts += [f"; put right: {' '.join(r.says for r in self.repairs)}"]
        return "".join(parts)


def outcome_of(student: str, status: str, metadata: GradingMetadata) -> Outcome:
    """The outcome of a notebook, from the metadata of its grading."""
    reason, repairs = metadata.refused, metadata.repairs
    status = "refused" if reason else status
    return Outcome(student, status, reason, repairs, metadata.id or "")


def out_of_time(notebook: NotebookNode, metadata: GradingMetadata) -> list[str]:
    """The checks and cells of a graded notebook that did not end in time.

    A cell without a name is called by its number and its first line.
    """
    checks = metadata.checks
    names = [
        name for name, record in checks.items() if record.ended and record.ended.is_time
    ]
    for number, cell in enumerate(notebook.cells, start=1):
        line = next(iter(cell.source.strip().splitlines()), "")
        label = f"cell {number} ({line[:40]})"
        name = cell.metadata.get("nbgrader", {}).get("grade_id", label)
        if name not in checks and any(
            output.get("ename") == TIMEOUT for output in cell.get("outputs", ())
        ):
            names.append(name)
    return names


def summary(outcomes: Sequence[Outcome]) -> str:
    """Count the notebooks by their status, in a line."""
    counts = ((sum(o.status == state for o in outcomes), state) for state in STATES)
    return ", ".join(f"{n} {state}" for n, state in counts if n) or "nothing to do"


@contextlib.contextmanager
def above_bar(log: logging.Logger) -> Iterator[None]:
    """Print log lines above the progress bar while a ``with`` block runs."""
    before, level_before = list(log.handlers), log.level
    level = max((handler.level for handler in before), default=logging.NOTSET)
    with logging_redirect_tqdm([log]):
        # tqdm's own handler would print even what the others left out.
        for handler in log.handlers:
            if handler not in before:
                handler.setLevel(level)
        log.setLevel(max(level_before, _least_heard(log)))
        try:
            yield
        finally:
            log.setLevel(level_before)


def _least_heard(log: logging.Logger) -> int:
    """The lowest level that any handler of a logger or its parents prints."""
    levels = [logging.CRITICAL]
    logger: logging.Logger | None = log
    while logger is not None:
        levels += [handler.level for handler in logger.handlers]
        logger = logger.parent if logger.propagate else None
    return min(levels)
