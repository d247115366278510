"""Enough is underway when all have work, or too much waits to be recorded."""

import logging
from concurrent.futures import Future

import pytest

from autograder.grading.run import submission
from autograder.grading.run.submission import (
    InFlightSubmission,
    is_at_capacity,
    names_of,
    result_of,
)
from tests.grading.eventful import task


def begun(*results: object) -> InFlightSubmission:
    """A submission whose notebooks have come to these; None: not yet."""
    submission = InFlightSubmission("ada")
    for number, result in enumerate(results):
        future: Future = Future()
        if isinstance(result, Exception):
            future.set_exception(result)
        elif result is not None:
            future.set_result(result)
        submission.futures[str(number)] = future
    return submission


def test_one_more_than_there_are_slots_is_enough():
    assert not is_at_capacity([begun(None)], 1)
    assert is_at_capacity([begun(None), begun(None)], 1)
    assert not is_at_capacity([begun(None), begun(b"done"), begun(b"done")], 1)


def test_what_waits_for_a_slow_one_is_bounded_in_number_and_in_bytes(monkeypatch):
    monkeypatch.setattr(submission, "MOST_AHEAD", 4)
    monkeypatch.setattr(submission, "MOST_AHEAD_BYTES", 100)
    small, large = begun(b"x"), begun(b"x" * 60)
    assert not is_at_capacity([small] * 3, 1) and is_at_capacity([small] * 4, 1)
    assert not is_at_capacity([large], 1) and is_at_capacity([large] * 2, 1)


def test_only_results_that_are_there_have_a_size():
    submission = begun(b"x" * 7, None, ValueError("no"))
    assert submission.size == 7 and submission.running
    assert not begun(b"x", ValueError("no")).running


def test_what_is_up_to_date_has_nothing_to_wait_for():
    assert not InFlightSubmission("ada", tasks=(task(),)).running


def test_what_grading_raised_comes_out_where_it_is_recorded():
    submission = begun(OSError("no space left"))
    with pytest.raises(OSError, match="no space left"):
        result_of(submission.futures["0"], task(), logging.getLogger())


def test_who_is_graded_is_told_in_a_few_words():
    assert names_of({}) == ""
    busy = dict(enumerate(["ada", "x" * 40, "cyd", "dan", "eve"]))
    assert names_of(busy) == f"ada, {'x' * 16}, cyd +2"
