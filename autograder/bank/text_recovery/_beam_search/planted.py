"""Sentences in which mistakes change the answer, whatever else is drawn."""

from __future__ import annotations

import math

import torch

from autograder.bank.text_recovery._inputs import BOS, EOS, PAD, UNK, some_of
from autograder.oracle.draw import FINENESS, Draw

GATE, FREE, VOCAB = 9, 10, 11  # two tokens that other sentences do not have
COUNT = 6  # planted sentences
_FAR, _DEAR = -200.0, -20.0  # logits of what is never chosen; of an end without GATE
_NEARLY_EQUAL = [-i / 64 for i in range(6)]


def plant(
    draw: Draw, places: torch.Tensor, habits: torch.Tensor, width: int, alpha: float
) -> None:
    """Write the last sentences anew, and what the tokens mean that only they have.

    After GATE, EOS is as good as certain where it is dear otherwise. What the habits
    add is taken off where other tokens compete; FREE and EOS have none.

    Args:
        places: (S, T, V), see ``Script``; changed in place.
        habits: (V, V); changed in place.
        width: how many prefixes stay live; at most 9.
    """
    habits[:, [EOS, FREE]], habits[GATE] = 0.0, 0.0
    habits[GATE, EOS] = -1.5 * _DEAR
    places[..., [GATE, FREE]] = _FAR
    planted = places[-COUNT:]
    planted[:] = _FAR
    planted[:, :4, FREE], planted[:, 4:, EOS] = 0.0, 0.0  # in the end, all end
    tokens = [*some_of(draw, range(UNK, GATE), 6), PAD, BOS]
    known = habits[BOS], habits[BOS] + habits[tokens[0]]

    def compete(
        sentence: int,
        place: int,
        own: list[float],
        end: float = _FAR,
        gate: float = _FAR,
    ) -> None:
        """Logits of some tokens, EOS and GATE; at first, after the likeliest token."""
        chosen = [*tokens[: len(own)], EOS, GATE]
        planted[sentence, place] = _FAR
        logits = torch.tensor([*own, end, gate])
        if place < len(known):
            logits -= known[place][chosen]
        planted[sentence, place, chosen] = logits

    # An early end is the best one until the search is over. The next one is worse; one
    # that comes long after would be better.
    compete(0, 0, [0.0], end=-0.40625)
    compete(0, 1, _NEARLY_EQUAL)

    # The last prefix that stays live is at the gate. EOS is better, and not live.
    falling = [1 - i / 8 for i in range(width + 1)]
    compete(1, 0, falling[: width - 1], *falling[width - 1 :])
    for place in (1, 2, 3):
        compete(1, place, _NEARLY_EQUAL, end=_DEAR)

    # Of six first tokens, one is better by a thousandth. Two of these, so that who
    # takes them for equal is wrong in one of them.
    for sentence in (2, 3):
        compete(sentence, 0, [(sentence - 2 == i) / 1024 for i in range(6)])
        planted[sentence, 1, EOS], planted[sentence, 1, FREE] = 0.0, _FAR

    # An end after two tokens is better than the one at once if 3 is taken for its
    # length, and not if 4 is, and 2 for the other's. The prefix of two tokens is still
    # live if its score is divided by its length, and not if it is not.
    at_once = math.log1p(math.exp(7 / 64))
    one = math.log1p(math.exp(-7 / 64))
    power = max(alpha, 0.25)
    two = at_once * 2 ** (power / 2)
    three = at_once * 6 ** (power / 2)
    compete(4, 0, [0.0], end=-7 / 64)
    compete(4, 1, [0.0, _fine(math.log(math.expm1(two - one)))])
    planted[4, 2, EOS] = -_fine(math.log(math.expm1(three - two)))

    # The best two of two tokens begin with the same one, and the second best is at the
    # gate.
    compete(5, 0, [3.0, 0.0])
    compete(5, 1, [0.5], gate=0.25)
    compete(5, 2, _NEARLY_EQUAL, end=_DEAR)


def _fine(number: float) -> float:
    """The next number that is exact everywhere."""
    return round(number * FINENESS) / FINENESS
