"""The sample class is of every kind, and the demo ends in the table it should."""

import json

import pytest

from autograder.bank import specifications
from autograder.classroom import demo, sample, table
from autograder.course import find_unit, units
from autograder.grading.record import CaseRecord, Record
from autograder.oracle.variants import solution_source

FULL = {"ada", "emmy", "grace", "katherine", "maryam", "niels", "rosalind"}
MISTAKEN = {"alan", "blaise", "claude", "dorothy", "erwin"}


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_unit_has_a_class_of_every_kind(unit):
    made = sample.submissions(unit)
    assert len(made) >= 14 and FULL | MISTAKEN | {"felix", "henri", "isaac"} == set(
        made
    )
    assert all(json.loads(data)["cells"] for data in made.values())
    assert len(set(made.values())) >= 12, "submissions should differ"
    colab = json.loads(made["niels"])
    assert colab["nbformat_minor"] == 0 and "colab" in colab["metadata"]


def test_mistaken_students_make_named_mistakes():
    unit = find_unit("attention")
    exercises = specifications(unit.name)
    solved = {e.name: solution_source(e) for e in exercises}
    for turn in range(5):
        answers = sample._mistakes(exercises, solved, turn, 5)
        assert sum(answers[name] != solved[name] for name in solved) >= 3


def test_the_sample_class_is_the_same_each_time():
    unit = units()[0]
    assert sample.submissions(unit) == sample.submissions(unit)


def test_a_miss_is_explained_in_one_line():
    cases = (CaseRecord("c", "a causal mask", "values", False),)
    miss = Record("u/e", 0, 4, cases=cases)
    assert table.why(miss) == "no known mistake; fails: a causal mask"
    named = Record("u/e", 0, 4, "unscaled", "The scaling is missing.", cases=cases)
    assert table.why(named) == "[unscaled] The scaling is missing."
    assert table.why(Record("u/e", 0, 4, note="It stopped.")) == "It stopped."


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


def test_a_failing_step_says_which_and_where_to_look(tmp_path):
    from autograder.course.errors import CourseError

    with pytest.raises(CourseError, match=r"autograde no_such_unit` failed; see .*log"):
        demo.nbgrader(tmp_path, "autograde", "no_such_unit")
