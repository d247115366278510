"""Who gave which points is in the gradebook as soon as the points are."""

from __future__ import annotations

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.grading.gradebook import book as own_book
from autograder.grading.gradebook import changes, hand_log
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.tiny_course import UNIT, hand_in

CELL = "numbers-double"


@pytest.fixture(scope="module")
def graded_once(shared_course):
    hand_log.install()
    hand_in(shared_course, "ada", tiny.good(shared_course))
    assert autograde(shared_course)["success"]
    return shared_course


@pytest.fixture
def graded(graded, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_USER", "tina\x1b")
    return graded


def open_book(root) -> Gradebook:
    return Gradebook(f"sqlite:///{root}/gradebook.db", "tiny")


def mark(root, points, comment=None, cell=CELL) -> None:
    with open_book(root) as book:
        book.find_grade(cell, UNIT, UNIT, "ada").manual_score = points
        if comment is not None:
            name = cell if cell == "numbers-why" else f"{cell}-answer"
            book.find_comment(name, UNIT, UNIT, "ada").manual_comment = comment
        book.db.commit()


def entries(root) -> list[tuple]:
    with open_book(root) as book:
        return [
            (e.who, e.student, e.cell, e.before, e.after, e.by_hand, e.comment, e.why)
            for e in hand_log.read(book, UNIT)
        ]


def test_each_commit_that_changes_points_is_an_entry(graded):
    assert entries(graded) == [], "no person has done anything"
    mark(graded, "1.5")  # the formgrader sends text
    mark(graded, 1.5)  # the same again
    mark(graded, None)
    assert entries(graded) == [
        ("tina?", "ada", CELL, 2.0, 1.5, 1.5, None, ""),
        ("tina?", "ada", CELL, 1.5, 2.0, None, None, ""),
    ]


def test_points_that_were_never_committed_leave_no_trace(graded):
    with open_book(graded) as book:
        book.find_grade(CELL, UNIT, UNIT, "ada").manual_score = 1.0
        book.db.rollback()
        book.find_grade(CELL, UNIT, UNIT, "ada").needs_manual_grade = True
        book.db.commit()
    assert entries(graded) == []


def test_a_comment_goes_with_the_points_and_a_later_one_has_its_own_entry(graded):
    mark(graded, 3.0, "Which trap?", "numbers-why")
    mark(graded, 3.0, "Which one?", "numbers-why")
    assert [entry[2:7] for entry in entries(graded)] == [
        ("numbers-why", None, 3.0, 3.0, "Which trap?"),
        ("numbers-why", 3.0, 3.0, 3.0, "Which one?"),
    ]


def test_our_own_session_logs_when_it_finishes(graded):
    book = own_book.Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny")
    book.find_grade(CELL, UNIT, UNIT, "ada").manual_score = 0.0
    book.db.commit()
    assert entries(graded) == []
    book.finish()
    book.dispose()
    assert [entry[3:6] for entry in entries(graded)] == [(2.0, 0.0, 0.0)]


def test_every_way_there_and_back_comes_into_the_table(graded, capsys):
    mark(graded, 1.5, "Agreed.")
    status = cli.main(["show", "01", "ada", "--course", str(graded)])
    output = capsys.readouterr().out
    assert status == 0 and "1.5 of 2  by hand, tina? 20" in output
    assert "; the check gives 2" in output and "comment: Agreed." in output
    mark(graded, None)
    mark(graded, 3.0, "Well put.", "numbers-why")
    log = autograde(graded, force=False)["log"]
    rows = [
        (change.cell, change.before, change.after, change.why, change.who)
        for change in changes.read(graded, UNIT)
    ]
    assert rows == [
        (CELL, "2", "1.5", "by hand", "tina?"),
        (CELL, "1.5", "2", "by hand", "tina?"),
        ("numbers-why", "", "3", "by hand", "tina?"),
    ]
    assert "by hand" in log and "numbers-why" not in log, "a first mark is not told"
    autograde(graded, force=False)
    assert len(changes.read(graded, UNIT)) == 3


def test_a_new_answer_takes_points_away_and_nobody_is_blamed(graded):
    mark(graded, 3.0, cell="numbers-why")
    hand_in(graded, "ada", tiny.good(graded, words="Other words."))
    autograde(graded, force=False)
    last = changes.read(graded, UNIT)[-1]
    assert (last.cell, last.before, last.after) == ("numbers-why", "3", "")
    assert last.why == "new answer"
