"""The constant that scores best is added to the symbols of function words, once."""

import torch
from torch import nn

from benchmarks.calibration import calibrate, function_word_ids
from transformer_course.library.text import SPECIALS

VOCAB = [*SPECIALS, "a", "▁a", "▁A", "▁an", "▁man", "the", "▁the", "▁."]


def test_symbols_are_whole_words_after_a_space_whatever_their_case():
    ids = function_word_ids(VOCAB, {"a", "an", "the"})
    assert [VOCAB[i] for i in ids] == ["▁a", "▁A", "▁an", "▁the"]


def test_special_symbols_are_no_words():
    assert function_word_ids(VOCAB, {"<unk>", "<pad>"}) == []


def test_the_best_constant_is_added_to_its_symbols_alone():
    layer = nn.Linear(3, 5)
    before = layer.bias.detach().clone()

    def near_a_half() -> float:
        return -abs(float(layer.bias[1] - before[1]) - 0.5)

    best = calibrate(layer.bias, [1, 4], near_a_half, (0.0, 0.4, 1.0))

    assert best == 0.4
    added = layer.bias.detach() - before
    torch.testing.assert_close(added, torch.tensor([0, 0.4, 0, 0, 0.4]))
    assert layer.bias.requires_grad


def test_where_nothing_helps_the_biases_stay_bit_by_bit():
    bias = torch.tensor([0.1, 0.7])
    assert calibrate(bias, [0], lambda: 1.0) == 0.0
    assert torch.equal(bias, torch.tensor([0.1, 0.7]))
