"""Stored attention maps of a published model for ten sentences.

``python assets/attention_maps.py`` computes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import safe_open
from torch import Tensor

SHIPPED = Path(__file__).with_suffix(".safetensors")


@dataclass(frozen=True)
class SentenceMaps:
    """The attention weights of all heads of a model for one sentence.

    Args:
        tokens: the sentence's tokens, with the special tokens at both ends.
        weights: `(layers, h, L, L)`, float32, rounded to float16; rows are queries.
    """

    tokens: list[str]
    weights: Tensor


def about() -> Mapping[str, Any]:
    """The file's description: the model, its source, its licence, and all tokens."""
    with safe_open(SHIPPED, framework="pt") as file:
        description: dict[str, Any] = json.loads(file.metadata()["about"])
    return description


def sentences() -> list[str]:
    """The sentences whose maps are stored."""
    return list(about()["tokens"])


def maps_of(sentence: str) -> SentenceMaps:
    """Return the maps of one of the stored sentences.

    Raises ValueError for any other sentence; the message lists those stored.
    """
    tokens = about()["tokens"]
    if sentence not in tokens:
        choices = "; ".join(tokens)
        raise ValueError(f"no maps of {sentence!r}; there are maps of: {choices}")
    with safe_open(SHIPPED, framework="pt") as file:
        weights: Tensor = file.get_tensor(sentence)
    return SentenceMaps(tokens[sentence], weights.float())
