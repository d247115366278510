"""Mistakes that recur in many exercises: message, question, and change to the solution.

common("base_1000", edit("10000**", "1000**"))
common("double", on="pairs.flatten(-2)")
"""

from __future__ import annotations

import tomllib

from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Mutant, Variant
from autograder.root import CONTENT

# By name, what a mistake ``says`` and ``asks``, and its ``change`` to a piece of the
# solution, if that is the same in all exercises.
TABLE: dict[str, dict[str, str]] = tomllib.loads(
    (CONTENT / "authoring" / "common.toml").read_text(encoding="utf-8")
)


def common(name: str, *variants: Variant, on: str = "", tests: str = "") -> Mutant:
    """A mistake of the table, made by these variants and, if given, by changing ``on``.

    Args:
        on: a piece of the solution, which the table's ``change`` replaces.
    """
    row = TABLE[name]
    first = [edit(on, row["change"].replace("{}", on))] if on else []
    return wrong(name, row["says"], row["asks"], *first, *variants, tests=tests)


def under_two_names(
    line: str, second: str, subject: str = "The weights", tests: str = ""
) -> Mutant:
    """The mistake of registering ``subject`` again in a ``second`` line after ``line``.

    The first line registers it for the first time.
    """
    return wrong(
        "under_two_names",
        f"{subject} appear in the state dict twice, under two names.",
        "What does `list(module.state_dict())` show?",
        edit(line, f"{line}\n{second}"),
        tests=tests,
    )
