"""The log of every process: standard error, where each line names its process.

    [judge 4711] DEBUG attention/softmax of 1f3a09: decided in 0.213 s

Debug lines appear only after ``autograder --verbose`` or ``nbgrader --debug``.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from types import TracebackType

OPTION = "--debug"
_LOG = logging.getLogger("autograder")
_FORMAT = "[{} %(process)d] %(levelname)s %(message)s"
_subject: ContextVar[str] = ContextVar("subject", default="")

_Error = tuple[type[BaseException], BaseException, TracebackType | None]


class _Lines(logging.Formatter):
    """Formats a message as one line, escaping line breaks; indents tracebacks."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = _escaped(f"{_subject.get()}{record.message}")
        return super().formatMessage(record)

    def formatException(self, ei: _Error | tuple[None, None, None]) -> str:
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"    {_escaped(line)}" for line in lines)


def begin(process: str, debug: bool) -> None:
    """Log to standard error from now on, under the name `process`.

    With `debug`, debug lines are also shown.
    """
    _LOG.handlers[:] = [logging.StreamHandler(sys.stderr)]
    if debug:
        _LOG.setLevel(logging.DEBUG)
    name_process(process)


def follow(application: object) -> None:
    """Begin to log debug lines if an application does, such as ``nbgrader --debug``."""
    if getattr(application, "log_level", logging.INFO) <= logging.DEBUG:
        begin("nbgrader", debug=True)


def name_process(process: str) -> None:
    """Set the name of this process in log lines, for a fork of a process that logs."""
    for handler in _LOG.handlers:
        handler.setFormatter(_Lines(_FORMAT.format(process)))


@contextlib.contextmanager
def about(subject: str) -> Iterator[None]:
    """Begin each log line in a ``with`` block with its subject, like a submission."""
    token = _subject.set(f"{subject}: ")
    try:
        yield
    finally:
        _subject.reset(token)


def shows_debug() -> bool:
    """Whether debug lines are wanted, here and in processes that are started here."""
    return _LOG.getEffectiveLevel() <= logging.DEBUG


def _escaped(text: str) -> str:
    """A text that a student may have written, with its control characters escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
