"""Dropout that one place of a layer does without: in both placements, or in post-norm."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

BRANCH, RATE = ("self.dropout", "nn.Identity()"), ("dropout", "0.0")


def without_dropout(
    name: str, where: str, line: str, place: tuple[str, str] = BRANCH
) -> Mutant:
    """A mutant of each layer: ``{}`` in its line is where dropout stands."""
    given, nothing = place
    flag = "self.norm_first" if place == BRANCH else "norm_first"
    in_post = f"{given} if {flag} else {nothing}"
    return Mutant(
        name=name,
        says=f"In training, nothing is dropped {where}.",
        asks="Which places get dropout? Which ones does your code reach?",
        ways=[
            Way(edits=[Edit(line.format(given), line.format(nothing))]),
            Way(
                name=f"{name}_in_post_norm",
                edits=[Edit(line.format(given), line.format(in_post))],
            ),
        ],
    )
