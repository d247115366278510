"""Exercises that a change touches are validated as a whole, whatever that costs."""

import pytest

from autograder.authoring.catalogue import specification, specifications
from autograder.course import ROOT, find_unit, units
from tests.authoring import touched
from tests.authoring.convincing import convincing

NAMES = [name for unit in units() for name in touched.names(unit)]


@pytest.mark.long(seconds=20)
@pytest.mark.parametrize("name", NAMES)
def test_exercises_that_a_change_touches_are_valid(name):
    convincing([specification(name)])


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("transformer_course/newer/exercises/qk_norm.py", {"newer/qk_norm"}),
        ("autograder/grading/faults.py", set()),
        ("transformer_course/sequence_reversal/exercises/masked_loss.py", set()),
    ],
)
def test_a_changed_file_touches_the_exercises_that_it_belongs_to(
    monkeypatch, file, names
):
    unit = units()[-1]
    solutions = (ROOT / f"transformer_course/solutions/{unit.name}.py").read_text()
    said = {"diff": f"{file}\0", "show": solutions}
    monkeypatch.setattr(touched, "_git", lambda verb, *rest: said[verb])
    assert set(touched.touched(unit, "HEAD")) == names


def test_what_exercises_share_and_a_changed_solution_touch_them(monkeypatch):
    unit = find_unit("sequence_reversal")
    everything = {exercise.name for exercise in specifications(unit.name)}
    shared = f"transformer_course/{unit.name}/exercises/_inputs.py\0"
    said = {"diff": shared, "show": ""}
    monkeypatch.setattr(touched, "_git", lambda verb, *rest: said[verb])
    assert set(touched.touched(unit, "HEAD")) == everything
    solutions = (ROOT / f"transformer_course/solutions/{unit.name}.py").read_text()
    said["show"] = solutions
    some = set(touched.touched(unit, "HEAD"))
    assert some and some < everything
