"""A tokenizer and a model that know three sentences, and the embedded corpus."""

from __future__ import annotations

import pytest
import torch

from autograder.library import corpora
from autograder.library.model import Restorer, Sizes
from autograder.library.text import SubwordTokenizer, pieces
from autograder.solutions import encoder_decoder
from autograder.solutions.text_recovery import learn_merges, segment
from tests.library.sentences import SENTENCES


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
