"""Attention maps of a published model, for ten sentences: nothing to download.

``python assets/attention_maps.py`` computes them; the file says of which model, under
which licence, and with which tokens.
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
    """What all heads of a model look at in one sentence.

    Args:
        tokens: with the special ones at both ends.
        weights: `(layers, h, L, L)`, float32, rounded to float16; rows are queries.
    """

    tokens: list[str]
    weights: Tensor


def about() -> Mapping[str, Any]:
    """The model, its source and licence, and the tokens by sentence."""
    with safe_open(SHIPPED, framework="pt") as file:
        description: dict[str, Any] = json.loads(file.metadata()["about"])
    return description


def sentences() -> list[str]:
    """The sentences that there are maps of."""
    return list(about()["tokens"])


def maps_of(sentence: str) -> SentenceMaps:
    """The maps of one of the sentences.

    Raises:
        ValueError: there are none; the text lists the sentences.
    """
    tokens = about()["tokens"]
    if sentence not in tokens:
        choices = "; ".join(tokens)
        raise ValueError(f"no maps of {sentence!r}; there are maps of: {choices}")
    with safe_open(SHIPPED, framework="pt") as file:
        weights: Tensor = file.get_tensor(sentence)
    return SentenceMaps(tokens[sentence], weights.float())
