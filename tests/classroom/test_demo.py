"""The demo says which step failed. What it ends in: tests/test_quick_starts.py."""

import re
import subprocess

import pytest

from autograder.classroom import demo
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.course import find_unit, manifest, units
from autograder.course.errors import CourseError
from autograder.grading.judge.verdict import Verdict


def test_a_release_of_an_older_version_is_made_again(tmp_path, monkeypatch):
    unit = find_unit("attention")
    old = tmp_path / "release" / unit.label
    old.mkdir(parents=True)
    steps = []

    def step(root, command, *arguments):
        steps.append((command, *arguments))
        if command == "autograde":
            raise CourseError("far enough")

    monkeypatch.setattr(demo, "nbgrader", step)
    monkeypatch.setattr(demo, "is_built", lambda unit: True)
    with pytest.raises(CourseError, match="far enough"):
        demo.run([unit], tmp_path)
    assert steps[0] == ("generate_assignment", unit.label, "--force")


def test_a_changed_exercise_makes_the_demonstration_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "CONTENT", tmp_path)
    before = demo._digest()
    (tmp_path / "exercise.py").write_text("CASES = []\n")
    assert demo._digest() != before


def test_a_failing_step_says_which_and_where_to_look(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess((), 1)
    monkeypatch.setattr(demo.child, "nbgrader", lambda *_, **__: failed)
    with pytest.raises(CourseError, match=r"autograde no_such_unit` failed; see .*log"):
        demo.nbgrader(tmp_path, "autograde", "no_such_unit")


def test_a_course_whose_manifests_name_none_shows_its_first_unit(monkeypatch):
    assert [unit.name for unit in demo.default_units()] == ["attention"]
    monkeypatch.setattr(demo.manifest, "read", lambda unit: manifest.Manifest())
    assert demo.default_units() == units()[:1]


def test_each_student_has_one_line_with_points_and_what_is_worth_a_look():
    names = ("unit-one", "unit-two", "unit-three")
    full = {name: Verdict(name, 5, 5) for name in names}
    missed = {names[0]: Verdict(names[0], 2, 5, mistake="unscaled")}
    unnamed = {names[1]: Verdict(names[1], 0, 5)}
    short = {name: full[name] for name in names[2:]}
    handed_in = {
        "ada": (full, ()),
        "alan": (full | missed | unnamed, ()),
        "henri": (short, (("copied", "one cell was copied"),)),
    }
    exercises = [*(Item(name, 5.0) for name in names), Item("unit-essay", 4.0, True)]
    submissions = [
        Submission(Student(name), {}, records=records, repairs=repairs)
        for name, (records, repairs) in handed_in.items()
    ]
    book = Classbook("01_unit", tuple(exercises), tuple(submissions))
    head, *lines = demo.as_text(book).splitlines()
    assert head == "01_unit: 3 students, 3 exercises, 15 points"
    assert [re.split(r"\s{2,}", line.strip()) for line in lines] == [
        ["ada", "15"],
        ["alan", "7", "2 exercises below full points, 1 named"],
        ["henri", "5", "2 not graded; one cell was copied"],
    ]
