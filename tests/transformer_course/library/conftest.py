"""A tokenizer and a model that know three sentences, and the embedded corpus."""

from __future__ import annotations

import pytest
import torch

from tests.transformer_course.library.sentences import SENTENCES
from transformer_course.library import corpora
from transformer_course.library.model import Restorer, Sizes
from transformer_course.library.text import SubwordTokenizer, pieces
from transformer_course.solutions import encoder_decoder
from transformer_course.solutions.text_recovery import learn_merges, segment


@pytest.fixture
def tokenizer() -> SubwordTokenizer:
    counts = {piece: 3 for text in SENTENCES for piece in pieces(text)}
    alphabet = {c for piece in counts for c in piece}
    return SubwordTokenizer(alphabet, learn_merges(counts, 20), segment)


@pytest.fixture
def model(tokenizer) -> Restorer:
    torch.manual_seed(3)
    return Restorer(Sizes(len(tokenizer), 16, 2, 1, 24), encoder_decoder).eval()


@pytest.fixture(scope="session")
def parts() -> dict[str, list[str]]:
    """The embedded corpus by split."""
    return corpora.embedded()
