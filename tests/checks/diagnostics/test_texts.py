"""Of what is answered in words it is told what all that is wrong has in common."""

from __future__ import annotations

import json

import pytest
import torch

from autograder.checks.diagnostics.symptoms import of_all
from tests.checks.diagnostics.seen import judged

X = torch.arange(6.0).reshape(2, 3)


def name_symptom(*pairs: tuple[object, object], name: str = "answer") -> str:
    """What is said of these answers, expected and given, beside other wrong ones."""
    cases = [
        ({"x": X + n, name: right}, {"x": (X + 1) ** (n + 2), name: actual})
        for n, (right, actual) in enumerate(pairs)
    ]
    symptom = of_all(judged(*cases))
    return symptom.says if symptom else ""


def lists(*pairs: tuple[list, list]) -> list[tuple[str, str]]:
    return [(json.dumps(right), json.dumps(actual)) for right, actual in pairs]


def test_another_kind_of_result_is_told_although_its_value_is_wrong():
    pair = ("a number", "one tensor of shape ()")
    message = '"the share" should be a number, but yours is one tensor of shape ().'
    assert name_symptom(pair, pair, name="kind of the share") == message
    other = ("a number", "a list")
    assert name_symptom(pair, other, name="kind of the share") != message


def test_results_of_which_some_are_of_another_kind_are_told_as_that():
    pair = ("a list", "a list, a str")
    message = '"the symbols" should always be a list, but yours is sometimes a str.'
    assert name_symptom(pair, pair, name="kind of the symbols") == message


@pytest.mark.parametrize(
    ("right", "actual", "message"),
    [
        ("small", "zeros", 'For "answer", "small" is right, but yours is "zeros".'),
        ("True", "False", "This should hold, but does not: answer."),
        ("no", "yes", "This should not be so, but is: answer."),
        (torch.tensor(True), torch.tensor(False), "This should hold, but does not"),
        ("rejected", "ended by NameError", "Your test does not decide: a `NameError` "),
    ],
)
def test_the_same_words_in_all_cases_are_told(right, actual, message):
    assert name_symptom((right, actual), (right, actual)).startswith(message)


def test_other_words_in_each_case_are_not_told():
    assert name_symptom(("small", "zeros"), ("small", "ones")) == ""


def test_one_answer_to_all_is_told():
    pairs = [
        ({"a": "invariant", "b": "equivariant"}, {"a": "neither", "b": "neither"}),
        ({"a": "neither", "b": "invariant"}, {"a": "neither", "b": "neither"}),
    ]
    message = 'Wherever your answer is wrong, it is "neither".'
    assert of_all(judged(*pairs)).says == message
    differing = ({"a": "neither", "b": "neither"}, {"a": "invariant", "b": "neither"})
    assert of_all(judged(*pairs, differing)) is None


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (lists((["a", "b", "c"], ["c", "b", "a"])) * 2,
         'The items of "answer" are right, but in reverse.'),
        (lists((["a", "b", "c"], ["b", "a", "c"]), (["d", "e"], ["e", "d"])),
         'The items of "answer" are right, but in a different order.'),
        (lists(([["ab", "c"], ["d"]], [["a", "bc"], ["d"]]), ([["ab"]], [["a", "b"]])),
         "answer: the text is right, but cut in different places."),
        (lists(([["ab"], ["cd"]], [["a", "b"], ["c", "d"]])),
         "answer: the text is right, but cut into too many pieces."),
        (lists(([["a", "b"], ["c", "d"]], [["ab"], ["cd"]])),
         "answer: the text is right, but cut into too few pieces."),
        (lists((["the cat sat", "a dog"], ["cat sat", "dog"])),
         "answer: pieces are missing, and all that is there is right."),
        (lists((["cat sat", "dog"], ["the cat sat", "a dog"])),
         "answer: there are pieces too many beside all the right ones."),
    ],
)  # fmt: skip
def test_of_lists_it_is_told_how_they_differ(pairs, message):
    assert name_symptom(*pairs) == message


def test_unlike_lists_are_not_told():
    assert name_symptom(*lists((["a b", "c"], ["x y", "z"]))) == ""
    pairs = lists((["a", "b"], ["a", "c"]), (["a", "b"], ["b", "a"]))
    assert name_symptom(*pairs) == ""
