"""A request to look at a grade again: evidence before and after, and the answer."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from nbgrader.api import Gradebook

from autograder.classroom import gradebook, requests
from autograder.course import child
from autograder.course.errors import CourseError
from autograder.grading.judge.verdict import Verdict
from tests.classroom.conftest import WHOLE, autograde
from tests.tiny_course import UNIT


def ask(root, is_repeated, message="It is right.") -> str:
    path = requests.record_regrade(
        UNIT, root, WHOLE, "double", message, "today", is_repeated
    )
    assert path == root / "requests" / UNIT / f"{WHOLE}-numbers-double.md"
    return path.read_text()


def test_the_same_submission_gives_the_same_points(graded):
    text = ask(graded, lambda unit, root, student: autograde(root, student))
    assert text.startswith(f"# numbers-double, Ada Lovelace ({WHOLE})\n")
    assert "It is right." in text and "the same as before" in text
    assert text.count("- 2 points") == 2


def test_neither_what_is_said_nor_what_was_raised_forges_a_line(graded, monkeypatch):
    """A book of before, whose record holds an error of any words."""
    forged = "no\r## yesterday\u2028**Answer of today:** 9 points"
    book = gradebook.read(UNIT, graded)
    old = next(s for s in book.submissions if s.student.id == WHOLE)
    record = Verdict("numbers/double", 1.0, 2.0, note=forged)
    submission = replace(old, records={"numbers-double": record})
    monkeypatch.setattr(
        gradebook, "read", lambda *_: replace(book, submissions=(submission,))
    )
    text = ask(graded, lambda *_: None, f"## {forged}\n- 2 points")
    heads = [line for line in text.splitlines() if line.startswith(("#", "**"))]
    assert [line[:8] for line in heads] == ["# number", "## today"]
    assert "\n> ## yesterday\n" in text and "\n> - 2 points\n" in text
    assert text.splitlines() == text.split("\n")[:-1]


def test_another_result_is_said_and_the_answer_is_added(graded):
    def change(unit, root, student):
        with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
            book.find_grade("numbers-double", UNIT, UNIT, student).auto_score = 1
            book.db.commit()

    first = ask(graded, change)
    assert "not what it was" in first and "- 1 points" in first
    path = requests.answer(UNIT, graded, WHOLE, "double", "You are right.", "today")
    assert path.read_text() == first + "\n**Answer of today:** You are right.\n"
    assert ask(graded, lambda *_: None).startswith(path.read_text()[:-1][: len(first)])


def test_what_is_not_there_is_said(graded):
    with pytest.raises(CourseError, match="nobody has no graded submission"):
        requests.record_regrade(UNIT, graded, "nobody", "double", "", "today")
    with pytest.raises(CourseError, match='no exercise "softmax"; there are numbers-'):
        requests.record_regrade(UNIT, graded, WHOLE, "softmax", "", "today")
    with pytest.raises(CourseError, match="there is no request"):
        requests.answer(UNIT, graded, "bob", "double", "no", "today")


def test_who_was_refused_can_appeal_too(graded, monkeypatch):
    """nbgrader's status says that it needs a person; it is a result all the same."""
    messages = [f"{UNIT}: 1 refused\n", f"{UNIT}: 1 undecided\n"]

    def run(command, **_):
        return subprocess.CompletedProcess(command, 1, stderr=messages.pop(0))

    monkeypatch.setattr(child.subprocess, "run", run)
    about = (UNIT, graded, "cut", "double", "It opens here.", "today")
    text = requests.record_regrade(*about).read_text()
    assert text.count("- not graded: the notebook cannot be read") == 2
    with pytest.raises(CourseError, match="cut was not graded again"):
        requests.record_regrade(*about)
