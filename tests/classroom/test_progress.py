"""The course so far: weights, drops, late days and extensions over all units."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from autograder import cli
from autograder.classroom import page, progress
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.course.errors import CourseError
from tests.classroom.conftest import WHOLE

ADA, BOB = Student("ada", "Ada", "King"), Student("bob")


def book(unit: str, ada: float | None, bob: float | None, late: float = 0.0):
    """A unit of 10 points; None: nothing was handed in."""
    points_by_student = {ADA: ada, BOB: bob}
    return Classbook(
        unit,
        (Item("a", 10.0),),
        tuple(
            Submission(student, {"a": points}, late=late)
            for student, points in points_by_student.items()
            if points is not None
        ),
        tuple(
            student for student, points in points_by_student.items() if points is None
        ),
    )


BOOKS = (book("01_a", 10, 5), book("02_b", 4, None), book("03_c", 8, 10, late=90_000))


def shares(**settings) -> dict[str, float]:
    progress_table = progress.progress(BOOKS, **{"weights": {}, **settings})
    return {line.student.id: round(line.share, 3) for line in progress_table.lines}


def test_units_count_equally_unless_they_have_weights():
    assert shares() == {"ada": 0.733, "bob": 0.5}
    assert shares(weights={"03_c": 2}) == {"ada": 0.75, "bob": 0.625}
    assert shares(weights={"02_b": 0}) == {"ada": 0.9, "bob": 0.75}


def test_the_worst_units_of_each_student_are_dropped():
    assert shares(drop=1) == {"ada": 0.9, "bob": 0.75}
    assert shares(drop=2) == {"ada": 1.0, "bob": 1.0}
    with pytest.raises(CourseError, match="3 cannot be dropped"):
        shares(drop=3)


def test_late_days_and_extensions_stand_beside():
    progress_table = progress.progress(BOOKS, {}, granted={"01_a": {"ada": 7200.0}})
    ada, bob = progress_table.lines
    assert (ada.late, bob.late) == (2, 2), "a day and an hour: two days begun"
    assert [mark.extended for mark in ada.marks] == [7200, 0, 0]
    rows = list(csv.DictReader(io.StringIO(progress.as_csv(progress_table))))
    assert "2 hours" in page.render("progress.html.j2", "course", course=progress_table)
    assert rows[1]["02_b %"] == "" and rows[0]["course %"] == "73.3333"


def test_each_exercise_is_a_box_that_opens_the_student_s_page():
    course = progress.progress(BOOKS, {})
    text = page.render("progress.html.j2", "course", course=course)
    address = "../feedback/bob/01_a/01_a.html#a"
    assert f'href="{address}" title="a: 5 of 10" style="--share:50%"></a>' in text
    assert text.count('class="strip"') == 5, "one unit was not handed in"


def test_weights_are_shown_where_they_are_not_all_one():
    for weights, is_shown in (({}, False), ({"01_a": 2.0}, True)):
        course = progress.progress(BOOKS, weights)
        text = page.render("progress.html.j2", "course", course=course)
        assert ("× 2" in text) == is_shown == ("× 1" in text)


def test_columns_of_which_nobody_has_anything_are_left_out():
    course = progress.progress(BOOKS[:2], {})
    text = page.render("progress.html.j2", "course", course=course)
    assert "late days" not in text and "extensions" not in text
    course = progress.progress(BOOKS, {}, granted={"01_a": {"ada": 7200.0}})
    text = page.render("progress.html.j2", "course", course=course)
    assert "late days" in text and "extensions" in text


def test_a_budget_of_late_days_has_a_balance_for_each_student():
    course = replace(progress.progress(BOOKS, {}), late_days=3)
    rows = list(csv.DictReader(io.StringIO(progress.as_csv(course))))
    assert [row["late days left"] for row in rows] == ["1", "1"]
    assert "2, 1 left" in page.render("progress.html.j2", "course", course=course)
    assert replace(course, late_days=1).days_left(course.lines[0]) == 0


def test_a_unit_of_weight_0_is_never_the_one_that_is_dropped():
    assert shares(weights={"02_b": 0}, drop=1) == {"ada": 1.0, "bob": 1.0}
    with pytest.raises(CourseError, match="of 2 units that count, 2 cannot be dropped"):
        shares(weights={"02_b": 0}, drop=2)


def test_a_weight_names_its_unit_as_any_command_does():
    for name in ("6", "06", "b", "06_b"):
        assert progress.parse_weights([f"{name}=3"], ["01_a", "06_b"]) == {"06_b": 3.0}


@pytest.mark.parametrize("text", ["06", "07=1", "01=much", "01=nan", "01=inf"])
def test_a_weight_that_cannot_be_read_is_said(text):
    with pytest.raises(CourseError, match="not a weight; write one like 06=3"):
        progress.parse_weights([text], ["01_a", "06_b"])


def test_a_weight_whose_name_fits_several_units_is_refused():
    with pytest.raises(CourseError, match='"a" may be 01_a or 02_a'):
        progress.parse_weights(["a=3"], ["01_a", "02_a"])


def test_a_page_and_a_table_are_made_of_a_graded_course(graded, capsys):
    option = ["--course", str(graded)]
    assert cli.main(["report", "--all", "--weight", "numbers=2", *option]) == 0
    page = (graded / "reports" / "course.html").read_text()
    assert f"Ada Lovelace ({WHOLE})" in page and "×" in page
    assert (graded / "reports" / "course.csv").read_text().count("\n") > 3
    assert cli.main(["report", *option]) == 2
    assert "give a unit, or --all" in capsys.readouterr().err
