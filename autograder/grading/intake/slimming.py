"""Read a large notebook in pieces, so that its outputs are never in memory.

Outputs and the state of widgets are dropped; all else is kept as it is.
"""

from __future__ import annotations

import re
from typing import IO

from autograder.grading.intake.common import RefusedError, SizeLimits

OUTPUTS = "outputs left out"  # the kind of a repair
CLEAR = "Edit > Clear Outputs of All Cells, save, hand in again"

_PIECE = 1 << 20  # bytes that are read at once
_DROPPED = (b'"outputs"', b'"widgets"')
_MOST_STEPS = 8 << 20  # marks that are examined one by one, which takes some seconds
_STRING = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
_IN_STRING = re.compile(_STRING, re.DOTALL)
_MARK = re.compile(rb'["{}\[\]:,]')
# Inside a dropped value, strings and flat lists are skipped as a whole.
_FLAT = rb'[^"{}\[\]]*+(?:"%s"[^"{}\[\]]*+)*+' % _STRING
_LISTS = rb"%s(?:[{\[]%s[}\]]%s)*+" % (_FLAT, _FLAT, _FLAT)
_UNIMPORTANT = re.compile(
    rb"%s(?:[{\[]%s[}\]]%s)*+" % (_FLAT, _LISTS, _FLAT), re.DOTALL
)


def read_slim(file: IO[bytes], limits: SizeLimits, room: int) -> tuple[bytes, int]:
    """Read a notebook of at most ``room`` bytes, if necessary without its outputs.

    Returns:
        The notebook, and the size of its file if outputs were left out, else 0.

    Raises:
        RefusedError: it is too large even so.
    """
    most = min(limits.notebook, room)
    if len(head := file.read(most + 1)) <= most:
        return head, 0
    slimmer, size = Slimmer(most), len(head)
    slimmer.take(head)
    while piece := file.read(_PIECE):
        size += len(piece)
        if size > limits.saved:
            raise RefusedError(f"is larger than {limits.saved >> 20} MB; {CLEAR}")
        slimmer.take(piece)
    return bytes(slimmer.kept), size


def describe_slimming(path: str, size: int) -> str:
    """Say that a notebook of so many bytes was read without its outputs."""
    return f"{path} has {size >> 20} MB: its saved outputs were left out."


class Slimmer:
    """An incremental scanner of notebook JSON; ``kept`` is the text without outputs.

    Args:
        most: the maximum number of bytes in ``kept``.
    """

    def __init__(self, most: int):
        self.kept = bytearray()
        self._most, self._steps = most, 0
        self._in_string = self._escaped = False
        self._start = 0  # of the last string, in `kept`
        self._depth = -1  # nesting inside a dropped value; -1 outside

    def take(self, piece: bytes) -> None:
        """Scan the next piece.

        Raises:
            RefusedError: the notebook is too large, or has too many parts.
        """
        at = 0
        while at < len(piece):
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise RefusedError(f"has too many parts; {CLEAR}")
            at = self._string(piece, at) if self._in_string else self._next(piece, at)

    def _string(self, piece: bytes, start: int) -> int:
        """Read on to the end of the string or piece; return where to go on."""
        # If the last piece ended with a backslash, the first byte is escaped.
        match = _IN_STRING.match(piece, min(start + self._escaped, len(piece)))
        end = match.end() if match else start
        self._escaped = piece[end : end + 1] == b"\\"  # the last byte of the piece
        self._in_string = piece[end : end + 1] != b'"'
        self._keep(piece[start : end + 1])
        return end + 1

    def _next(self, piece: bytes, start: int) -> int:
        """Go past the next quote, bracket, colon or comma; return where to go on.

        The value of a name to drop, such as "outputs", is replaced by ``[]``.
        """
        # `_depth` counts the brackets open inside a dropped value; it is -1 outside.
        at = start
        if self._depth > 0 and (passed := _UNIMPORTANT.match(piece, at)):
            at = passed.end()
        match = _MARK.search(piece, at)
        if not match:
            self._keep(piece[start:])
            return len(piece)
        mark, end = match[0], match.end()
        if self._depth < 0:
            self._keep(piece[start:end])
            if mark == b'"':
                self._start = len(self.kept) - 1
            # The string before a colon is the name of the value that follows.
            elif mark == b":" and self.kept[self._start : -1].strip() in _DROPPED:
                self.kept += b"[]"
                self._depth = 0
        elif self._depth == 0 and mark in b",}]":
            self._depth = -1
            return end - 1  # it belongs to what is around the value
        elif mark in b"{[":
            self._depth += 1
        elif mark in b"}]":
            self._depth -= 1
        self._in_string = mark == b'"'
        return end

    def _keep(self, part: bytes) -> None:
        """Keep a part of the file, unless it belongs to a dropped value."""
        if self._depth < 0:
            self.kept += part
            if len(self.kept) > self._most:
                raise RefusedError(
                    f"is larger than {self._most >> 20} MB even without its outputs"
                )
