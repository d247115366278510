"""Tracebacks without the frames that are not the student's."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator

from nbconvert.filters import strip_ansi

# No `\s`: it would try each of many blank lines with all that follow.
_FRAME = re.compile(
    r"^[ \t]*(?:Cell In\[(\d{1,9})\]|File |<ipython-input-(\d{1,9}))", re.MULTILINE
)


def trimmed(text: str, own: Collection[str], ends: str) -> str:
    """The frames of a traceback in the cells ``own`` (their numbers), then ``ends``."""
    return "\n".join([*_frames(str(strip_ansi(text)), own), ends])


def _frames(text: str, own: Collection[str]) -> Iterator[str]:
    found = list(_FRAME.finditer(text))
    ends = [*(frame.start() for frame in found), len(text)]
    for frame, (start, end) in zip(found, itertools.pairwise(ends), strict=True):
        if (frame[1] or frame[2]) in own:
            # A frame ends at its blank line; the last is followed by the message.
            yield text[start:end].strip("\n").split("\n\n")[0]
