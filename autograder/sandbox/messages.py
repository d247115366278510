"""A filter for a sandbox's messages, so that its client never stores a large one.

It reads the parts of messages as ZeroMQ frames them (ZMTP 3.1, RFC 37), and
passes on whole messages.
"""

from __future__ import annotations

from collections.abc import Callable

_GREETING = 64
_SIGNATURE = {0: 0xFF, 9: 0x7F, 10: 3}  # by position; versions before 3 differ
_MORE, _LONG, _COMMAND = 1, 2, 4
_PART = 512  # bytes counted for storing a part, even if it is empty


class ExcessError(Exception):
    """A sandbox has sent more than it may, or what no kernel sends."""


class Messages:
    """One direction of a connection: bytes in, whole messages out.

    Args:
        most: bytes that one message may take.
        count: called with the number of bytes that have arrived; may raise ExcessError.
        drops: whether a larger message is dropped; else it raises ExcessError.
    """

    def __init__(self, most: int, count: Callable[[int], None], *, drops: bool) -> None:
        self._most, self._count, self._drops = most, count, drops
        self._greeted = 0
        self._header = bytearray()  # of a part, until it is complete
        self._left = 0  # bytes of a part that are still to come
        self._in_part = False
        self._more = False  # whether the message goes on after this part
        self._size = 0  # of the message, as it was announced
        self._held = bytearray()

    def take(self, data: bytes) -> bytes:
        """Read what has arrived; return what may be passed on. Raises ExcessError."""
        self._count(len(data))
        unread = memoryview(data)
        passed = bytearray(self._read_greeting(unread))
        unread = unread[len(passed) :]
        # A part of length 0 is finished although nothing more arrives.
        while unread or (self._in_part and not self._left):
            if not self._in_part:
                unread = self._read_header(unread)
                continue
            part = unread[: self._left]
            self._left -= len(part)
            unread = unread[len(part) :]
            if self._size <= self._most:
                self._held += part
            if not self._left:
                passed += self._finish_part()
        return bytes(passed)

    def _read_greeting(self, unread: memoryview) -> memoryview:
        """Check and return the greeting's part of ``unread``. Raises ExcessError."""
        part = unread[: _GREETING - self._greeted]
        for place, byte in enumerate(part, start=self._greeted):
            if byte != _SIGNATURE.get(place, byte):
                raise ExcessError("speaks another protocol")
        self._greeted += len(part)
        return part

    def _read_header(self, unread: memoryview) -> memoryview:
        """Read the header of a part, as far as it has arrived; return what follows."""
        # The first byte says whether the size that follows has 8 bytes or one.
        length = 9 if (self._header or unread)[0] & _LONG else 2
        missing = length - len(self._header)
        self._header += unread[:missing]
        if len(self._header) == length:
            flags, size = self._header[0], int.from_bytes(self._header[1:], "big")
            self._in_part, self._left = True, size
            if not flags & _COMMAND:  # a command may come between two parts
                self._more = bool(flags & _MORE)
            elif size > self._most:
                raise ExcessError("sent a command that is too large")
            self._size += size + _PART
            self._hold_header()
        return unread[missing:]

    def _hold_header(self) -> None:
        """Keep a part's header, unless its message is too large."""
        if self._size <= self._most:
            self._held += self._header
        elif self._drops:
            self._held.clear()
        else:
            raise ExcessError("sent a message that is too large")
        self._header.clear()

    def _finish_part(self) -> bytes:
        """End a part; return the whole message if it was the last part, else b""."""
        self._in_part = False
        if self._more:
            return b""
        message = bytes(self._held)
        self._held.clear()
        self._size = 0
        return message
