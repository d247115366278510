"""Tensors agree within tolerances; whole numbers and booleans exactly."""

import itertools
import math

import pytest
import torch

from autograder.checks.exercise import Case
from autograder.checks.values import (
    differing,
    is_raised_by_code,
    same_answer,
    same_values,
    telling_part,
)


def test_numbers_agree_within_tolerances_and_nan_with_nan():
    a = torch.tensor([1.0, float("nan"), -2.0])
    assert same_values(a, a + 1e-6, 1e-5, 0.0)
    assert differing(a, a + 1e-3, 1e-5, 0.0).tolist() == [True, False, True]


def test_whole_numbers_agree_exactly():
    a = torch.tensor([1, 2])
    assert same_values(a, a.clone(), 1.0, 1.0) and not same_values(a, a + 1, 1.0, 1.0)


def test_what_is_no_number_agrees_with_itself_alone():
    a = torch.tensor([torch.inf, 1.0, torch.nan])
    assert same_values(a, a.clone(), 1e-5, 0.0)
    for different in (-a, a.nan_to_num(), a.flip(0)):
        assert not same_values(a, different, 1e-5, 0.0)
        assert not same_values(different, a, 1e-5, 0.0)
    assert same_values(a[:0], a[:0], 1e-5, 0.0)


def test_numbers_agree_within_a_share_of_the_expected_one():
    large = torch.tensor([1e4, -1e4])
    assert same_values(large, 1.005 * large, 1e-5, 1e-2)
    assert not same_values(large, 1.02 * large, 1e-5, 1e-2)


# Around the tolerance of each expected number, and far from any.
NUMBERS = (0.0, 1.0, -1.0, 100.0, math.nan, math.inf, -math.inf)
GAPS = (0.0, 0.5, 0.985, 0.995, 0.9999, 1.0001, 1.005, 1.02, 2.0, 1e9, math.inf)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rtol", [0.0, 1e-4])
def test_the_short_way_says_what_the_long_one_does(dtype, rtol):
    for number, second_number, gap in itertools.product(NUMBERS, NUMBERS, GAPS):
        expected = torch.tensor([second_number, number, 3.0], dtype=dtype)
        actual = expected.clone()
        actual[1] += gap * (1e-5 + rtol * abs(number))
        wrong = differing(expected, actual, 1e-5, rtol)
        assert same_values(expected, actual, 1e-5, rtol) == (not wrong.any())


CASE = Case("a", "a", "", {}, {})
OWN = "ValueError: keine Tabelle\nin your line 4: if wrong: raise ValueError(text)"
CALLED = (
    "ValueError: n < 0\nin your line 3: return causal_mask(n)"
    "\nand there line 2 of `causal_mask`: raise ValueError('n < 0')"
)
PYTORCHS = "ValueError: cannot reshape\nin your line 4: return x.reshape(raised)"


def test_an_error_that_code_raises_itself_is_known_by_its_type():
    for error in (OWN, CALLED):
        assert is_raised_by_code(error) and telling_part(error) == "ValueError"
        assert same_answer("ValueError", error, CASE)
        assert not same_answer("TypeError", error, CASE)
        assert not same_answer("ValueError: keine Tabelle", error, CASE)


def test_any_other_error_is_known_by_its_words():
    assert not is_raised_by_code(PYTORCHS)
    assert same_answer("ValueError: cannot reshape", PYTORCHS, CASE)
    assert not same_answer("ValueError", PYTORCHS, CASE)
