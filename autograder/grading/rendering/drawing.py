"""The process that draws: it does one thing after the other, and may be killed.

Started by `sandbox/launch.py`, it reads requests from the socket that its argument
names and answers each with HTML, or with nothing if a parser has failed over it. Its
seconds are those of its own processor time, so that a busy machine costs nobody a
drawing; if it spends more than it was given, the system ends it.
"""

from __future__ import annotations

import contextlib
import logging
import math
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from autograder.course import child
from autograder.grading.ipc import Connection, ConnectionLostError
from autograder.grading.rendering import equations, texts
from autograder.grading.rendering.sanitise import clean_html
from autograder.sandbox import logs
from autograder.sandbox.launch import imported

log = logging.getLogger(__name__)

MEMORY = 1 << 30  # bytes of data that drawing may take
DRAWINGS: dict[str, Callable[..., str]] = {
    "html": clean_html,
    "markdown": texts.markdown,
    "latex": equations.latex,
    "code": texts.highlighted,
    "terminal": texts.terminal,
    "traceback": texts.traceback,
}


def main() -> None:
    """Draw what is asked for, until the other end closes."""
    control = Connection(socket.socket(fileno=int(sys.argv[1])))
    logs.name_process("rendering")
    imported()
    child.limit(MEMORY)
    with contextlib.suppress(ConnectionLostError):  # whoever asked has gone
        control.send({"ready": True}, math.inf)
        while True:
            request, _ = control.receive(math.inf)
            control.send(_draw(request), math.inf)


def _draw(request: dict[str, Any]) -> dict[str, Any]:
    started = time.process_time()
    _alarm(request["seconds"])
    try:
        html = DRAWINGS[request["kind"]](**request["values"])
    except (Exception, RecursionError):  # other people's parsers, of anybody's text
        log.debug("%s: not drawn", request["kind"], exc_info=True)
        html = None
    _alarm(0.0)
    return {"html": html, "seconds": time.process_time() - started}


def _alarm(seconds: float) -> None:
    """Have the system end this process after so many seconds of processor time."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
