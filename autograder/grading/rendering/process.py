"""The handle on the process that draws (`drawing`), which may be killed over it."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.course.errors import CourseError

_PROCESS = "autograder.grading.rendering.drawing"


@dataclass(frozen=True)
class Drawing:
    """What came of a request: HTML, or None, and the seconds that it took."""

    html: str | None
    seconds: float


class Drawer:
    """The handle on the process that draws; started when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # a request and its answer belong together
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def draw(self, kind: str, values: Mapping[str, object], seconds: float) -> Drawing:
        """Draw ``values``, arguments of one of `drawing.DRAWINGS`, in so many seconds.

        Raises:
            CourseError: the process does not start.
        """
        request = {"kind": kind, "values": values, "seconds": seconds}
        with self._lock:
            try:
                control = self._started()
                put(control, request)
                # The machine may be busy; but nobody waits for ever.
                if not select.select([control], [], [], 20 * seconds + 20)[0]:
                    raise TimeoutError
                reply = get(control)
            except OSError:
                reply = None
            if reply is None:
                self.close()
                return Drawing(None, seconds)
        return Drawing(reply["html"], reply["seconds"])

    def close(self) -> None:
        """End the process; the next drawing starts another one."""
        if self._process and self._control:
            self._control.close()
            self._process.kill()
            self._process.wait()
        self._process = self._control = None

    def _started(self) -> socket.socket:
        if self._control is None:
            self._control, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", _PROCESS, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env=_environment(),
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C is for the one who asks
                )
            if get(self._control) is None:  # its imports are nobody's seconds
                self.close()
                raise CourseError("the process that draws does not start; see above")
        return self._control


def _environment() -> dict[str, str]:
    paths = [path or os.getcwd() for path in sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def put(control: socket.socket, message: object) -> None:
    """Send a message; both ends are ours."""
    data = json.dumps(message).encode()
    control.sendall(len(data).to_bytes(4, "big") + data)


def get(control: socket.socket) -> dict[str, Any] | None:
    """The next message, None at the end."""
    head = control.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return None
    size = int.from_bytes(head, "big")
    data = bytearray()
    while len(data) < size:
        part = control.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    message: dict[str, Any] = json.loads(data)
    return message
