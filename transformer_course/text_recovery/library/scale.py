"""What BLEU is worth: lines between measured models, from a rule to a well-chosen run.

docs/recovery_grade.md says how the numbers were measured. Nothing is trained where one
grades, so the marks of a corpus of one's own are estimated: all points at a fifth of
the way from inserting the commonest to 100, as on Multi30k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformer_course.library import baselines, bleu
from transformer_course.library.corpora import Pair

BONUS = 1 / 12  # of the points, for recovering everything
ESTIMATED = 0.21  # of the way from the inserter to 100, for all points


@dataclass(frozen=True)
class Marks:
    """BLEU of the baselines on one kind of test sentences, and what more is worth.

    Args:
        beyond: (BLEU, share of the points) in rising order, above copy and rule.
    """

    copy: float
    rule: float
    inserter: float
    beyond: tuple[tuple[float, float], ...]

    @property
    def most(self) -> tuple[float, float]:
        """The BLEU from which no more is to be had but a bonus, and its share."""
        return max((mark for mark in self.beyond if mark[1] <= 1), key=lambda m: m[1])

    def scale(self) -> tuple[tuple[float, float], ...]:
        """(BLEU, share of the points) in rising order."""
        return ((max(self.copy, self.rule), 0.0), *self.beyond)


def _embedded(
    copy: float, rule: float, inserter: float, baseline: float, reference: float,
    full: float | None,
) -> Marks:  # fmt: skip
    """The marks of a level, by BLEU of the notebook's own runs.

    Args:
        baseline, reference: of part A's baseline and part C's reference.
        full: what a well-chosen run reaches; None if the level has not all points.
    """
    beyond = ((inserter, 1 / 6), (baseline, 1 / 3), (reference, 2 / 3))
    top_marks = () if full is None else ((full, 1.0), (100.0, 1.0 + BONUS))
    return Marks(copy, rule, inserter, (*beyond, *top_marks))


# By level, on 1,000 test sentences of the embedded corpus. Level 1 leaves so little to
# recover that any run comes close to 100.
EMBEDDED = {
    1: _embedded(58.8, 76.8, 88.3, 96.0, 99.7, None),
    2: _embedded(8.2, 13.2, 62.9, 90.7, 95.5, 97.0),
    3: _embedded(2.6, 6.2, 28.5, 82.0, 87.3, 90.0),
}


def of_own(train: Sequence[Pair], test: Sequence[Pair]) -> Marks:
    """The marks of a corpus of one's own: baselines that are measured on it."""
    sources, targets = zip(*test, strict=True)
    systems = (baselines.copy, baselines.rule, baselines.Insertion(train))
    copy, rule, inserter = (
        bleu.corpus([system(source) for source in sources], targets)
        for system in systems
    )
    # Of an inserter that knows hardly more than a rule, a little more.
    middle = max(inserter, copy + 2.0, rule + 2.0)
    full = middle + ESTIMATED * (100.0 - middle)
    return Marks(copy, rule, inserter, ((middle, 0.5), (full, 1.0)))
