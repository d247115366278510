"""The rendering process, which handles one text after the other and may be killed.

It reads requests from a socket and answers each with HTML, or with None if a
parser has failed. The system ends it if it exceeds a limit on processor time.
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

MEMORY = 1 << 30  # bytes of data that rendering may take
DRAWINGS: dict[str, Callable[..., str]] = {
    "html": clean_html,
    "markdown": texts.markdown,
    "latex": equations.latex,
    "code": texts.highlighted,
    "terminal": texts.terminal,
    "traceback": texts.traceback,
}


def main() -> None:
    """Render what is requested, until the other end closes."""
    control = Connection(socket.socket(fileno=int(sys.argv[1])))
    logs.name_process("rendering")
    imported()
    child.limit(MEMORY)
    with contextlib.suppress(ConnectionLostError):  # the other end is gone
        control.send({"ready": True}, math.inf)
        while True:
            request, _ = control.receive(math.inf)
            control.send(_draw(request), math.inf)


def _draw(request: dict[str, Any]) -> dict[str, Any]:
    """Render one text, and measure the processor time.

    Args:
        request: "kind" (a key of `DRAWINGS`), "values" (the arguments of the function
            there) and "seconds" (the limit on processor time).

    Returns:
        "html", which is None if a parser has failed, and "seconds".
    """
    started = time.process_time()
    _alarm(request["seconds"])
    try:
        html = DRAWINGS[request["kind"]](**request["values"])
    except (Exception, RecursionError):  # third-party parsers of untrusted text
        log.debug("%s: not drawn", request["kind"], exc_info=True)
        html = None
    _alarm(0.0)
    return {"html": html, "seconds": time.process_time() - started}


def _alarm(seconds: float) -> None:
    """Make the system end this process after some processor time; 0 cancels this."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
