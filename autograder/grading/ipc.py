"""Exchange messages between two trusted processes, completely or not at all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import socket
import time
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]
_HEAD = 4  # bytes that hold the length of what follows, big endian


class ConnectionLostError(Exception):
    """The other end is gone, or a message was late; use the connection no more."""


class ConnectionTimeoutError(ConnectionLostError):
    """A message was late; the other end may still be there."""


class Connection:
    """A stream socket that carries JSON messages and file descriptors.

    Each message has a deadline, as the other end may stop in the middle of it.
    """

    def __init__(self, socket_: socket.socket):
        self._socket = socket_
        socket_.setblocking(False)

    def fileno(self) -> int:
        """The socket's descriptor, for `select`."""
        return self._socket.fileno()

    def has_something(self) -> bool:
        """Whether there is something to read: a message, or the connection's end."""
        return _ready(self._socket, select.POLLIN, 0.0)

    def send(
        self, message: Message, seconds: float, descriptors: Sequence[int] = ()
    ) -> None:
        """Send a message within some seconds. Raises ConnectionLostError."""
        text = json.dumps(message).encode()
        data = len(text).to_bytes(_HEAD, "big") + text
        deadline = time.monotonic() + seconds
        try:
            while data:
                self._wait(select.POLLOUT, deadline)
                sent = socket.send_fds(self._socket, [data[: 1 << 20]], descriptors)
                data, descriptors = data[sent:], ()
        except OSError as error:
            raise ConnectionLostError("the other process is gone") from error

    def receive(self, seconds: float) -> tuple[Message, list[int]]:
        """Receive a message and its file descriptors within some seconds.

        Raises:
            ConnectionLostError: no complete and valid message came.
        """
        deadline = time.monotonic() + seconds
        descriptors: list[int] = []
        try:
            head = self._read(_HEAD, deadline, descriptors)
            text = self._read(int.from_bytes(head, "big"), deadline, descriptors)
            return json.loads(text), descriptors
        except (OSError, ValueError, ConnectionLostError) as error:
            for descriptor in descriptors:
                os.close(descriptor)
            if isinstance(error, ConnectionLostError):
                raise
            raise ConnectionLostError("the other process is gone") from error

    def shutdown(self) -> None:
        """Shut the connection down; a thread that waits for a message gets an error."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _read(self, size: int, deadline: float, descriptors: list[int]) -> bytes:
        """Read exactly ``size`` bytes; append the descriptors that come with them."""
        parts = bytearray()
        while len(parts) < size:
            self._wait(select.POLLIN, deadline)
            most = min(size - len(parts), 1 << 20)
            part, received, _, _ = socket.recv_fds(self._socket, most, 1)
            descriptors += received
            if not part:
                raise ConnectionLostError("the other process is gone")
            parts += part
        return bytes(parts)

    def _wait(self, events: int, deadline: float) -> None:
        """Wait for the socket; raise ConnectionTimeoutError after the deadline."""
        if not _ready(self._socket, events, deadline - time.monotonic()):
            raise ConnectionTimeoutError("the other process does not answer")


def _ready(file: socket.socket, events: int, seconds: float) -> bool:
    """Whether a socket becomes ready within some seconds."""
    poll = select.poll()
    poll.register(file, events)
    return bool(poll.poll(None if seconds == math.inf else max(seconds, 0.0) * 1000))
