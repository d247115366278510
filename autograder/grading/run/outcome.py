"""How submissions fared, for the one who ran the command."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tqdm.contrib.logging import logging_redirect_tqdm

from autograder.grading.intake import Repair
from autograder.grading.metadata import GradingMetadata

STATES = ("graded", "up to date", "refused", "undecided")


@dataclass(frozen=True)
class Outcome:
    """How a notebook fared: ``status`` is one of ``STATES``.

    ``changes`` has what another grading changed: grade id -> score before and after.
    """

    student: str
    status: str
    reason: str = ""
    repairs: tuple[Repair, ...] = ()
    changes: Mapping[str, tuple[float | None, float | None]] = field(
        default_factory=dict
    )

    @property
    def needs_person(self) -> bool:
        return self.status in ("refused", "undecided")

    def __str__(self) -> str:
        parts = [f"{self.student}: {self.status}"]
        parts += [f": {self.reason}"] if self.reason else []
        parts += [f"; put right: {' '.join(r.says for r in self.repairs)}"] * bool(
            self.repairs
        )
        return "".join(parts)


def outcome(
    student: str, status: str, known: GradingMetadata, before: GradingMetadata
) -> Outcome:
    """The outcome of a notebook, from what is known of this grading and of the last."""
    old, new = before.scores or {}, known.scores or {}
    changes = {k: (old[k], v) for k, v in new.items() if k in old and old[k] != v}
    status = "refused" if known.refused else status
    return Outcome(student, status, known.refused, known.repairs, changes)


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many fared how."""
    counts = ((sum(o.status == state for o in outcomes), state) for state in STATES)
    return ", ".join(f"{n} {state}" for n, state in counts if n) or "nothing to do"


def changes(outcomes: Sequence[Outcome]) -> list[str]:
    """The scores that grading again has changed, as lines of a table; [] for none."""
    rows = [
        (one.student, name, *map(_points, pair))
        for one in outcomes
        for name, pair in sorted(one.changes.items())
    ]
    if not rows:
        return []
    rows = [("student", "graded cell", "before", "after"), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  "
        f"{row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}"
        for row in rows
    ]


def _points(score: float | None) -> str:
    return "-" if score is None else f"{score:g}"


@contextlib.contextmanager
def above_bar(log: logging.Logger) -> Iterator[None]:
    """Print log lines above the progress bar, no more of them than before.

    None is made that nobody prints: nbclient has ten for each cell that it runs.
    """
    before, level_before = list(log.handlers), log.level
    level = max((handler.level for handler in before), default=logging.NOTSET)
    with logging_redirect_tqdm([log]):
        for handler in log.handlers:
            if handler not in before:
                handler.setLevel(level)
        log.setLevel(max(level_before, _least_heard(log)))
        try:
            yield
        finally:
            log.setLevel(level_before)


def _least_heard(log: logging.Logger) -> int:
    """The least level that a handler prints."""
    levels = [logging.CRITICAL]
    here: logging.Logger | None = log
    while here is not None:
        levels += [handler.level for handler in here.handlers]
        here = here.parent if here.propagate else None
    return min(levels)
