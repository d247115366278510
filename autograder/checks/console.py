"""What is printed, in characters that the console has."""

from __future__ import annotations

import io
import sys
from typing import TextIO

_PLAIN = str.maketrans(
    {"✓": "+", "✗": "x", "◐": "~", "·": "-", "→": "->", "–": "-", "−": "-"}
)


def showable(text: str, stream: TextIO | None = None) -> str:
    """A text as a stream (by default, standard output) can show it.

    A notebook shows all of it. A console or a file on Windows often knows one code page
    only, cp1252 has no tick, and Python would raise UnicodeEncodeError: there, signs
    become plain ones, and what is left becomes "?".
    """
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    if text.encode(encoding, "ignore").decode(encoding) == text:
        return text
    return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)


def forgive() -> None:
    """Have a console show "?" for what it lacks, whoever prints, instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
