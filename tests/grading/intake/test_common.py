"""Names of files are safe to print, and repairs travel as plain values."""

import json

from autograder.grading.intake.common import Repair, listed, said, say


def test_the_first_few_of_many_are_listed():
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert listed(["a", "b", "c"], most=1) == "a and 2 more"


def test_a_name_is_printable_and_short_whatever_it_holds():
    assert listed(["\x1b[31m\n\u202ex\ud83d"]) == "?[31m ?x?"
    assert listed(["Übung.ipynb"]) == "Übung.ipynb"
    assert listed(["x" * 500]) == "x" * 60


def test_repairs_are_the_same_after_their_journey_as_json():
    repairs = (Repair("file", "A file was left out."), Repair("cell", "Äß"))
    assert said(json.loads(json.dumps(say(repairs)))) == repairs
