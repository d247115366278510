"""A checkpoint is one file, and gives back what was saved."""

from __future__ import annotations

import pytest

from tests.transformer_course.library.sentences import GREEDY, SENTENCES
from transformer_course.library.checkpoint import (
    LARGEST,
    CheckpointError,
    load,
    notes,
    save,
)
from transformer_course.library.decoding import recover
from transformer_course.library.model import Restorer, Sizes
from transformer_course.solutions import encoder_decoder
from transformer_course.solutions.text_recovery import segment


def test_a_checkpoint_gives_the_same_texts(tmp_path, model, tokenizer):
    path = save(tmp_path / "m.safetensors", model.half().float(), tokenizer, seed=3)
    restored, also = load(path, encoder_decoder, segment)
    before = recover(model, tokenizer, SENTENCES, GREEDY)
    assert recover(restored, also, SENTENCES, GREEDY) == before
    assert notes(path) == {"seed": 3}


def test_a_checkpoint_that_is_none_is_explained(tmp_path):
    with pytest.raises(CheckpointError, match="train a model first"):
        load(tmp_path / "none.safetensors", encoder_decoder, segment)
    path = tmp_path / "bad.safetensors"
    path.write_bytes(b"not a checkpoint at all")
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        load(path, encoder_decoder, segment)


def test_a_checkpoint_that_is_too_large_is_refused(tmp_path, tokenizer):
    big = Restorer(Sizes(len(tokenizer), 512, 8, 4, 2048), encoder_decoder)
    with pytest.raises(CheckpointError, match="at most 16 MB"):
        save(tmp_path / "big.safetensors", big, tokenizer)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "large.safetensors"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(CheckpointError, match="is larger than 16 MB"):
        load(path, encoder_decoder, segment)
    with pytest.raises(CheckpointError, match="is larger than 16 MB"):
        notes(path)
