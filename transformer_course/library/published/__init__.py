"""Published models as tensors by name and a tokenizer: ``fetch("minilm")``.

Nothing of it is needed elsewhere in the course: where a model is not installed, its
demonstrations say what to install, and go on.
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
        weights: float32 tensors by the names of the file, each made when asked for.
        encode: from a text to ids, with the special tokens that the model expects.
        decode: from ids to a text, without special tokens.
        token: from an id to the token as the vocabulary writes it.
        tokenizer: the ``tokenizers.Tokenizer`` that does so.
    """

    weights: Mapping[str, Tensor]
    encode: Callable[[str], list[int]]
    decode: Callable[[Sequence[int]], str]
    token: Callable[[int], str]
    tokenizer: Any


def fetch(model: str | Listing, location: str | Path | None = None) -> PublishedModel:
    """A published model: from an installed package, a file, or the Hugging Face Hub.

    Args:
        model: ``"minilm"``, ``"smollm2"``, or a listing of one's own.
        location: a folder, a zip file or the weights' file, where nothing is installed.

    Raises:
        PublishedModelError: it is nowhere to be found, a file is not the published
            one, a package that reads it is missing, or memory or disk are too small.
    """
    listing = model if isinstance(model, Listing) else LISTED.get(model)
    if listing is None:
        raise PublishedModelError(
            f"no model is called {model!r}; there are {', '.join(LISTED)}"
        )
    memory.demand(listing)
    place = finding.find(listing, location)
    files = [finding.verify(place, file) for file in listing.files]
    try:
        weights, tokenizer = reading.read(listing, files[0], [*files, None][1])
    except MemoryError:
        raise PublishedModelError(memory.too_little(listing)) from None
    return PublishedModel(
        weights=weights,
        encode=lambda text: list(tokenizer.encode(text).ids),
        decode=lambda ids: str(tokenizer.decode(list(map(int, ids)))),
        token=lambda index: str(tokenizer.id_to_token(int(index))),
        tokenizer=tokenizer,
    )


def available(model: str | Listing) -> PublishedModel | None:
    """The model, or None after one line that says why not, and what to install."""
    try:
        return fetch(model)
    except PublishedModelError as error:
        print(error)
        return None
