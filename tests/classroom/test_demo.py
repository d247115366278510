"""The demo says which step failed. What it ends in: tests/test_quick_starts.py."""

import pytest

from autograder.classroom import demo
from autograder.course import find_unit, manifest, units
from autograder.course.errors import CourseError


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
    with pytest.raises(CourseError, match="far enough"):
        demo.run([unit], tmp_path)
    assert steps[0] == ("generate_assignment", unit.label, "--force")


def test_a_failing_step_says_which_and_where_to_look(tmp_path):
    with pytest.raises(CourseError, match=r"autograde no_such_unit` failed; see .*log"):
        demo.nbgrader(tmp_path, "autograde", "no_such_unit")


def test_a_course_whose_manifests_name_none_shows_its_first_unit(monkeypatch):
    assert [unit.name for unit in demo.usual()] == ["attention"]
    monkeypatch.setattr(demo.manifest, "read", lambda unit: manifest.Manifest())
    assert demo.usual() == units()[:1]
