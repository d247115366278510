"""Enough is underway when all have work, or too much waits to be recorded."""

from __future__ import annotations

import logging
from concurrent.futures import Future

import pytest

from autograder.grading.metadata import GradingMetadata
from autograder.grading.workers import pipeline
from autograder.grading.workers.pipeline import Begun, Here, Work, enough, names_of
from tests.grading.eventful import task


def begun(*results: object) -> Begun:
    """A submission whose notebooks have come to these; None: not yet."""
    works = []
    for result in results:
        future: Future = Future()
        if isinstance(result, Exception):
            future.set_exception(result)
        elif result is not None:
            future.set_result(result)
        works.append(Work(task(), "digest", GradingMetadata(), future))
    return Begun("ada", works=works)


def test_one_more_than_there_are_slots_is_enough():
    one = Here([])
    assert not enough([begun(None)], one)
    assert enough([begun(None), begun(None)], one)
    assert not enough([begun(None), begun(b"done"), begun(b"done")], one)


def test_what_waits_for_a_slow_one_is_bounded_in_number_and_in_bytes(monkeypatch):
    monkeypatch.setattr(pipeline, "MOST_AHEAD", 4)
    monkeypatch.setattr(pipeline, "MOST_AHEAD_BYTES", 100)
    small, large = begun(b"x"), begun(b"x" * 60)
    assert not enough([small] * 3, Here([])) and enough([small] * 4, Here([]))
    assert not enough([large], Here([])) and enough([large] * 2, Here([]))


def test_only_results_that_are_there_are_held():
    one = begun(b"x" * 7, None, ValueError("no"))
    assert one.held == 7 and not one.done and begun(b"x", ValueError("no")).done


def test_what_is_up_to_date_has_nothing_to_wait_for():
    assert Begun("ada", works=[Work(task(), "digest", GradingMetadata())]).done


def test_what_grading_raised_comes_out_where_it_is_recorded():
    (work,) = begun(OSError("no space left")).works
    with pytest.raises(OSError, match="no space left"):
        work.graded(logging.getLogger())


def test_who_is_graded_is_told_in_a_few_words():
    assert names_of({}) == ""
    busy = dict(enumerate(["ada", "x" * 40, "cyd", "dan", "eve"]))
    assert names_of(busy) == f"ada, {'x' * 16}, cyd +2"
