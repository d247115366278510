"""Mistakes that recur in many exercises: message, question, and change to the solution.

An exercise lists them with edits of its own, or with the piece of its solution to which
the common change applies:

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
    """Make a mistake that recurs in many exercises, from the row ``name`` of a table.

    Args:
        variants: wrong programs that make the mistake.
        on: a piece of the solution to which the row's change applies; "" for none.
        tests: words quoted from the requirement that the mistake breaks.
    """
    row = TABLE[name]
    first = [edit(on, row["change"].replace("{}", on))] if on else []
    return wrong(name, row["says"], row["asks"], *first, *variants, tests=tests)


def under_two_names(
    line: str, second: str, subject: str = "The weights", tests: str = ""
) -> Mutant:
    """Make the mistake of registering parameters twice in a module, under two names.

    Args:
        line: the line of the solution that registers them.
        second: the line to add after it, which registers them again.
        subject: what is registered; the message begins with it.
        tests: words quoted from the requirement that the mistake breaks.
    """
    return wrong(
        "under_two_names",
        f"{subject} appear in the state dict twice, under two names.",
        "What does `list(module.state_dict())` show?",
        edit(line, f"{line}\n{second}"),
        tests=tests,
    )
