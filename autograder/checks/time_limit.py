"""Interrupt code that computes for too long, with a signal to its own process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class TooLongError(BaseException):
    """Raised in code that takes too long; `except Exception` does not catch it."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `TooLongError` in a ``with`` block whose CPU time exceeds ``seconds``.

    This uses a signal: it works only in the main thread, and not on Windows.
    """

    def stop(*_: object) -> None:
        raise TooLongError

    # In a destructor, the error cannot be raised: Python would print it instead.
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    before = signal.signal(signal.SIGPROF, stop)
    # Repeated, since the first error may be lost in a destructor.
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        sys.unraisablehook = hook
