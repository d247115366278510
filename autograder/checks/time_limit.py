"""End code that computes for too long, from inside its process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class TooLongError(BaseException):
    """Raised in code that does not end; `except Exception` does not catch it."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in code that uses more CPU time than this.

    The signal is repeated, since an exception that is raised in a callback of the
    garbage collector is lost. Reports of such lost exceptions are switched off
    meanwhile, because the next signal would interrupt them.
    """

    def stop(*_: object) -> None:
        raise TooLongError

    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        sys.unraisablehook = hook
