"""The scale that turns a BLEU score into a share of the points.

Between the scores given here, the share is interpolated linearly. For the
embedded corpus, they are mostly from baselines and trained models
(docs/recovery_grade.md); for a student's corpus, they are estimated from a
baseline, the "inserter".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformer_course.library import baselines, bleu
from transformer_course.library.corpora import Pair

BONUS = 1 / 12  # the share of points to add for recovering everything
ESTIMATED = 0.21  # the share of the way from the inserter to 100 for all points


@dataclass(frozen=True)
class Marks:
    """A scale: the share of the points that each BLEU on some test sentences earns.

    Args:
        copy, rule, inserter: BLEU of the three baselines in `baselines`.
        beyond: pairs (BLEU, share of the points) in rising order.
    """

    copy: float
    rule: float
    inserter: float
    beyond: tuple[tuple[float, float], ...]

    @property
    def full(self) -> tuple[float, float]:
        """The pair (BLEU, share of the points) with the largest share of at most 1."""
        return max((mark for mark in self.beyond if mark[1] <= 1), key=lambda m: m[1])

    def scale(self) -> tuple[tuple[float, float], ...]:
        """All (BLEU, share of the points) in rising order, beginning with 0 points."""
        return ((max(self.copy, self.rule), 0.0), *self.beyond)


def _compute_marks(
    copy: float, rule: float, inserter: float, baseline: float, reference: float,
    full: float | None,
) -> Marks:  # fmt: skip
    """Return the scale of a level: which BLEU earns which share of the points.

    Args:
        copy, rule, inserter: BLEU of the three baselines in `baselines`.
        baseline, reference: BLEU of two trained models of the notebook.
        full: BLEU that earns all points; None if the level does not offer them.
    """
    beyond = ((inserter, 1 / 6), (baseline, 1 / 3), (reference, 2 / 3))
    top_marks = () if full is None else ((full, 1.0), (100.0, 1.0 + BONUS))
    return Marks(copy, rule, inserter, (*beyond, *top_marks))


# By level, on 1,000 test sentences of the embedded corpus. At level 1 so little has to
# be recovered that any run comes close to 100.
EMBEDDED = {
    1: _compute_marks(58.8, 76.8, 88.3, 96.0, 99.7, None),
    2: _compute_marks(8.2, 13.2, 62.9, 90.7, 95.5, 97.0),
    3: _compute_marks(2.6, 6.2, 28.5, 82.0, 87.3, 90.0),
}


def marks_of_own_corpus(train: Sequence[Pair], test: Sequence[Pair]) -> Marks:
    """Return the scale for a student's corpus, from baselines that are measured on it.

    The BLEU of the inserter usually earns half of the points, and one about a fifth
    of the way from there to 100 earns all.
    """
    sources, targets = zip(*test, strict=True)
    systems = (baselines.copy, baselines.rule, baselines.Insertion(train))
    copy, rule, inserter = (
        bleu.corpus([system(source) for source in sources], targets)
        for system in systems
    )
    # If the inserter is hardly better than the rule, half of the points need more.
    middle = max(inserter, copy + 2.0, rule + 2.0)
    full = middle + ESTIMATED * (100.0 - middle)
    return Marks(copy, rule, inserter, ((middle, 0.5), (full, 1.0)))
