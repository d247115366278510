"""Read tensors by name, and a tokenizer, from files that `finding` has verified."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor

from transformer_course.library.published.catalogue import Listing, PublishedModelError

_CONTROL = 3  # the GGUF token type of special tokens, which text is not encoded to


class Weights(Mapping[str, Tensor]):
    """Tensors by name; each access creates a new float32 tensor.

    This saves memory, since the stored weights may be much smaller.
    """

    def __init__(self, stored: Mapping[str, Any]):
        self._stored = stored

    def __getitem__(self, name: str) -> Tensor:
        """The float32 tensor with this name; one from a GGUF file is dequantised."""
        stored = self._stored[name]
        if isinstance(stored, Tensor):
            return stored.float().clone()
        quants = importlib.import_module("gguf").quants
        numbers = quants.dequantize(stored.data, stored.tensor_type)
        # PyTorch warns of arrays that cannot be written to.
        return torch.from_numpy(numbers if numbers.flags.writeable else numbers.copy())

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def read(
    listing: Listing, weights: bytes | Path, tokenizer: bytes | Path | None
) -> tuple[Weights, Any]:
    """Read the weights, and the tokenizer as a ``tokenizers.Tokenizer``.

    Raises:
        PublishedModelError: a package that is needed to read them is not installed.
    """
    if listing.weights.name.endswith(".gguf"):
        return _read_gguf(listing, weights)
    library = _import_package("tokenizers", listing)
    data = weights if isinstance(weights, bytes) else weights.read_bytes()
    assert tokenizer is not None
    text = tokenizer if isinstance(tokenizer, bytes) else tokenizer.read_bytes()
    parsed = library.Tokenizer.from_str(text.decode())
    parsed.no_padding()
    parsed.no_truncation()
    return Weights(load(data)), parsed


def _read_gguf(listing: Listing, path: bytes | Path) -> tuple[Weights, Any]:
    """Read a GGUF file, which contains both the weights and the tokenizer's tables."""
    reader = _import_package("gguf", listing).GGUFReader(path)
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    types = reader.fields["tokenizer.ggml.token_type"].contents()
    merges = reader.fields["tokenizer.ggml.merges"].contents()
    special = [
        token for token, kind in zip(tokens, types, strict=True) if kind == _CONTROL
    ]
    tokenizer = _make_byte_tokenizer(
        _import_package("tokenizers", listing), tokens, merges, special
    )
    return Weights({tensor.name: tensor for tensor in reader.tensors}), tokenizer


def _make_byte_tokenizer(
    library: Any, tokens: list[str], merges: list[str], special: list[str]
) -> Any:
    """Make SmolLM2's tokenizer: byte-pair encoding over bytes; each digit is separate.

    ``library`` is the package ``tokenizers``. The ``tokens`` are in the order of
    their ids, and a merge is a pair of symbols such as "a b".
    """
    vocabulary = {token: index for index, token in enumerate(tokens)}
    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = library.Tokenizer(library.models.BPE(vocabulary, pairs))
    before = library.pre_tokenizers
    tokenizer.pre_tokenizer = before.Sequence(
        [
            before.Digits(individual_digits=True),
            before.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = library.decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    return tokenizer


def _import_package(name: str, listing: Listing) -> Any:
    """Import a package that reads a model. Raises PublishedModelError."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PublishedModelError(
            f"{listing.title} is read with the package {error.name or name}, which is "
            f"not installed: pip install {error.name or name}"
        ) from None
