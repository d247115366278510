"""The demo ends in the table it should, or says which step failed."""

import pytest

from autograder.classroom import demo, table
from autograder.course import find_unit
from autograder.course.errors import CourseError
from tests.classroom.students import FULL, MISTAKEN


@pytest.mark.slow
def test_the_demo_grades_the_class_and_a_second_run_agrees(tmp_path, capsys):
    unit = find_unit("attention")
    demo.run([unit], tmp_path)
    first = capsys.readouterr().out
    rows = {row.student: row for row in table.read(unit, tmp_path)}
    most = max(row.points for row in rows.values())
    assert {student for student, row in rows.items() if row.points == most} == FULL
    assert rows["felix"].points == 0
    for student in MISTAKEN:
        misses = [r for r in rows[student].records.values() if r.points < r.max_points]
        assert misses and all(r.mistake for r in misses), student
    lost = [r.exercise for r in rows["isaac"].records.values() if not r.points]
    assert lost == ["attention/combine_masks"]  # whose cell ends its process
    assert (tmp_path / "gradebook.db").is_file()
    pages = list((tmp_path / "feedback").glob(f"*/{unit.label}/{unit.label}.html"))
    assert len(pages) == len(rows) >= 14
    assert (tmp_path / "reports" / f"{unit.label}.html").is_file()
    demo.run([unit], tmp_path)
    assert capsys.readouterr().out == first.replace(
        f"nbgrader generate_assignment {unit.label}\n", ""
    ).replace(f"nbgrader generate_feedback {unit.label}\n", "")


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
