"""What the checkpoint answers that everybody has."""

from __future__ import annotations

import functools
import math

import torch

from autograder.oracle.decoding import recovered
from autograder.oracle.tokenizing import Segmenter
from autograder.solutions import encoder_decoder
from autograder.student.recovery.checkpoint import load, shipped
from autograder.student.recovery.model import Restorer
from autograder.student.recovery.text import SubwordTokenizer

# The leads of 600 sentences in float32 are those in float64, give or take 0.000012.
_CLEAR = 0.01


def shipped_outputs(sources: list[str]) -> list[str]:
    """What the checkpoint in assets/ answers, alike on all processors.

    A token with a clear lead in float32 is the same one everywhere. Sentences with any
    other, about one in 300, are decoded anew in float64.
    """
    leads = torch.full((len(sources),), math.inf)
    texts = _decoded(sources, torch.float32, leads)
    unclear = [i for i, lead in enumerate(leads.tolist()) if not lead > _CLEAR]
    if unclear:
        again = _decoded([sources[i] for i in unclear], torch.float64)
        for i, text in zip(unclear, again, strict=True):
            texts[i] = text
    return texts


def _decoded(
    sources: list[str], dtype: torch.dtype, leads: torch.Tensor | None = None
) -> list[str]:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
        model, tokenizer = _shipped(dtype)
        return recovered(model.transformer, tokenizer, sources, leads=leads)
    finally:
        torch.set_default_dtype(before)


@functools.cache
def _shipped(dtype: torch.dtype) -> tuple[Restorer, SubwordTokenizer]:
    """The checkpoint as a model of this kind of numbers, which is the default now."""
    return load(shipped(), encoder_decoder, Segmenter())
