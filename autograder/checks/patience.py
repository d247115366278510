"""Print which case a slow check has reached, while it runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from autograder.checks.console import showable
from autograder.checks.frontend import is_attended
from autograder.checks.language import _

FIRST, AGAIN = 5.0, 30.0  # seconds until the first report, and between later ones


@dataclass
class Running:
    """The state of a running check: which case it is at, 0 before the first."""

    cases: int
    case: int = 0
    title: str = ""
    started: float = field(default_factory=time.monotonic)

    def begin(self, title: str) -> None:
        """Note that the next case begins."""
        self.case, self.title = self.case + 1, title

    def __str__(self) -> str:
        return _("case {number} of {all} ({title})").format(
            number=self.case, all=self.cases, title=self.title
        )

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


@contextmanager
def report_status(
    running: Running, first: float = FIRST, interval: float = AGAIN
) -> Iterator[None]:
    """Print which case runs after ``first`` seconds, then every ``interval`` seconds.

    Nothing is printed if a program runs the notebook.
    """
    if not is_attended():
        yield
        return
    finished, stream = threading.Event(), sys.stdout

    def tell() -> None:
        """Print the running case again and again, until the checks have finished."""
        pause = first
        while not finished.wait(pause):
            pause = interval
            text = _("(still running: {case}; interrupt the kernel to stop)")
            message = showable(text.format(case=running), stream)
            print(message, file=stream, flush=True)

    thread = threading.Thread(target=tell, name="patience", daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
