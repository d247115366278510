"""Names of files are safe to print, and repairs travel as plain values."""

import json

from autograder.grading.intake.common import (
    Repair,
    dump_repairs,
    join_names,
    load_repairs,
)


def test_the_first_few_of_many_are_listed():
    assert join_names(["a"]) == "a" and join_names(["a", "b", "c"]) == "a, b, c"
    assert join_names(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert join_names(["a", "b", "c"], most=1) == "a and 2 more"


def test_a_name_is_printable_and_short_whatever_it_holds():
    assert join_names(["\x1b[31m\n\u202ex\ud83d"]) == "?[31m ?x?"
    assert join_names(["Übung.ipynb"]) == "Übung.ipynb"
    assert join_names(["x" * 500]) == "x" * 60


def test_repairs_are_the_same_after_their_journey_as_json():
    repairs = (Repair("file", "A file was left out."), Repair("cell", "Äß"))
    assert load_repairs(json.loads(json.dumps(dump_repairs(repairs)))) == repairs
