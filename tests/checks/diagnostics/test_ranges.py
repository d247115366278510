"""Numbers that were rounded or limited are told as such."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.diagnostics.symptoms import of_all
from tests.checks.diagnostics.seen import judged

A = torch.arange(1.0, 13.0).reshape(3, 4).sin()
B = torch.arange(1.0, 21.0).reshape(5, 4).cos()
PRECISION = '"x" has only the precision of'


def name_symptom(change) -> str:
    symptom = of_all(judged(({"x": A}, {"x": change(A)}), ({"x": B}, {"x": change(B)})))
    return symptom.says if symptom else ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: (x.bfloat16() * 1.01).float(), f"{PRECISION} bfloat16."),
        (lambda x: x.clamp(-0.5, 0.5), '"x" is cut off at -0.5 and 0.5, but the right'),
        (lambda x: x.clamp(min=0), '"x" is cut off at 0, but the right'),
    ],
)
def test_what_was_lost_is_told(change, message):
    assert name_symptom(change).startswith(message)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.round(),  # representable, but too far from what is right
        lambda x: x.bfloat16().float() + 1e-4 * x,  # close, but not rounded
        lambda x: x.clamp(-0.5, 0.5) + 0.1 * (x > 0.9),  # some also go beyond the limit
        lambda x: torch.where(x > 0.9, x.min(), x),  # at a bound, on the wrong side
    ],
)
def test_what_only_looks_like_it_is_not_told(change):
    symptom = name_symptom(change)
    assert "precision of" not in symptom and "cut off" not in symptom
