"""A question with its options; and which of many a sheet asks."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

OPTIONS = 4
LETTERS = "ABCD"


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question with its options, of which exactly one is correct.

    Attributes:
        kind: what is asked: see `questions`.
        about: what it is about; two questions about one thing are not asked.
        worth: how much it asks for.
        line: the displayed line that it is about; 0 for several.
        why: what execution has shown beside the answer itself, for the key.
        mentioned: changes among the options: one that another question of the sheet is
            about would give it away, so such a pair is asked only if need be.
    """

    kind: str
    text: str
    options: tuple[str, ...]
    correct: int
    about: tuple[str, ...]
    worth: float
    line: int = 0
    why: str = ""
    mentioned: tuple[str, ...] = ()

    @property
    def letter(self) -> str:
        return LETTERS[self.correct]

    @property
    def answer(self) -> str:
        return self.options[self.correct]


def shuffled(
    kind: str, text: str, right: str, wrong: Sequence[str], *, about: Sequence[str],
    worth: float, draw: random.Random, line: int = 0, why: str = "",
    mentioned: Sequence[str] = (),
) -> ChoiceQuestion:  # fmt: skip
    """A question with its options in a drawn order."""
    options = [right, *wrong]
    draw.shuffle(options)
    place = options.index(right)
    return ChoiceQuestion(
        kind, text, (*options,), place, (*about,), worth, line, why, (*mentioned,)
    )


def chosen(
    found: Sequence[ChoiceQuestion], most: int, asked: Collection[str] = ()
) -> list[ChoiceQuestion]:
    """The first questions that go together: of several kinds, none about one thing.

    Args:
        found: all that there are, the best first.
        most: how many are wanted.
        asked: what else is asked about on the same sheet.
    """
    kept: list[ChoiceQuestion] = []
    if most < 1:
        return kept
    ways = ((1, False, True), (2, False, True), (2, True, True), (2, True, False),
            (3, True, False))  # fmt: skip
    for many, same_line, are_apart in ways:  # `many` of each kind
        for one in found:
            kinds = [other.kind for other in kept]
            about = {*asked, *(thing for other in kept for thing in other.about)}
            told = {thing for other in kept for thing in other.mentioned}
            lines = {(other.kind, other.line) for other in kept}
            fits = not about & {*one.about} and kinds.count(one.kind) < many
            if are_apart and not (about | told).isdisjoint(one.mentioned):
                continue
            if are_apart and not told.isdisjoint(one.about):
                continue
            if fits and (same_line or (one.kind, one.line) not in lines):
                kept.append(one)
            if len(kept) == most:
                return kept
    return kept
