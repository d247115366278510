"""Inputs that several exercises of the unit share."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TypeVar

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs
from autograder.library import corpora

PAD, BOS, EOS, UNK = range(4)
T = TypeVar("T")


WORDS = tuple(
    re.findall(
        r"\w+",
        "low lower lowest slow slower new newer newest wide wider widest bake baker baked "
        "bakes anna banana bandana cocoa mississippi aaaa aaa abab ababab noon",
    )
)


def natural_sentences(draw: Draw, count: int) -> list[str]:
    """Natural sentences, others in every drawing."""
    return corpora.generate(f"bank {int(draw.ids(0, 2**31, 1))}", count)


def plain_sentences(draw: Draw, count: int) -> list[str]:
    """Natural sentences of letters, with one sign, at the end."""
    found = natural_sentences(draw, 6 * count)
    return [text for text in found if re.fullmatch(r"[A-Za-z ]+[.?!]", text)][:count]


def some_of(draw: Draw, options: Sequence[T], count: int) -> list[T]:
    """A drawing without repetition."""
    left = list(options)
    return [left.pop(int(draw.ids(0, len(left), 1))) for _ in range(count)]


def words_of(texts: list[str]) -> list[str]:
    return re.findall(r"[A-Za-z]+", " ".join(texts))


def normal_text(text: str) -> str:
    return " ".join(re.findall(r"\w+(?:['-]\w+)*", text.lower()))


@functools.cache
def closed_class() -> frozenset[str]:
    return frozenset(w for words in corpora.function_words().values() for w in words)


def random_batches(draw: Draw, sizes: Sequence[tuple[int, int]], vocab: int) -> Inputs:
    """Batches of different sizes, with different shares of padding.

    In long ones, PAD and EOS also stand before other tokens: a place counts or does not
    by what stands there, not by where it is.
    """
    inputs: Inputs = {
        "table": draw.tensor(vocab, vocab),
        "batches": torch.tensor(len(sizes)),
    }
    for i, (b, length) in enumerate(sizes):
        target = draw.ids(3, vocab, b, length + 1)
        target[:, 0] = BOS
        for row in range(b):
            target[row, length - row % length] = EOS
            target[row, 1 + length - row % length :] = PAD
        if length > 4:
            target[0, 2], target[0, 3] = PAD, EOS
        inputs |= {
            f"source {i}": draw.ids(3, vocab, b, 4),
            f"target_in {i}": target[:, :-1],
            f"target_out {i}": target[:, 1:],
        }
    return inputs


def fine_numbers(draw: Draw, *shape: int, scale: float) -> torch.Tensor:
    """Numbers on a grid so fine that two of them hardly ever tie."""
    return draw.tensor(*shape, scale=scale) + draw.tensor(*shape, scale=0.5) / 64
