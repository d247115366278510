"""Of a wrong shape it is told what all cases that fail have in common."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.diagnostics.symptoms import of_all
from tests.checks.diagnostics.seen import judged

RIGHT = [(2, 3, 5), (4, 3, 7)]


def name_symptom(*actual: tuple[int, ...], right=RIGHT) -> str:
    cases = [
        ({"heads": torch.rand(a)}, {"heads": torch.rand(b)})
        for a, b in zip(right, actual, strict=True)
    ]
    symptom = of_all(judged(*cases))
    return symptom.says if symptom else ""


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        ([(2, 1, 3, 5), (4, 1, 3, 7)],
         '"heads" should have 3 dimensions, but yours has 4: '
         "shape (2, 1, 3, 5) instead of (2, 3, 5)."),
        ([(15,), (21,)], '"heads" should have 3 dimensions, but yours has 1'),
        ([(5, 2, 3), (7, 4, 3)], 'The dimensions of "heads" are in a different order: '
         "its shape is (5, 2, 3) instead of (2, 3, 5)."),
        ([(6, 2, 5), (8, 4, 7)],
         'What should be dimension 0 of "heads" is dimension 1 of yours: '
         "shape (6, 2, 5) instead of (2, 3, 5)."),
        ([(2, 3, 10), (4, 3, 14)],
         'Dimension 2 of "heads" is 2 times as long as it should be: 10 instead'),
        ([(2, 3, 1), (4, 3, 1)],
         'Dimension 2 of "heads" has only one entry in every case that fails: '
         "1 instead of 5."),
        ([(2, 3, 6), (4, 3, 9)], 'Dimension 2 of "heads" is too long: 6 instead of 5.'),
        ([(2, 3, 1), (4, 3, 6)],
         'Dimension 2 of "heads" is too short: 1 instead of 5.'),
    ],
)  # fmt: skip
def test_what_is_the_same_in_all_cases_is_told(actual, message):
    assert name_symptom(*actual).startswith(message)


@pytest.mark.parametrize(
    ("front", "back", "message"),
    [
        ([7], [], '"ids" is right, but there is something in front of it: 4 numbers'),
        ([], [7, 7], '"ids" is right, but there is something behind it: 5 numbers'),
    ],
)
def test_right_ids_with_others_around_them_are_told(front, back, message):
    pairs = [
        ({"ids": torch.tensor(ids)}, {"ids": torch.tensor([*front, *ids, *back])})
        for ids in ([1, 2, 3], [4, 5, 6, 8])
    ]
    symptom = of_all(judged(*pairs))
    assert symptom is not None and symptom.says.startswith(message)


@pytest.mark.parametrize(
    "actual",
    [
        [(2, 3, 5, 1), (4, 21)],  # other numbers of dimensions
        [(2, 3, 6), (4, 3, 5)],  # too long and too short
        [(2, 3, 6), (4, 4, 7)],  # other dimensions
    ],
)
def test_what_differs_from_case_to_case_is_not_told(actual):
    assert name_symptom(*actual) == ""


def test_an_order_is_the_same_in_all_cases():
    assert "order" in name_symptom((5, 2, 3), (7, 4, 3))
    assert "order" not in name_symptom((5, 2, 3), (4, 7, 3))


def test_a_size_that_never_varies_does_not_tell_where_a_dimension_went():
    assert "dimension 1 of yours" in name_symptom((6, 2, 5), (8, 4, 7))
    fixed = name_symptom((6, 2, 5), (8, 2, 7), right=[(2, 3, 5), (2, 3, 7)])
    assert "dimension 1 of yours" not in fixed


def test_an_answer_that_varies_tells_more_of_a_single_entry_than_one_that_does_not():
    """Logits of the last position only: of 2 positions, they are "too short by 1"."""
    cases = [
        ({"logits": torch.rand(n, 7), "of two": torch.rand(2, 7)},
         {"logits": torch.rand(1, 7), "of two": torch.rand(1, 7)})
        for n in (5, 3)
    ]  # fmt: skip
    assert of_all(judged(*cases)).says == (
        'Dimension 0 of "logits" has only one entry in every case that fails: 1 '
        "instead of 5."
    )
