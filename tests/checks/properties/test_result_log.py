"""What a function has returned is looked at again, after later calls."""

import pytest
import torch

from autograder.checks.properties.result_log import ResultLog


@pytest.mark.parametrize("kind", [dict, list])
def test_a_container_that_is_filled_again_is_seen(kind):
    one = kind() if kind is dict else [0]

    def fill(x: int) -> dict | list:
        one[0] = object()
        return one

    kept = ResultLog()
    function = kept.noting(fill)
    function(1)
    kept.look()
    assert kept.describe_changes() == "none"
    function(2)
    assert kept.describe_changes() == "some"


def test_what_is_no_number_stays_what_it_is():
    kept, value = ResultLog(), torch.tensor([torch.nan, 1.0])
    kept.noting(lambda: (value, [value]))()
    kept.look()
    assert kept.describe_changes() == "none"
    value[1] = 2.0
    assert kept.describe_changes() == "some"
