"""A handle on a sandbox, for the trusted side: a socket to its supervisor."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import socket
import time
from typing import Any, cast

from autograder.sandbox.ending import EndReason
from autograder.sandbox.request import Usage

OBEY_SECONDS = 120.0  # for a supervisor to end its sandbox, on a busy machine
_STEP = 1.0  # seconds


class SandboxedProcess:
    """A running kernel, with the methods of a subprocess that Jupyter needs.

    The process `supervisor` watches it; `usage` is None until it has ended.
    """

    def __init__(self, connection: socket.socket, started: dict[str, Any]) -> None:
        self._connection, self._slot = connection, started["slot"]
        self.level, self.supervisor = started["level"], started["pid"]
        self.usage: Usage | None = None
        self._patience = math.inf  # deadline for its end

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs; set `usage` at the end."""
        if self.usage is None:
            try:
                answer = self._connection.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                # Told to end the sandbox, the supervisor has not done so: kill it.
                if time.monotonic() > self._patience:
                    with contextlib.suppress(ProcessLookupError):  # it has just ended
                        os.kill(self.supervisor, signal.SIGKILL)
                return None
            except OSError:
                answer = b""
            self.usage = self._last_words(answer)
            self._connection.close()
        return self.usage["exit"]

    def send_signal(self, number: int) -> None:
        """Signal the kernel and its children; SIGKILL ends the whole sandbox."""
        if number == signal.SIGKILL:
            self._patience = min(self._patience, time.monotonic() + OBEY_SECONDS)
        with contextlib.suppress(OSError):  # it has ended; `poll` says how
            word = json.dumps({"signal": int(number)}).encode()
            self._connection.send(word, socket.MSG_DONTWAIT)

    def kill(self) -> None:
        """End the sandbox at once."""
        self.send_signal(signal.SIGKILL)

    def _last_words(self, answer: bytes) -> Usage:
        """Read the supervisor's last message: how the sandbox ended, and its usage.

        Without a valid message, the supervisor counts as lost.
        """
        message = json.loads(answer) if answer else {}
        if message.pop("slot", self._slot) != self._slot or not message:
            message = {"error": EndReason.LOST, "ended": EndReason.LOST}
        ended = EndReason(message["ended"])
        if "error" not in message:
            return cast(Usage, message | {"ended": ended})
        return {  # its status is as after SIGKILL
            "exit": -9, "ended": ended, "reason": message["error"], "utime": 0.0,
            "stime": 0.0, "maxrss_mb": 0.0, "grouped": False,
        }  # fmt: skip


def readable(file: Any, seconds: float) -> bool:
    """Return whether a file or descriptor has something to read within some seconds."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    # In steps, since time for which we were stopped costs one step at most.
    steps = max(math.ceil(seconds / _STEP), 1)
    return any(poll.poll(seconds / steps * 1000) for _ in range(steps))
