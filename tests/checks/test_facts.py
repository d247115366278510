"""What is said of a value holds of it, and plain data says it."""

import json
import math

import pytest
import torch

from autograder.checks.facts import difference, facts, summary

ROWS = torch.tensor([[0.25, 0.75], [0.5, 0.5]])


def test_a_tensor_is_told_by_its_shape_and_what_holds_of_it():
    facts_of_rows = summary(ROWS)
    assert (facts_of_rows["shape"], facts_of_rows["dtype"]) == ([2, 2], "float32")
    assert {"rows sum to one"} <= {*facts_of_rows["facts"]}
    assert not {"columns sum to one", "negative", "nan"} & {*facts_of_rows["facts"]}


@pytest.mark.parametrize(
    "value, holds",
    [
        (ROWS.mT, "columns sum to one"),
        (torch.tensor([1.0, -math.inf]), "minus infinity"),
        (torch.tensor([1.0, math.nan]), "nan"),
        (torch.tensor([1, -1]), "negative"),
        (torch.ones(3, 4).tril(), "nothing above"),
        (torch.ones(3, 3), "something below"),
        (torch.ones(2, 2, dtype=torch.bool), "all true"),
        (torch.zeros(2, 2, dtype=torch.bool), "all false"),
    ],
)
def test_each_fact_holds_of_an_example_and_not_of_its_opposite(value, holds):
    assert holds in facts(value)
    counterexample = torch.tensor([[0.5, 2.0], [0.0, 7.0]])
    if value.dtype == torch.bool:
        counterexample = torch.tensor([[True, False], [False, True]])
    assert holds not in facts(counterexample)


def test_anything_can_be_told_as_json():
    values = [None, 3, "a" * 900, [1, [2]], {"w": ROWS}, len, object(), 1j * ROWS,
              torch.empty(0, 3), ROWS.to_sparse(), float("nan")]  # fmt: skip
    text = json.dumps([summary(value) for value in values], allow_nan=False)
    assert len(text) < 2000


def test_results_are_the_same_near_or_different():
    assert difference(ROWS, ROWS + 1e-7) == {"same": True}
    assert difference(ROWS, ROWS + 1e-4) == {"near": True}
    assert difference((ROWS, 2), (ROWS + 1e-7, 2)) == {"same": True}
    assert difference((ROWS, 2), (ROWS, 3)) == {"near": True}
    assert difference(ROWS, ROWS.double()) == {"near": True}
    assert difference(ROWS, ROWS.mT)["turned"] == [True]
    assert difference(ROWS, 2 * ROWS)["factors"] == [2.0]
    assert difference((ROWS, ROWS), (3 * ROWS, ROWS))["factors"] == [3.0, 1.0]
    assert difference("ab", "ab") == {"same": True} and difference("ab", "ba") == {}
    assert difference(1.0, 1.0 + 1e-5) == {"near": True} and difference(1.0, 2.0) == {}
    assert difference(object(), object()) == {"near": True}
