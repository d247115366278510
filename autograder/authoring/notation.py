"""The words in which an exercise's file says its cases, mistakes and solutions.

A mistake is its name, what to say, what to ask, and ways to make it:

    wrong("least",
          "You found the key that fits *worst*.",
          "Does a large score mean a good or a bad fit?",
          edit("argmax", "argmin"),
          edit("argmax", "neg().argmax", name="largest_negative"))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.authoring.specification import CaseKind, Edit, Mutant, Way

case = CaseKind  # case(name, title, inputs, hint, ...)


def wrong(
    name: str, says: str, asks: str, *ways: Way, unsteady: Sequence[str] = ()
) -> Mutant:
    """A named mistake, what to say and to ask about it, and ways to make it.

    Args:
        unsteady: cases in which rounding decides its answers; see `Mutant`.
    """
    return Mutant(name=name, says=says, asks=asks, ways=ways, unsteady=unsteady)


def right(name: str, way: Way) -> Way:
    """A correct solution in another style."""
    return replace(way, name=name)


def edit(old: str, new: str, *more: str, name: str = "") -> Way:
    """The solution with ``new`` for ``old``; ``more`` are further pairs like these.

    Raises:
        ValueError: an old text has no new one.
    """
    texts = (old, new, *more)
    pairs = zip(texts[::2], texts[1::2], strict=True)
    return Way(name=name, edits=[Edit(*pair) for pair in pairs])


def source(code: str, name: str = "") -> Way:
    """Code of its own in place of the solution."""
    return Way(name=name, source=code)


def student_program(code: str, name: str = "") -> Way:
    """Code that a student handed in, in place of the solution; a sandbox executes it.

    ``autograder unnamed --adopt`` writes it.
    """
    return Way(name=name, source=code, confined=True)
