"""Text alternatives say what the numbers of a figure are."""

import torch

from autograder.figures import told

WORDS = ["the", "cat", "sat"]


def test_a_row_of_weights_is_told_by_its_largest_or_as_even():
    weights = torch.tensor([[0.02, 0.98, 0.0], [0.34, 0.33, 0.33], [0.49, 0.02, 0.49]])
    assert told.weights(weights, WORDS, WORDS) == (
        "the: cat 0.98; cat: even; sat: the and sat 0.49."
    )


def test_a_mask_is_told_by_what_each_row_allows():
    allowed = torch.tensor([[True, False, False], [True, True, False], [False] * 3])
    assert told.mask(allowed, WORDS, WORDS) == "the: the; cat: the, cat; sat: none."


def test_a_curve_is_told_by_its_ends_and_what_lies_beyond_them():
    assert told.curve([2.6, 1.0, 0.01]) == "from 2.6 to 0.01"
    assert told.curve([1.0, 5.0, 0.5]) == "from 1 to 0.5, highest 5"
    curves = told.curves({"a": [1, 2], "b": [3, 0, 3]})
    assert curves == "a: from 1 to 2; b: from 3 to 3, lowest 0."


def test_bars_are_told_one_by_one_with_three_digits():
    bars = told.bars({"one": 0.12345, "two": 1234567.0}, "%")
    assert bars == "one 0.123%, two 1,234,567%."
