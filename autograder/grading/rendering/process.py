"""Send texts to the rendering process (`drawing`), and replace it when it has ended."""

from __future__ import annotations

import logging
import math
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course import child
from autograder.course.errors import CourseError
from autograder.grading.ipc import Connection, ConnectionLostError
from autograder.sandbox import launch

log = logging.getLogger(__name__)

_PROCESS = "autograder.grading.rendering.drawing"


@dataclass(frozen=True)
class Drawing:
    """A rendered text, and the CPU seconds that rendering took.

    ``html`` is None if rendering failed.
    """

    html: str | None
    seconds: float


class Renderer:
    """A handle on one rendering process, which is started at the first request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # a request and its answer belong together
        self._process: subprocess.Popen[bytes] | None = None
        self._control: Connection | None = None

    def draw(self, kind: str, values: Mapping[str, object], seconds: float) -> Drawing:
        """Have the rendering process call ``drawing.DRAWINGS[kind](**values)``.

        If this fails or takes more CPU time than ``seconds``, the drawing has no HTML.

        Raises:
            CourseError: the process does not start.
        """
        request = {"kind": kind, "values": values, "seconds": seconds}
        with self._lock:
            try:
                # A busy machine may take longer, but not for ever.
                patience = 20 * seconds + 20
                control = self._connect()
                control.send(request, patience)
                reply, _ = control.receive(patience)
            except ConnectionLostError:
                log.debug("%s: not drawn in %s s; its process is ended", kind, seconds)
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

    def _connect(self) -> Connection:
        """The connection to the process, which is started if necessary."""
        if self._control is None:
            self._process, ours = child.start(launch.command(_PROCESS))
            self._control = Connection(ours)
            try:
                self._control.receive(math.inf)  # its imports do not count
            except ConnectionLostError:
                self.close()
                reason = "the process that draws does not start; see above"
                raise CourseError(reason) from None
        return self._control
