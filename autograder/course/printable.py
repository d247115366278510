"""Make students' texts safe to print, and format counts."""

from __future__ import annotations


def printable(text: str) -> str:
    """Turn a text into one line that is safe to print in a table, log or terminal.

    Every kind of line end (also a carriage return, or U+2028) and of blank becomes a
    space. Control characters, such as those of terminal escapes, and marks that change
    the direction of writing become "?".
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)


def format_count(count: int, noun: str) -> str:
    """A count and its noun: "1 exercise", "2 exercises"."""
    return f"{count} {noun}{'s' if count != 1 else ''}"
