"""For wrong numbers, say what all failing cases have in common."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.diagnostics.numbers import NUMBERS
from autograder.checks.diagnostics.symptoms import of_all
from tests.checks.diagnostics.seen import judged

A = torch.arange(1.0, 13.0).reshape(3, 4).sin()
B = torch.arange(1.0, 21.0).reshape(5, 4).cos()
ROWS = [A.exp().softmax(-1), B.exp().softmax(-1)]
MASK = torch.ones(3, 4).triu()
FIRST = torch.tensor([True, False, False, False])
NOISE = torch.arange(20.0).reshape(5, 4).tan()


def name_symptom(right, actual, name: str = "output") -> str:
    """What is said of an answer beside another one that nothing explains."""
    beside = [({"x": A}, {"x": A + NOISE[:3].abs()}), ({"x": B}, {"x": B - 2 * NOISE})]
    pairs = [
        (a | {name: r}, b | {name: o})
        for (a, b), r, o in zip(beside, right, actual, strict=True)
    ]
    symptom = of_all(judged(*pairs))
    return symptom.says if symptom else ""


@pytest.mark.parametrize(
    ("right", "actual", "message"),
    [
        ([A, B], [3 * A, 3 * B], 'Every number of "output" is 3 times what it should'),
        ([A > 0, B > 0], [A <= 0, (B <= 0).byte()], '"output" is inverted'),
        ([A[:1] > 0, B[:1] > 0], [(A[:1] <= 0).expand(3, -1), B[:1] <= 0],
         '"output" is inverted'),
        ([A, B], [A + 2, B + 2], 'Every number of "output" differs from the right one'),
        ([A, B], [A.flip(0), B.T.reshape(5, 4)], 'All numbers of "output" are there'),
        ([A, B], [3 * A, 5 * B],
         'In every case the numbers of "output" are right up to a factor: 5 in one '
         "of them, 3 in another."),
        ([A, B], [A * A[:, :1], B * B[:, :1]],
         'In each row of "output" the numbers are right up to a factor, which'),
        (ROWS, [A.softmax(0), B.softmax(0)],
         'The numbers of "output" sum to 1 along dimension 0, but should do so '
         "along the last one."),
        (ROWS, [A.sigmoid() / 4, B.sigmoid() / 4],
         'Each row of "output" should sum to 1, but one of yours sums to '),
        ([torch.ones(4), torch.ones(5)], [torch.zeros(4), torch.zeros(5)],
         'Wherever "output" is wrong, yours is 0 instead of 1.'),
        ([A > 0, B > 0], [torch.ones(3, 4) > 0, torch.ones(5, 4) > 0],
         'Wherever "output" is wrong, yours is True instead of False.'),
        ([A, B], [A.where(MASK > 0, 7.0), B.where(B < 0, 7.0)],
         'Wherever "output" is wrong, yours is 7.'),
        ([MASK * A, B.relu()], [MASK * A + 0.25 * A.square(), B.relu() + B.square()],
         'In "output", some entries should be exactly 0'),
        ([A, B], [A, B * 1e9 * NOISE], 'Numbers of "output" are far too large: '),
        ([A, B], [A.where(FIRST, NOISE[:3]), B.where(FIRST, NOISE)],
         'Along dimension 1, "output" is right before index 1, and wrong from there'),
        ([A, B], [torch.cat([A[:2], NOISE[2:3]]), torch.cat([B[:3], NOISE[3:]])],
         'Along dimension 0, "output" is right at first and wrong from some index '
         "on: in one case from 2 on."),
        ([A, B], [(A + 1) * MASK, (B - NOISE) * (B > 0)],
         'In "output", some numbers are 0 that should not be.'),
    ],
)  # fmt: skip
def test_what_is_true_of_one_answer_is_told_beside_others(right, actual, message):
    assert name_symptom(right, actual).startswith(message)


def test_single_numbers_of_all_cases_are_held_together():
    right = [torch.tensor(float(n)) for n in (2, 3, 5)]
    for actual, message in (
        ([2 * r for r in right], 'Every number of "loss" is 2 times what it should'),
        (
            [r - 1 for r in right],
            'Every number of "loss" differs from the right one by',
        ),
    ):
        pairs = [({"loss": r}, {"loss": o}) for r, o in zip(right, actual, strict=True)]
        assert of_all(judged(*pairs)).says.startswith(message)
    counts = [torch.tensor(n) for n in (4, 7)]
    for offset, message in ((1, "words: 1 too many."), (-2, "words: 2 too few.")):
        assert name_symptom(counts, [n + offset for n in counts], "words") == message


@pytest.mark.parametrize(
    ("right", "actual"),
    [
        ([A, B], [3 * A, 3 * B + 1]),  # a factor of one case
        ([A, B], [A + 2, B - NOISE]),  # a summand of one case
        ([A > 0, B > 0], [A < 0, B.flip(0) > 0]),  # too many and too few
    ],
)
def test_what_is_not_true_of_all_cases_is_not_told(right, actual):
    assert name_symptom(right, actual) == ""


def test_a_sign_says_nothing_of_other_problems():
    shapes = [({"output": A}, {"output": B}), ({"output": B}, {"output": A})]
    for result in (judged(*shapes), judged(({"output": A}, {"output": "text"}))):
        findings = [f for case_result in result for f in case_result.findings]
        assert not any(sign(findings) for sign in NUMBERS)


def test_a_single_number_that_should_be_0_in_one_case_only_is_an_accident():
    zero, more = torch.tensor(0.0), torch.tensor(2.5)
    message = 'In "low", some entries should be exactly 0'
    for right, is_told in (([zero, zero], True), ([zero, more], False)):
        wrong = [torch.tensor(-1.98), torch.tensor(0.73)]
        assert name_symptom(right, wrong, "low").startswith(message) == is_told


def test_zeros_of_a_tensor_are_told_if_most_of_what_is_wrong_should_be_0():
    few = [A.where(MASK * A.abs() > 0.3, 0.0), B.where(B.abs() > 0.3, 0.0)]
    mostly_right = [r.where(r == 0, r + 1) + (r == 0) * NOISE[: len(r)] for r in few]
    message = 'In "output", some entries should be exactly 0'
    assert name_symptom(few, mostly_right).startswith(message)
    sparse = [r.where(torch.arange(4) > 0, 0.0) for r in (A + 2, B + 2)]
    is_used = torch.arange(4) > torch.tensor([[0], [0], [-1], [-1], [-1]])
    wrong = [
        r * 1.5 + ~is_used[: len(r)] * 0.5 * (NOISE[: len(r)] != 0) for r in sparse
    ]
    assert not name_symptom(sparse, wrong).startswith(message)
