"""What computes for too long is ended, whatever it does about it."""

import pytest

from autograder.checks.time_limit import TooLongError, limit


def test_who_loses_its_end_is_ended_again():
    lost = []
    with pytest.raises(TooLongError), limit(0.05):
        try:
            while True:
                pass
        except TooLongError as error:  # as a callback of the collector does
            lost.append(error)
        while True:
            pass
    assert len(lost) == 1
