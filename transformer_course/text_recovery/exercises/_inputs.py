"""Inputs that several exercises of the unit share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import torch

from autograder.authoring.draw import Draw
from transformer_course.library import corpora

T = TypeVar("T")
WORDS = tuple(
    re.findall(
        r"\w+",
        "low lower lowest slow slower new newer newest wide wider widest bake baker baked "
        "bakes anna banana bandana cocoa mississippi aaaa aaa abab ababab noon",
    )
)


def natural_sentences(draw: Draw, count: int) -> list[str]:
    """Natural sentences, which are different for every draw."""
    return corpora.generate(f"bank {int(draw.ids(0, 2**31, 1))}", count)


def some_of(draw: Draw, options: Sequence[T], count: int) -> list[T]:
    """Draw some of the options without repetition."""
    remaining = list(options)
    return [remaining.pop(int(draw.ids(0, len(remaining), 1))) for _ in range(count)]


def words_of(texts: list[str]) -> list[str]:
    return re.findall(r"[A-Za-z]+", " ".join(texts))


def blurred(draw: Draw, text: str, share: float) -> str:
    """The text with some words dropped, doubled or replaced."""
    words = text.split()
    for i in range(len(words)):
        if bool(draw.flags(1, chance=share)):
            word = words[i]
            kinds = ("", f"{word} {word}", "the", word.lower(), word.strip('.,!?"'))
            words[i] = kinds[int(draw.ids(0, len(kinds), 1))]
    return " ".join(" ".join(words).split())


def fine_numbers(draw: Draw, *shape: int, scale: float) -> torch.Tensor:
    """Random numbers on a grid that is so fine that they are hardly ever equal."""
    return draw.tensor(*shape, scale=scale) + draw.tensor(*shape, scale=0.5) / 64
