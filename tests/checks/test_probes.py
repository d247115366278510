"""A probe declares what each of its answers counts for, once."""

import json

import pytest
import torch

from autograder.checks.probes import OWN, find, probe
from autograder.checks.probes.default import CALL, observe_call


@pytest.fixture
def declared(tiny_exercise):
    """The probe of the tiny exercise, with more to report."""
    probe(
        "tiny/double",
        results="twice; row *",
        calls="* afterwards",
        learning="gradient of *; x learns afterwards",
        parts={"halves": "half of *"},
    )(lambda function, inputs: {})
    return find("tiny/double")


def test_names_are_declared_in_full_or_by_patterns(declared):
    names = ["twice", "row 12", "x afterwards", "gradient of x", "half of x"]
    aspects = [declared.aspect(name) for name in names]
    assert aspects == [OWN, OWN, "calls", "learning", "halves"]


def test_a_full_name_goes_before_a_pattern(declared):
    assert declared.aspect("x learns afterwards") == "learning"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gradients are recorded", "for no aspect"),
        ("twice again", "for no aspect"),
        ("gradient of x afterwards", "as calls and as learning"),
    ],
)
def test_what_is_not_declared_once_is_an_error(declared, name, reason):
    with pytest.raises(LookupError, match=f"{name}.* is declared {reason}"):
        declared.aspect(name)


def test_a_gradient_that_fails_leaves_the_results_as_they_are():
    def square(x):
        root = x.exp()
        result = root * root
        root += 1  # which the gradient needs as it was
        return result

    call = {"order": ["x"], "results": ["the square"], "gradients": True}
    observations = observe_call(square, {CALL: json.dumps(call), "x": torch.zeros(2)})
    assert observations["the square"].tolist() == [1, 1]
    assert observations["gradient of x"] == "RuntimeError"
