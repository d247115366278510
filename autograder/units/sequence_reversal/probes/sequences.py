"""Probes of unit 05: sequences, batches, the shift, words."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import chain
from typing import Any

import torch

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, Interactor, given
from autograder.checks.probes import Inputs, Seen, describe, probe, returned, tensor
from autograder.units.sequence_reversal.probes.observing import where_labelled

# Of a number from what chance expects of it: fair dice stay within that in all that is
# counted, but for one check in ten millions.
DEVIATIONS = 6.5
_FIRST_ROWS = 150  # of those, which must hold a sequence twice
_FEWER = 300  # sequences: enough to tell two drawings, not for statistics
_DRAWINGS = ("drawn", "once", "second", "again", "alone")


class _Statistics(Interactor):
    """What occurs in the sequences, and whether as often as chance has it."""

    MOST = 1 << 20  # ids of one drawing

    def conclude(self, answers: Answers) -> Seen:
        symbols, longest = int(self.inputs["symbols"]), int(self.inputs["longest"])
        drawings = [self._drawing(name, answers) for name in _DRAWINGS]
        (ids, lengths), once, second, again, (single, alone) = drawings
        a, b = ids[:-1], ids[1:]  # neighbours, where one row holds both
        row = torch.arange(len(lengths)).repeat_interleave(lengths)  # of each id
        within = row[:-1] == row[1:]
        begins = lengths.cumsum(0) - lengths
        starts = ids[begins[lengths > 0]]
        firsts = single[(alone.cumsum(0) - alone)[alone > 0]]
        rising = (symbols - 1) / symbols**2  # the chance that a successor follows
        return {
            "number of sequences": torch.tensor(len(lengths)),
            "lengths that occur": lengths.unique(),
            "ids that occur": ids.unique(),
            "all lengths equally often": _even(lengths),
            "all ids equally often": _even(ids),
            "all ids equally often at the start": _even(starts),
            "equal neighbours": _likely(
                int(((a == b) & within).sum()), int(within.sum()), 1 / symbols
            ),
            "rising neighbours": _likely(
                int(((a + 1 == b) & within).sum()), int(within.sum()), rising
            ),
            "the same read backwards": self._mirrored(ids, lengths, row, begins),
            "neighbours of equal length": _likely(
                int((lengths[:-1] == lengths[1:]).sum()),
                len(lengths) - 1,
                1 / longest,
            ),
            "the same from the same seed": torch.tensor(_same(again, once)),
            "others with the next call": torch.tensor(not _same(second, once)),
            "several ids begin it where one sequence is asked for": torch.tensor(
                len(firsts.unique()) > 1
            ),
            "the shortest length": self._length(1, lengths),
            "the longest length": self._length(longest, lengths),
            "lengths that occur where one sequence is asked for": alone.unique(),
            "all of these equally often": _even(alone),
            "lengths of the first half": self._halves(lengths),
            "sequences of one symbol": _repeats([once, second]),
            "randomness comes from rng alone": answers.get("own", torch.tensor(False)),
            "kind of what holds the ids": answers.get("kinds", ""),
        }

    def _length(self, length: int, lengths: torch.Tensor) -> str:
        """Whether one of the lengths comes as often as chance has it."""
        hits = int((lengths == length).sum())
        return _likely(hits, len(lengths), 1 / int(self.inputs["longest"]))

    def _mirrored(self, ids: Any, lengths: Any, row: Any, begins: Any) -> str:
        """Whether sequences read the same backwards as often as chance has it."""
        symbols, longest = int(self.inputs["symbols"]), int(self.inputs["longest"])
        other = ids[(2 * begins + lengths - 1)[row] - torch.arange(len(ids))]
        unlike = torch.zeros_like(lengths).index_add(0, row, (ids != other).long())
        chance = sum(symbols ** -(n // 2) for n in range(2, longest + 1)) / longest
        hits = int(((unlike == 0) & (lengths > 1)).sum())
        return _likely(hits, len(lengths), chance)

    def _halves(self, lengths: torch.Tensor) -> str:
        """Whether the first half is about as long as chance has it: not sorted."""
        longest, half = int(self.inputs["longest"]), len(lengths) // 2
        total = int(lengths[:half].sum())
        expected = half * (longest + 1) / 2
        spread = math.sqrt(half * (longest**2 - 1) / 12)
        if abs(total - expected) <= DEVIATIONS * spread:
            return "as chance has it"
        return "too short" if total < expected else "too long"

    def _drawing(
        self, name: str, answers: Answers
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """All ids of some sequences, and their lengths."""
        ids = given(answers, f"{name}, ids", 1, [torch.int64], self.MOST)
        lengths = given(answers, f"{name}, lengths", 1, [torch.int64], self.MOST)
        long = lengths.tolist()  # Python's numbers have no end to run over
        if not long:
            raise WrongAnswerError("expected some sequences")
        if sum(long) != len(ids) or any(length < 0 for length in long):
            raise WrongAnswerError("expected as many ids as the sequences are long")
        return ids, lengths


def _repeats(drawings: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> str:
    """Whether one symbol alone comes twice among the first sequences of a drawing.

    With as many as are looked at, and few symbols, it does, but for one drawing in ten
    millions. Where single symbols are missing, or rare, other answers say so.
    """
    found = []
    for ids, lengths in drawings:
        begins = (lengths.cumsum(0) - lengths)[:_FIRST_ROWS]
        found.append(ids[begins[lengths[:_FIRST_ROWS] == 1]])
    if min(map(len, found)) > 1 and all(len(f) == len(f.unique()) for f in found):
        return "none comes twice"
    return "some come twice"


def _same(one: tuple[torch.Tensor, ...], other: tuple[torch.Tensor, ...]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@probe(
    "sequence_reversal/random_sequences",
    other=_Statistics,
    results="number of sequences; lengths that occur*; ids that occur; "
    "all * equally often*; * neighbours; neighbours of equal length; "
    "the same read backwards; the same from the same seed; "
    "others with the next call; "
    "several ids begin it where one sequence is asked for; the shortest length; "
    "the longest length; lengths of the first half; sequences of one symbol; "
    "randomness comes from rng alone",
    calls="kind of what holds the ids",
)
def random_sequences(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """A drawing; of fewer sequences two of one generator, and the first once more."""
    names = ("count", "longest", "symbols", "seed")
    count, longest, symbols, seed = (int(inputs[name]) for name in names)
    dials = [] if longest == symbols == 10 else [longest, symbols]  # as they come
    kinds: set[str] = set()

    def rows(count: int, rng: random.Random) -> list[list[int]]:
        found = function(count, rng, *dials)
        drawn = _lists(found)
        kinds.update(each.__name__ for each in {type(found), *map(type, found)})
        return drawn

    rng, others, fewer = random.Random(seed), random.getstate(), min(count, _FEWER)
    drawn = rows(count, rng)
    alone = [row for _ in range(40 * longest) for row in rows(1, rng)]
    rng = random.Random(seed)
    once, second = rows(fewer, rng), rows(fewer, rng)
    again = rows(fewer, random.Random(seed))
    return {
        **_flat(drawn=drawn, once=once, second=second, again=again, alone=alone),
        "own": torch.tensor(random.getstate() == others),
        "kinds": ", ".join(sorted(kinds)),
    }


def _flat(**drawings: list[list[int]]) -> Seen:
    """The rows of each as two tensors: all ids, and the lengths."""
    seen: Seen = {}
    for name, rows in drawings.items():
        ids = list(chain.from_iterable(rows))
        seen[f"{name}, ids"] = torch.tensor(ids, dtype=torch.int64)
        seen[f"{name}, lengths"] = torch.tensor([len(row) for row in rows])
    return seen


def _lists(result: object) -> list[list[int]]:
    """A list of lists of integers, or a word on what it is instead."""
    if not isinstance(result, list | tuple):
        raise WrongAnswerError(
            f"expected a list of lists of ids, got {describe(result)}"
        )
    for row in result:
        if not isinstance(row, list | tuple):
            raise WrongAnswerError(
                f"expected each sequence as a list, got {describe(row)}"
            )
    for item in chain.from_iterable(result):
        if not isinstance(item, int):
            raise WrongAnswerError(f"expected ids as Python integers, got {item!r}")
    return [list(row) for row in result]


def _even(values: torch.Tensor) -> torch.Tensor:
    """Whether all values that occur do so about equally often."""
    counts = values.unique(return_counts=True)[1].tolist()
    mean = sum(counts) / max(len(counts), 1)
    most = DEVIATIONS * math.sqrt(mean)
    return torch.tensor(all(abs(n - mean) <= most for n in counts))


def _likely(hits: int, trials: int, chance: float) -> str:
    """Whether there are about as many hits as chance has it."""
    expected = trials * chance
    if abs(hits - expected) <= DEVIATIONS * math.sqrt(expected):
        return "as often as chance has it"
    return "too often" if hits > expected else "too rarely"


@probe(
    "sequence_reversal/make_batch",
    results="source",
    calls="* afterwards",
    parts={"target": "target"},
)
def make_batch(function: Any, inputs: Inputs) -> Seen:
    """Source and target of the sequences "7 5 9; 6", and the sequences afterwards."""
    rows = [[int(i) for i in row.split()] for row in inputs["sequences"].split(";")]
    held = tuple(rows) if "held" in inputs else rows
    source, target = returned(function(held), "source", "target")
    return {
        "source": tensor(source, "the source"),
        "target": tensor(target, "the target"),
        "sequences afterwards": "; ".join(" ".join(map(str, row)) for row in rows),
    }


@probe(
    "sequence_reversal/shift",
    results="labels",
    calls="* afterwards",
    parts={"decoder input": "decoder input"},
)
def shift(function: Any, inputs: Inputs) -> Seen:
    """The labels, the decoder's input where there are labels, the target afterwards."""
    target = inputs["target"]
    before = target.clone()
    given, labels = returned(function(target), "decoder input", "labels")
    labels = tensor(labels, "the labels")
    given = tensor(given, "the decoder input")
    return {
        "labels": labels,
        "decoder input": where_labelled(given, before[:, 1:]),
        "target afterwards": target,
    }


def _place(number: object) -> tuple[float, str]:
    """Where a number stands among others; what is none comes last."""
    if isinstance(number, int) and abs(number) < 2**53:
        return float(number), str(number)
    return math.inf, str(number)


@probe("sequence_reversal/word_ids", results="number of words; ids")
def word_ids(function: Any, inputs: Inputs) -> Seen:
    """The words in the order of their ids, and how many there are."""
    found = function(inputs["sentences"].split("\n"))
    if not isinstance(found, dict):
        raise WrongAnswerError(f"expected a dictionary, got {describe(found)}")
    pairs = sorted(found.items(), key=lambda pair: (_place(pair[1]), str(pair[0])))
    listed = ", ".join(
        f"{word}={repr(number) if isinstance(number, str) else number}"
        for word, number in pairs
    )
    return {"number of words": torch.tensor(len(found)), "ids": listed}
