"""The class at a glance, with a line for each miss."""

from autograder.classroom import table
from autograder.grading.judge.record import CaseRecord, Record


def test_a_miss_is_explained_in_one_line():
    cases = (CaseRecord("c", "a causal mask", "values", False),)
    miss = Record("u/e", 0, 4, cases=cases)
    assert table.why(miss) == "no known mistake; fails: a causal mask"
    named = Record("u/e", 0, 4, "unscaled", "The scaling is missing.", cases=cases)
    assert table.why(named) == "[unscaled] The scaling is missing."
    assert table.why(Record("u/e", 0, 4, note="It stopped.")) == "It stopped."
