"""Questions with options, and the choice of those that a sheet asks."""

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
        kind: the kind of question; see `asking.questions`.
        correct: the index of the correct option.
        about: its subjects; a sheet has no two questions with a common subject.
        worth: how worthwhile it is, by the understanding that it needs.
        line: the displayed line that it is about; 0 for several.
        explanation: what the execution has also shown, for the answer key.
        mentioned: changes among the options; a question about one of them could
            give the answer away.
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
    """Make a question with the options ``right`` and ``wrong`` in random order."""
    options = [right, *wrong]
    draw.shuffle(options)
    correct = options.index(right)
    return ChoiceQuestion(
        kind, text, (*options,), correct, (*about,), worth, line, explanation,
        (*mentioned,),
    )  # fmt: skip


def chosen(
    questions: Sequence[ChoiceQuestion], most: int, subjects: Collection[str] = ()
) -> list[ChoiceQuestion]:
    """Choose questions for a sheet: of various kinds, and without common subjects.

    ``questions`` are the candidates, the best first; ``subjects`` are already on
    the sheet.
    """
    picked: list[ChoiceQuestion] = []
    if most < 1:
        return picked
    rounds = ((1, False, True), (2, False, True), (2, True, True), (2, True, False),
            (3, True, False))  # fmt: skip
    # From strict to lenient: questions per kind, whether two of a kind may be about the
    # same line, and whether no option may be the subject of a different question.
    for many, same_line, are_apart in rounds:
        for question in questions:
            kinds = [pick.kind for pick in picked]
            about = {*subjects, *(subject for pick in picked for subject in pick.about)}
            mentioned = {subject for pick in picked for subject in pick.mentioned}
            lines = {(pick.kind, pick.line) for pick in picked}
            fits = not about & {*question.about} and kinds.count(question.kind) < many
            # One question must not give away the answer to another.
            if are_apart and not (about | mentioned).isdisjoint(question.mentioned):
                continue
            if are_apart and not mentioned.isdisjoint(question.about):
                continue
            if fits and (same_line or (question.kind, question.line) not in lines):
                picked.append(question)
            if len(picked) == most:
                return picked
    return picked
