"""A policy is limits, and travels as text."""

import pytest

from autograder.sandbox import confine


@pytest.mark.parametrize(
    "bad",
    [{"memory_mb": 0}, {"level": "castle"}, {"notebook_seconds": -1.0}, {"files": 0}],
)
def test_a_policy_that_is_no_limit_is_refused(bad):
    with pytest.raises(ValueError):
        confine.Policy(**bad)


def test_a_policy_survives_its_environment_variable():
    policy = confine.Policy(memory_mb=321, hidden=("/a", "/b"), notebook_seconds=1.5)
    assert confine.Policy.from_json(policy.to_json()) == policy
