"""The terminal of a command: streams that may be closed, Ctrl-C, and how it ends."""

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
_STOPS = ("SIGTERM", "SIGHUP")  # of a batch system, and of a terminal that closes


def settle() -> None:
    """Open closed streams, and have Ctrl-C and similar signals end with one line.

    If a stream were closed, its number would go to the next file that is opened, and a
    library's complaints would be written into that file. What would go to a closed
    stderr goes to stdout.
    """
    _read_names_alike()
    for number in range(_STREAMS):
        try:
            os.fstat(number)
        except OSError:  # those below are open: it gets this number
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    # Where a stream is closed, it is None, whatever its type says.
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

    Otherwise a student's folder would not have the name that it has in the gradebook.
    Only our own commands are restarted, not a server that reads our settings.
    """
    ours = {"nbgrader", "autograder"}
    is_ours = ours & {Path(sys.argv[0]).name, *sys.orig_argv[1:3]}
    if sys.getfilesystemencoding().lower() != "utf-8" and is_ours:
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _stop_alike() -> None:
    """Let further signals stop a command as Ctrl-C does, unless they are ignored."""
    for name in _STOPS:
        number = getattr(signal, name, None)  # not every system has all
        if number and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _log_there(stream: TextIO) -> None:
    """Send logs that were opened on a closed stderr to this stream."""
    for name in logging.root.manager.loggerDict:
        for handler in logging.getLogger(name).handlers:
            if isinstance(handler, logging.StreamHandler) and not handler.stream:
                handler.setStream(stream)


def _end(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say in a line that the command was stopped, or what a person has to mend.

    Any other error is as usual.

    Raises:
        SystemExit: it was stopped, or has to be mended.
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
