"""Of what is answered in words it is told what all that is wrong has in common."""

from __future__ import annotations

import json

import pytest
import torch

from autograder.checks.diagnostics.symptoms import of_all
from tests.checks.diagnostics.seen import judged

X = torch.arange(6.0).reshape(2, 3)


def told(*pairs: tuple[object, object], name: str = "answer") -> str:
    """What is said of these answers, expected and given, beside other wrong ones."""
    cases = [
        ({"x": X + n, name: right}, {"x": (X + 1) ** (n + 2), name: own})
        for n, (right, own) in enumerate(pairs)
    ]
    found = of_all(judged(*cases))
    return found.says if found else ""


def lists(*pairs: tuple[list, list]) -> list[tuple[str, str]]:
    return [(json.dumps(right), json.dumps(own)) for right, own in pairs]


def test_another_kind_of_result_is_told_although_its_value_is_wrong():
    pair = ("a number", "one tensor of shape ()")
    says = '"the share" should be a number, but yours is one tensor of shape ().'
    assert told(pair, pair, name="kind of the share") == says
    assert told(pair, ("a number", "a list"), name="kind of the share") != says


def test_results_of_which_some_are_of_another_kind_are_told_as_that():
    pair = ("a list", "a list, a str")
    says = '"the symbols" should always be a list, but yours is sometimes a str.'
    assert told(pair, pair, name="kind of the symbols") == says


@pytest.mark.parametrize(
    ("right", "own", "says"),
    [
        ("small", "zeros", 'For "answer", "small" is right, but yours is "zeros".'),
        ("True", "False", "This should hold, but does not: answer."),
        ("no", "yes", "This should not be so, but is: answer."),
        (torch.tensor(True), torch.tensor(False), "This should hold, but does not"),
        ("rejected", "ended by NameError", "Your test does not decide: a `NameError` "),
    ],
)
def test_the_same_words_in_all_cases_are_told(right, own, says):
    assert told((right, own), (right, own)).startswith(says)


def test_other_words_in_each_case_are_not_told():
    assert told(("small", "zeros"), ("small", "ones")) == ""


def test_one_answer_to_all_is_told():
    found = [
        ({"a": "invariant", "b": "equivariant"}, {"a": "neither", "b": "neither"}),
        ({"a": "neither", "b": "invariant"}, {"a": "neither", "b": "neither"}),
    ]
    says = 'Wherever your answer is wrong, it is "neither".'
    assert of_all(judged(*found)).says == says
    other = ({"a": "neither", "b": "neither"}, {"a": "invariant", "b": "neither"})
    assert of_all(judged(*found, other)) is None


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        (
            lists(
                (["a", "b", "c"], ["c", "b", "a"]), (["d", "e", "f"], ["f", "e", "d"])
            ),
            'The items of "answer" are right, but in reverse.',
        ),
        (
            lists((["a", "b", "c"], ["b", "a", "c"]), (["d", "e"], ["e", "d"])),
            'The items of "answer" are right, but in a different order.',
        ),
        (
            lists(
                ([["ab", "c"], ["d"]], [["a", "bc"], ["d"]]), ([["ab"]], [["a", "b"]])
            ),
            "answer: the text is right, but cut in different places.",
        ),
        (
            lists(([["ab"], ["cd"]], [["a", "b"], ["c", "d"]])),
            "answer: the text is right, but cut into too many pieces.",
        ),
        (
            lists(([["a", "b"], ["c", "d"]], [["ab"], ["cd"]])),
            "answer: the text is right, but cut into too few pieces.",
        ),
        (
            lists((["the cat sat", "a dog"], ["cat sat", "dog"])),
            "answer: pieces are missing, and all that is there is right.",
        ),
        (
            lists((["cat sat", "dog"], ["the cat sat", "a dog"])),
            "answer: there are pieces too many beside all the right ones.",
        ),
    ],
)
def test_of_lists_it_is_told_how_they_differ(pairs, says):
    assert told(*pairs) == says


def test_unlike_lists_are_not_told():
    assert told(*lists((["a b", "c"], ["x y", "z"]))) == ""
    assert told(*lists((["a", "b"], ["a", "c"]), (["a", "b"], ["b", "a"]))) == ""
