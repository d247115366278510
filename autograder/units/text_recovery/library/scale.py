"""What BLEU is worth: a line from measured baselines to a measured reference.

docs/recovery_grade.md says how the numbers were measured. Nothing is trained where one
grades, so the reference of a corpus of one's own is estimated: a quarter of the way
from inserting the commonest to 100, which is what Multi30k's was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autograder.library import baselines, bleu
from autograder.library.corpora import Pair

FULL = 0.83  # of the way from the inserter to the reference, for all points
BONUS = 1 / 12  # of the points, for what is better than the reference
ESTIMATED = 0.25  # of the way from the inserter to 100, for an unknown reference


@dataclass(frozen=True)
class Marks:
    """BLEU of the baselines and of the reference on one kind of test sentences.

    Args:
        measured: the reference was trained and measured, so that one can be better.
    """

    copy: float
    rule: float
    inserter: float
    reference: float
    measured: bool = True

    @property
    def full(self) -> float:
        """The BLEU that earns all points."""
        return self._middle + FULL * (self.reference - self._middle)

    @property
    def _low(self) -> float:
        return max(self.copy, self.rule)

    @property
    def _middle(self) -> float:
        """The inserter's BLEU; more where it knows hardly more than a rule."""
        return max(self.inserter, self._low + 2.0)

    def scale(self) -> tuple[tuple[float, float], ...]:
        """(BLEU, share of the points) in rising order."""
        marks = ((self._low, 0.0), (self._middle, 0.5), (self.full, 1.0))
        if not self.measured:
            return marks
        return (*marks, (self.reference, 1.0), (100.0, 1.0 + BONUS))


# By level, on 1,000 test sentences of the embedded corpus.
EMBEDDED = {
    1: Marks(copy=58.8, rule=76.8, inserter=88.3, reference=99.7),
    2: Marks(copy=8.2, rule=13.2, inserter=62.9, reference=97.0),
    3: Marks(copy=2.6, rule=6.2, inserter=28.5, reference=90.0),
}


def of_own(train: Sequence[Pair], test: Sequence[Pair]) -> Marks:
    """The marks of a corpus of one's own: baselines that are measured on it."""
    sources, targets = zip(*test, strict=True)
    systems = (baselines.copy, baselines.rule, baselines.Insertion(train))
    copy, rule, inserter = (
        bleu.corpus([system(source) for source in sources], targets)
        for system in systems
    )
    marks = Marks(copy, rule, inserter, reference=100.0, measured=False)
    middle = marks._middle
    return replace(marks, reference=middle + ESTIMATED * (100.0 - middle))
