"""Make students' texts safe to print, and format counts."""

from __future__ import annotations


def printable(text: str) -> str:
    """Turn a text into one line that is safe to print in a table, log or terminal.

    White space becomes spaces, and other characters that do not print become "?".
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)


def format_count(count: int, noun: str) -> str:
    """A count and its noun: "1 exercise", "2 exercises"."""
    return f"{count} {noun}{'s' if count != 1 else ''}"
