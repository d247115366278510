"""Prepare a command's streams, signals and error messages for any terminal."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import TextIO

from traitlets import TraitError

from autograder.course.errors import CourseError

_STREAMS = 3  # stdin, stdout and stderr, by number
_STOPS = ("SIGTERM", "SIGHUP")  # sent by a batch system, or when the terminal closes


def settle() -> None:
    """Prepare this process's streams, signals and error messages for a command.

    It can then run with closed streams, and Ctrl-C ends it without a traceback.
    """
    _read_names_alike()
    for number in range(_STREAMS):
        try:
            os.fstat(number)
        except OSError:  # all lower numbers are in use, so `open` returns this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    # A stream that was closed at the start is None, although its type excludes that.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (it stays)
    if not sys.stderr:
        sys.stderr = sys.stdout
        _log_there(sys.stdout)
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _end
    if threading.current_thread() is threading.main_thread():
        _stop_alike()


def _read_names_alike() -> None:
    """Restart a command in UTF-8 if its locale decodes file names differently.

    Otherwise, the name of a student's folder could differ from the gradebook's.
    """
    ours = {"nbgrader", "autograder"}
    is_ours = ours & {Path(sys.argv[0]).name, *sys.orig_argv[1:3]}
    if sys.getfilesystemencoding().lower() != "utf-8" and is_ours:
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _stop_alike() -> None:
    """Let SIGTERM and SIGHUP stop a command as Ctrl-C does, unless they are ignored."""
    for name in _STOPS:
        number = getattr(signal, name, None)  # some systems lack some signals
        if number and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _log_there(stream: TextIO) -> None:
    """Let the handlers of named loggers that have no stream write to this one.

    A handler has no stream if stderr was closed when the handler was made.
    """
    for name in logging.root.manager.loggerDict:
        for handler in logging.getLogger(name).handlers:
            if isinstance(handler, logging.StreamHandler) and not handler.stream:
                handler.setStream(stream)


def _end(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print an uncaught error, as ``sys.excepthook``: in one line if possible.

    Raises:
        SystemExit: the error was printed in one line.
    """
    if issubclass(kind, CourseError | TraitError):
        print(f"nbgrader: {error}", file=sys.stderr)
        raise SystemExit(1)
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    print(
        "Stopped. Nothing is lost; run the same command to start again.",
        file=sys.stderr,
    )
    raise SystemExit(128 + signal.SIGINT)
