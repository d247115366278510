"""What a function has returned is looked at again, after later calls."""

import pytest
import torch

from autograder.checks.properties.result_log import ResultLog


@pytest.mark.parametrize("kind", [dict, list])
def test_a_container_that_is_filled_again_is_seen(kind):
    container = kind() if kind is dict else [0]

    def fill(x: int) -> dict | list:
        container[0] = object()
        return container

    log = ResultLog()
    function = log.noting(fill)
    function(1)
    log.copy_results()
    assert log.describe_changes() == "none"
    function(2)
    assert log.describe_changes() == "some"


def test_what_is_no_number_stays_what_it_is():
    log, value = ResultLog(), torch.tensor([torch.nan, 1.0])
    log.noting(lambda: (value, [value]))()
    log.copy_results()
    assert log.describe_changes() == "none"
    value[1] = 2.0
    assert log.describe_changes() == "some"
