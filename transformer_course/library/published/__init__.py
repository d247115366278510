"""Published models, as tensors by name and a tokenizer: ``fetch("minilm")``.

Only demonstrations need them; without a model, these print what to install.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from transformer_course.library.published import finding, memory, reading
from transformer_course.library.published.catalogue import (
    LISTED,
    Listing,
    PublishedModelError,
)

__all__ = [
    "LISTED", "Listing", "PublishedModel", "PublishedModelError", "available", "fetch",
]  # fmt: skip


@dataclass(frozen=True)
class PublishedModel:
    """A model's weights and tokenizer.

    Args:
        weights: float32 tensors by their names in the file, each created on access.
        encode: maps a text to ids, with the special tokens that the model expects.
        decode: maps ids to a text, without special tokens.
        token: maps an id to its token as spelt in the vocabulary.
        tokenizer: the ``tokenizers.Tokenizer`` that these functions use.
    """

    weights: Mapping[str, Tensor]
    encode: Callable[[str], list[int]]
    decode: Callable[[Sequence[int]], str]
    token: Callable[[int], str]
    tokenizer: Any


def fetch(model: str | Listing, location: str | Path | None = None) -> PublishedModel:
    """Load a published model from an installed package, a file, or the Hub.

    Args:
        model: ``"minilm"``, ``"smollm2"``, or a listing of any other model.
        location: a folder, a zip file or the file with the weights, for a model
            that is not installed.

    Raises:
        PublishedModelError: the model cannot be loaded; the message says why.
    """
    listing = model if isinstance(model, Listing) else LISTED.get(model)
    if listing is None:
        raise PublishedModelError(
            f"no model is called {model!r}; there are {', '.join(LISTED)}"
        )
    memory.require_memory(listing)
    folder = finding.find(listing, location)
    files = [finding.verify(folder, file) for file in listing.files]
    try:
        # The first file has the weights; a second one, if any, has the tokenizer.
        weights, tokenizer = reading.read(listing, files[0], [*files, None][1])
    except MemoryError:
        raise PublishedModelError(memory.describe_shortage(listing)) from None
    return PublishedModel(
        weights=weights,
        encode=lambda text: list(tokenizer.encode(text).ids),
        decode=lambda ids: str(tokenizer.decode(list(map(int, ids)))),
        token=lambda index: str(tokenizer.id_to_token(int(index))),
        tokenizer=tokenizer,
    )


def available(model: str | Listing) -> PublishedModel | None:
    """Load a model, or print one line that says what to install, and return None."""
    try:
        return fetch(model)
    except PublishedModelError as error:
        print(error)
        return None
