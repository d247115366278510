"""What a probe says of an object that does not fit is told in plain words."""

from __future__ import annotations

import pytest

from autograder.checks.compare import compare
from autograder.checks.diagnostics.symptoms import of_all
from autograder.checks.exercise import RAISED, Case


def name_symptom(*errors: str) -> str:
    case = Case("c", "c", "", {}, {"output": "x"})
    symptom = of_all([compare(case, {RAISED: error}) for error in errors])
    return symptom.says if symptom else ""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("expected `w_v.weight` of shape (6, 5), found (3, 5)",
         "`w_v.weight` has the wrong shape."),
        ("expected a `src_mask` that broadcasts to the scores (B, h, Lq, Lk) = "
         "(3, h, 4, 6), got one of shape (4, 6)",
         "`src_mask` does not broadcast to the scores."),
        ("expected a mask that broadcasts to the scores (2, 3), got one of (4,)",
         "Your mask does not broadcast to the scores."),
        ("RuntimeError: upper bound and lower bound inconsistent with step sign",
         "A range ends before it begins."),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'own.pt'",
         "Your code opens a file that is not there: `own.pt`."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(error, message):
    assert name_symptom(error) == name_symptom(error, error) == message


def test_different_names_are_no_single_symptom():
    first, second = (f"expected `{n}` of shape (6, 5), found (3, 5)" for n in "ab")
    case = Case("c", "c", "", {}, {"output": "x"})
    symptom = of_all([compare(case, {RAISED: error}) for error in (first, second)])
    assert "Some cases fail for another reason." in symptom.asks
