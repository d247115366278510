"""Print text in characters that the console can show."""

from __future__ import annotations

import io
import sys
from typing import TextIO

_PLAIN = str.maketrans(
    {"✓": "+", "✗": "x", "◐": "~", "·": "-", "→": "->", "–": "-", "−": "-"}
)


def showable(text: str, stream: TextIO | None = None) -> str:
    """Replace the characters of a text that a stream (default: stdout) cannot show.

    They become ASCII symbols, or "?". On Windows, for instance, a console often
    lacks the tick.
    """
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    if text.encode(encoding, "ignore").decode(encoding) == text:
        return text
    return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)


def replace_unprintable() -> None:
    """Have `print` write "?" for what the console cannot show, instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
