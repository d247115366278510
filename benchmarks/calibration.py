"""A model that inserts too little is given a constant for the words it leaves out.

Where "a" has a probability of 0.3, "the" one of 0.2, and going on without an article
0.4, greedy decoding goes on; so its texts come out too short, and BLEU's brevity
penalty takes its share. A constant on the logits of function words, chosen on dev,
gives the length back. It is added to the output layer's bias: what decodes need not
know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from transformer_course.library.text import SPACE, SPECIALS


def function_word_ids(vocab: Sequence[str], words: Collection[str]) -> list[int]:
    """The ids of the symbols that are a whole word with the space before it.

    Args:
        vocab: a tokenizer's symbols in the order of their ids.
        words: the words, in lower case; capitals in a symbol do not count.
    """
    return [
        i
        for i, symbol in enumerate(vocab)
        if symbol not in SPECIALS
        and symbol.startswith(SPACE)
        and symbol.removeprefix(SPACE).lower() in words
    ]


@torch.no_grad()
def calibrate(
    bias: Tensor,
    ids: Sequence[int],
    score: Callable[[], float],
    constants: Sequence[float] = (0.0, 0.3, 0.6, 0.9, 1.2),
) -> float:
    """Add to some biases the constant with which the model scores best.

    Args:
        bias: the output layer's, one number a symbol; changed in place.
        ids: the symbols whose bias grows.
        score: how good the model is as it stands, on sentences that it was not trained
            on and is not tested with; larger is better.
        constants: what is tried; of equally good ones the first stays.

    Returns:
        The constant that was added.
    """
    start, scores = bias.clone(), []
    for constant in constants:
        bias.copy_(start)
        bias[list(ids)] += constant
        scores.append(score())
    best = constants[scores.index(max(scores))]
    bias.copy_(start)
    bias[list(ids)] += best
    return best
