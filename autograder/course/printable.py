"""Words of a student's, and counts, as a table, a log or a terminal shows them."""

from __future__ import annotations


def printable(text: str) -> str:
    """A text as one line that shows all it holds.

    Whatever ends a line somewhere (a carriage return, U+2028) is a blank here, as is
    any other kind of blank. A "?" stands for a control character, such as that of a
    terminal's escapes, and for a mark that turns the direction of writing.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)


def format_count(count: int, noun: str) -> str:
    """A count and its noun: "1 exercise", "2 exercises"."""
    return f"{count} {noun}{'s' if count != 1 else ''}"
