"""Small files in the formats of published models, with drawn weights."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from transformer_course.library.published.catalogue import Listing, PublishedFile

SAFE, GGUF, WORDS = "model.safetensors", "model.gguf", "tokenizer.json"
TENSORS = {
    "embeddings.weight": torch.arange(12.0).view(4, 3) - 5,
    "encoder.layer.0.bias": torch.tensor([0.5, -2.0, 8.0]).half(),
}


def list_files(folder: Path, weights: str, tokenizer: str | None = None) -> Listing:
    """A listing of files as they are now."""

    def file(name: str) -> PublishedFile:
        data = (folder / name).read_bytes()
        return PublishedFile(name, hashlib.sha256(data).hexdigest(), len(data))

    return Listing(
        title="Drawn", licence="CC0", weights=file(weights),
        tokenizer=file(tokenizer) if tokenizer else None,
        package="no-such-distribution", version="1.0", archive="drawn.zip",
        readers=("tokenizers",), hub=("drawn/model", "main"), memory=1000,
    )  # fmt: skip


def safetensors(folder: Path) -> Listing:
    """Tensors and a tokenizer of words, as MiniLM has them."""
    tokenizers = pytest.importorskip("tokenizers", reason="pip install .[models]")
    save_file(TENSORS, folder / SAFE)
    vocabulary = {"[UNK]": 0, "the": 1, "cat": 2, "sat": 3, "[PAD]": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=6, pad_id=4)
    tokenizer.save(str(folder / WORDS))
    return list_files(folder, SAFE, WORDS)


def gguf(folder: Path, numbers: torch.Tensor) -> Listing:
    """One tensor as it is, the same in four bits, and a tokenizer of bytes."""
    gguf = pytest.importorskip("gguf", reason="pip install .[models]")
    writer = gguf.GGUFWriter(folder / GGUF, "llama")
    quantised = gguf.GGMLQuantizationType.Q4_1
    for name in ("plain", "small"):
        data = numbers.numpy()
        if name == "small":
            data = gguf.quants.quantize(data, quantised)
        writer.add_tensor(name, data, raw_dtype=quantised if name == "small" else None)
    tokens = ["<|end|>", *"abĠ12", "ab", "Ġab"]
    writer.add_token_list(tokens)
    writer.add_token_types([3] + [1] * (len(tokens) - 1))
    writer.add_token_merges(["a b", "Ġ ab"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return list_files(folder, GGUF)
