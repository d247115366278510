"""Clauses, times and places that several forms of sentences share."""

from __future__ import annotations

from collections.abc import Callable

from transformer_course.library.grammar import Deed, Writer
from transformer_course.library.words import DAYS

PAST = ("yesterday", "last night", "last week", "last summer", "this morning",
        "a week ago", "two days ago", "three weeks ago", "five years ago",
        *(f"on {day}" for day in DAYS))  # fmt: skip
FUTURE = ("tomorrow", "tomorrow morning", "next week", "next month", "soon",
          *(f"next {day}" for day in DAYS))  # fmt: skip
Form = Callable[[Writer], str]


def how_or_where(w: Writer, deed: Deed, share: float = 0.6) -> str:
    """Return a phrase for how or where a deed is done, such as " in the kitchen".

    With probability 1 - ``share`` or more, it is "" instead.
    """
    if not w.chance(share):
        return ""
    if deed.verb.manner and w.chance(0.5):
        return f" {deed.verb.manner}"
    return "" if deed.verb.placeless else f" {w.pick(deed.topic.places)}"


def timed(w: Writer, clause: str, time: str) -> str:
    """A sentence that consists of a clause and, before or after it, a time."""
    return f"{time}, {clause}." if w.chance(0.35) else f"{clause} {time}."


def in_words(
    w: Writer, deed: Deed, verb: str, ending: float = 0.6, definite: bool = False
) -> str:
    """Put a deed into words: its subject, verb, object, and how or where it is done.

    ``verb`` is the verb phrase, in the tense of the clause. ``ending`` is the
    probability of a phrase for how or where.
    """
    object_phrase = f" {w.object(deed, definite)}" if deed.noun else ""
    return f"{deed.subject.text} {verb}{object_phrase}{how_or_where(w, deed, ending)}"


def any_deed(w: Writer, intended: bool = False) -> Deed:
    """A random deed, with an object in three of four cases."""
    return w.deed(intended=intended) if w.chance(0.75) else w.act()


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
