"""The notation in which an exercise's file writes its cases, mistakes and solutions.

A mistake has a name, a message, a question, and variants of the solution that make it:

    wrong("least",
          "You found the key that fits *worst*.",
          "Does a large score mean a good or a bad fit?",
          edit("argmax", "argmin"),
          edit("argmax", "neg().argmax", name="largest_negative"))

Variants without a name are named after the mistake, with numbers: "least", "least_2".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autograder.authoring.specification import (
    CaseKind,
    Edit,
    InputSizes,
    Mutant,
    Variant,
)

case = CaseKind  # case(name, title, inputs, hint, ...)


def sizes(
    *, below: int = 0, scale: float = 2.0, dtype: str = "", **values: Any
) -> InputSizes:
    """State the sizes in which a case draws its inputs: ``sizes(B=2, L=5, d_k=6)``.

    The name of an argument may stand for its value, its shape, or a function that
    draws it: ``ids=lambda draw, B, L: draw.ids(4, 9, B, L)``. See `InputSizes`.
    """
    return InputSizes(values, below, scale, dtype)


def wrong(
    name: str,
    says: str,
    asks: str,
    *variants: Variant,
    tests: str = "",
) -> Mutant:
    """Make a known mistake, which a check can recognise in a student's answers.

    Args:
        says, asks: the message and the question that the check then shows.
        variants: wrong programs, from `edit`, `source` or `student_program`.
        tests: words quoted from the requirement that the mistake breaks.
    """
    return Mutant(name=name, says=says, asks=asks, variants=variants, tests=tests)


def right(name: str, variant: Variant, tests: str = "") -> Variant:
    """Make an accepted solution: one in a different style, which must get every point.

    Args:
        variant: the change to the notebook's solution, by `edit` or `source`.
        tests: words quoted from the requirement that allows this style.
    """
    return replace(variant, name=name, tests=tests)


def edit(old: str, new: str, *pairs: str, name: str = "") -> Variant:
    """Make a variant of the solution, with ``new`` in place of the text ``old``.

    Args:
        pairs: further texts to replace, each followed by its new text.
    """
    texts = (old, new, *pairs)
    edits = [Edit(*pair) for pair in zip(texts[::2], texts[1::2], strict=True)]
    return Variant(name=name, edits=edits)


def source(code: str, name: str = "") -> Variant:
    """Make a variant whose ``code`` replaces the whole solution."""
    return Variant(name=name, source=code)


def student_program(code: str, name: str = "") -> Variant:
    """Make a variant from a student's program, which runs only in a sandbox."""
    return Variant(name=name, source=code, confined=True)
