"""Both formats give float32 tensors by name, and a tokenizer there and back."""

from __future__ import annotations

import sys

import pytest
import torch

from tests.transformer_course.library.published import drawn
from transformer_course.library.published import PublishedModelError, fetch


def test_safetensors_are_float32_and_new_ones_each_time(tmp_path):
    model = fetch(drawn.safetensors(tmp_path), tmp_path)
    assert set(model.weights) == set(drawn.TENSORS) and len(model.weights) == 2
    for name, expected in drawn.TENSORS.items():
        tensor = model.weights[name]
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, expected.float())
        tensor.zero_()
        assert torch.equal(model.weights[name], expected.float())


def test_its_texts_are_neither_cut_nor_padded(tmp_path):
    model = fetch(drawn.safetensors(tmp_path), tmp_path)
    assert model.encode("the cat sat") == [1, 2, 3]
    assert model.decode(torch.tensor([1, 2])) == "the cat"
    assert model.token(3) == "sat"


def test_four_bits_come_back_on_a_grid_of_sixteen(tmp_path):
    torch.manual_seed(5)
    numbers = torch.randn(6, 64)
    model = fetch(drawn.gguf(tmp_path, numbers), tmp_path)
    assert list(model.weights) == ["plain", "small"]
    assert torch.equal(model.weights["plain"], numbers)
    rounded = model.weights["small"]  # blocks of 32: 15 steps from smallest to largest
    blocks, restored = numbers.view(-1, 32), rounded.view(-1, 32)
    step = (blocks.amax(1) - blocks.amin(1)) / 15
    assert all(len(row.unique()) <= 16 for row in restored)
    assert ((restored - blocks).abs().amax(1) <= 0.51 * step).all()
    assert not torch.equal(rounded, numbers)
    for name in model.weights:
        model.weights[name].zero_()  # its own copy, not the file


def test_a_tokenizer_of_bytes_keeps_special_tokens_whole(tmp_path):
    model = fetch(drawn.gguf(tmp_path, torch.ones(1, 32)), tmp_path)
    text = "ab ab<|end|>12"
    assert [model.token(i) for i in model.encode(text)] == (
        ["ab", "Ġab", "<|end|>", "1", "2"]
    )
    assert model.decode(model.encode(text)) == "ab ab12"


@pytest.mark.parametrize("library", ["gguf", "tokenizers"])
def test_a_missing_reader_is_one_line(tmp_path, monkeypatch, library):
    listing = drawn.gguf(tmp_path, torch.ones(1, 32))
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(PublishedModelError) as caught:
        fetch(listing, tmp_path)
    assert f"pip install {library}" in str(caught.value)
    assert "\n" not in str(caught.value)
