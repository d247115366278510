"""What has changed in a gradebook is kept with its reason, and told."""

import json

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.classroom import report
from autograder.grading import release
from autograder.grading.gradebook import changes
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.tiny_course import DOUBLE, UNIT, hand_in

WRONG = "def double(x):\n    return x"


@pytest.fixture(scope="module")
def graded_once(shared_course):
    for student, double in (("ada", DOUBLE), ("bob", WRONG)):
        hand_in(shared_course, student, tiny.good(shared_course, double=double))
    assert autograde(shared_course)["success"]
    return shared_course


def read_changes(root) -> list[tuple[str, ...]]:
    return [
        (change.student, change.cell, change.before, change.after, change.why)
        for change in changes.read(root, UNIT)
        if change.is_told
    ]


def change(root, student: str, **values) -> None:
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        grade = book.find_grade("numbers-double", UNIT, UNIT, student)
        for name, value in values.items():
            setattr(grade, name, value)
        book.db.commit()


def test_each_change_is_kept_with_its_reason(graded):
    assert read_changes(graded) == [], "a first grading changes nothing"
    assert not changes.table(graded, UNIT).exists()
    hand_in(graded, "bob", tiny.good(graded))
    change(graded, "ada", manual_score=1.5)
    log = autograde(graded, force=False)["log"]
    expected = [
        ("ada", "numbers-double", "2", "1.5", "by hand"),
        ("bob", "numbers-double", "0", "2", "new submission"),
    ]
    assert read_changes(graded) == expected and "2    1.5  by hand" in log
    autograde(graded)
    assert read_changes(graded) == expected, "a run that changes nothing adds nothing"
    page, _ = report.make(UNIT, graded, graded / "a.html")
    assert "Scores that have changed" in page.read_text()


def test_what_is_graded_otherwise_without_a_new_submission_is_a_mended_check(graded):
    path = graded / ".autograder" / "scores" / f"{UNIT}.json"
    noted = json.loads(path.read_text())
    assert noted["scores"]["ada"]["numbers-double"] == [2.0, None, 2.0]
    noted["scores"]["ada"]["numbers-double"][0] = 0.5
    path.write_text(json.dumps(noted))
    autograde(graded)
    assert read_changes(graded) == [
        ("ada", "numbers-double", "0.5", "2", "mended check")
    ]
    release.install()
    config = Config()
    config.GenerateFeedback.preprocessors = ["autograder.grading.feedback.Scores"]
    kind = "autograder.grading.feedback.FeedbackExporter"
    config.GenerateFeedback.exporter_class = kind
    run = tiny.run_nbgrader(graded, "generate_feedback", UNIT, config=config)
    assert run["success"], run
    ada, bob = (p.read_text() for p in sorted(graded.glob("feedback/*/*/*.html")))
    assert "numbers-double: 0.5 → 2 (a check was mended, 20" in ada
    assert "Points that have changed" not in bob


def test_points_by_hand_before_a_first_run_has_ended_add_no_exercises(
    graded, monkeypatch
):
    hand_in(graded, "eve", tiny.good(graded))
    with monkeypatch.context() as killed:
        killed.setattr(changes, "end", lambda *rest: [])
        autograde(graded, force=False)
    change(graded, "eve", manual_score=1.5)
    log = autograde(graded, force=False)["log"]
    assert "new exercise" not in log and "exercise was added" not in log
    assert {row[4] for row in read_changes(graded) if row[0] == "eve"} <= {"by hand"}


def test_a_table_that_is_damaged_ends_in_a_line_and_is_kept(graded):
    path = graded / ".autograder" / "scores" / f"{UNIT}.json"
    path.write_text("{")
    result = autograde(graded)
    assert not result["success"] and "is damaged; repair or remove it" in result["log"]
    assert path.read_text() == "{"


def test_no_student_s_name_is_a_formula(course):
    for answers in ({"double": WRONG}, {}):
        hand_in(course, "=1+1", tiny.good(course, **answers))
        autograde(course)
    assert read_changes(course)[0][0] == "=1+1"
    assert "'=1+1" in changes.table(course, UNIT).read_text()


def test_a_return_from_no_score_is_kept_and_points_that_were_awaited_are_not(graded):
    change(graded, "ada", auto_score=None)
    change(graded, "bob", auto_score=None)
    changes_before = read_changes(graded)
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        changes.end(graded, UNIT, book, {})
    change(graded, "ada", auto_score=2.0)
    change(graded, "bob", manual_score=1.0)
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        changes.end(graded, UNIT, book, {})
    assert read_changes(graded)[len(changes_before) :] == [
        ("ada", "numbers-double", "2", "", "mended check"),
        ("bob", "numbers-double", "0", "", "mended check"),
        ("ada", "numbers-double", "", "2", "decided at last"),
    ]


def test_other_points_and_exercises_that_come_or_go_have_their_reasons():
    before = {"a": [2.0, None, 2.0], "b": [4.0, None, 4.0], "old": [1.0, None]}
    after = {"a": [3.0, None, 3.0], "old": [0.5, None, 1.0], "new": [5.0, None, 5.0]}
    assert changes._find_changes(before, after, is_new=False) == [
        ("a", 2.0, 3.0, "other points"),
        ("old", 1.0, 0.5, "mended check"),
        ("new", None, 5.0, "new exercise"),
        ("b", 4.0, None, "left out"),
    ]
    rows = [
        changes.Change("", "ada", "a", "2", "3", ""),
        changes.Change("", "ada", changes.PENALTY, "", "0.5", ""),
        changes.Change("", "bob", "b", "4", "", ""),
    ]
    assert changes.totals(rows) == {"ada": 0.5, "bob": -4.0}
