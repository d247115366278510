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


def draw_sentences(draw: Draw, count: int) -> list[str]:
    """Draw natural sentences from the generator of the embedded corpus."""
    return corpora.generate(f"bank {int(draw.ids(0, 2**31, 1))}", count)


def draw_some(draw: Draw, options: Sequence[T], count: int) -> list[T]:
    """Draw some of the options without repetition."""
    remaining = list(options)
    return [remaining.pop(int(draw.ids(0, len(remaining), 1))) for _ in range(count)]


def list_words(texts: list[str]) -> list[str]:
    """List the words of texts in order, without punctuation."""
    return re.findall(r"[A-Za-z]+", " ".join(texts))


def blur_words(draw: Draw, text: str, share: float) -> str:
    """Drop, double or replace about this share of a text's words."""
    words = text.split()
    for i in range(len(words)):
        if bool(draw.flags(1, chance=share)):
            word = words[i]
            kinds = ("", f"{word} {word}", "the", word.lower(), word.strip('.,!?"'))
            words[i] = kinds[int(draw.ids(0, len(kinds), 1))]
    return " ".join(" ".join(words).split())


def draw_fine_numbers(draw: Draw, *shape: int, scale: float) -> torch.Tensor:
    """Draw random numbers from a grid so fine that they are hardly ever equal."""
    return draw.tensor(*shape, scale=scale) + draw.tensor(*shape, scale=0.5) / 64
