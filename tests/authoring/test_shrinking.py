"""Inputs are cut in one way after the other, and never grow."""

import json

import torch

from autograder.authoring.shrinking import smaller_inputs
from autograder.checks.side_by_side import named_text


def smaller(**inputs):
    return [named_text(one) for one in smaller_inputs(inputs)]


def test_a_size_is_cut_wherever_it_occurs():
    inputs = {"q": torch.zeros(2, 5), "mask": torch.ones(5, 5), "n": torch.tensor(5)}
    cuts = [
        (tuple(one["q"].shape), tuple(one["mask"].shape), int(one["n"]))
        for one in smaller_inputs(inputs)
    ]
    assert cuts[0] == ((2, 2), (2, 2), 2), "half, as a number beside them"
    assert ((1, 5), (5, 5), 5) in cuts
    assert all(q[1] == mask[0] == mask[1] for q, mask, _ in cuts)


def test_lists_of_one_length_are_cut_together():
    texts, references = json.dumps(["a b", "c"]), json.dumps(["a", "d"])
    cuts = smaller(texts=texts, references=references)
    assert cuts[0] == 'texts = ["a b"]\nreferences = ["a"]'
    assert 'texts = ["a", "c"]\nreferences = ["a", "d"]' in cuts, "a word of a text"


def test_a_pair_in_a_list_stays_a_pair_and_no_symbol_becomes_empty():
    cuts = smaller(merges=json.dumps([["a", "bc"]]))
    assert set(cuts) == {
        "merges = []", 'merges = [["a", "b"]]', 'merges = [["a", "c"]]',
    }  # fmt: skip


def test_numbers_become_smaller_and_floats_rounder():
    assert smaller(k=torch.tensor(5)) == ["k = 1", "k = 2", "k = 4"]
    assert smaller(x=torch.tensor([0.37]))[0] == "x = [0.0]"
    assert smaller(counts='{"ab": 3}')[-2:] == [
        'counts = {"ab": 1}', 'counts = {"ab": 2}',
    ]  # fmt: skip


def test_parts_of_a_text_are_left_out_and_words_of_a_sentence_are_not():
    assert smaller(ask="both, the other order") == [
        "ask = both", "ask = the other order", "ask = both", "ask = the other order",
    ]  # fmt: skip
    assert "rows = 7 5" in smaller(rows="7 5; 6")
    assert smaller(layer="masked attention") == []
