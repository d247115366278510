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
        explanation: what execution has shown beside the answer itself, for the key.
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
    explanation: str = ""
    mentioned: tuple[str, ...] = ()

    @property
    def letter(self) -> str:
        return LETTERS[self.correct]

    @property
    def answer(self) -> str:
        return self.options[self.correct]


def shuffled(
    kind: str, text: str, right: str, wrong: Sequence[str], *, about: Sequence[str],
    worth: float, draw: random.Random, line: int = 0, explanation: str = "",
    mentioned: Sequence[str] = (),
) -> ChoiceQuestion:  # fmt: skip
    """A question with its options in a drawn order."""
    options = [right, *wrong]
    draw.shuffle(options)
    place = options.index(right)
    return ChoiceQuestion(
        kind, text, (*options,), place, (*about,), worth, line, explanation,
        (*mentioned,),
    )  # fmt: skip


def chosen(
    questions: Sequence[ChoiceQuestion], most: int, subjects: Collection[str] = ()
) -> list[ChoiceQuestion]:
    """The first questions that go together: of several kinds, none about one thing.

    Args:
        questions: all that there are, the best first.
        most: how many are wanted.
        subjects: what else is asked about on the same sheet.
    """
    picked: list[ChoiceQuestion] = []
    if most < 1:
        return picked
    rounds = ((1, False, True), (2, False, True), (2, True, True), (2, True, False),
            (3, True, False))  # fmt: skip
    for many, same_line, are_apart in rounds:  # `many` of each kind
        for question in questions:
            kinds = [pick.kind for pick in picked]
            about = {*subjects, *(subject for pick in picked for subject in pick.about)}
            mentioned = {subject for pick in picked for subject in pick.mentioned}
            lines = {(pick.kind, pick.line) for pick in picked}
            fits = not about & {*question.about} and kinds.count(question.kind) < many
            if are_apart and not (about | mentioned).isdisjoint(question.mentioned):
                continue
            if are_apart and not mentioned.isdisjoint(question.about):
                continue
            if fits and (same_line or (question.kind, question.line) not in lines):
                picked.append(question)
            if len(picked) == most:
                return picked
    return picked
