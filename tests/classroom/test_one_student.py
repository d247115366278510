"""``autograder show``: what one student's unit looks like, in a terminal."""

from __future__ import annotations

import re
import shutil

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom import gradebook, one_student, requests
from autograder.classroom.classbook import Student, Submission
from autograder.grading.gradebook import hand_log
from tests import tiny_course as tiny
from tests.classroom.conftest import WHOLE
from tests.tiny_course import UNIT, hand_in


def show(root, capsys, *arguments: str) -> tuple[int, str]:
    status = cli.main(["show", *arguments, "--course", str(root)])
    output = capsys.readouterr()
    return status, output.out + output.err


def test_each_exercise_has_a_line_with_its_points(graded, capsys):
    status, output = show(graded, capsys, "01", "bob")
    assert status == 0 and "Bob Ross (bob): 4 of 10 points" in output
    lines = [" ".join(line.split()) for line in output.splitlines()]
    assert "numbers-double 0 of 2" in lines and "numbers-triple 4 of 4" in lines
    assert "numbers-why - of 4" in lines
    assert "waiting for a person: 1 written answer" in lines


@pytest.mark.parametrize(
    "level, words",
    [("", "no code ran"), ("none", "sandbox none"), ("bwrap", "sandbox bwrap")],
)
def test_a_sandbox_without_isolation_differs_from_code_that_never_ran(level, words):
    work = Submission(Student("ada"), {}, level=level, provenance=({"time": "today"},))
    assert [*one_student.describe_grading(work)] == [f"graded today, {words}"]


def test_a_name_is_enough_where_only_one_has_it(graded, capsys):
    assert WHOLE in show(graded, capsys, "01", "ada lovelace")[1]
    assert WHOLE in show(graded, capsys, "01", "Lovelace")[1]


def test_namesakes_are_all_listed_graded_or_not(graded, capsys):
    twins = [Student(name, "Wei", "Li") for name in ("bob", "never", "new")]
    gradebook.enter_students(graded, twins)
    status, output = show(graded, capsys, "01", "Wei Li")
    assert status == 1 and output == (
        'autograder: several are called "Wei Li"; give the id: Wei Li (bob); '
        "Wei Li (never), not graded; Wei Li (new), not graded\n"
    )


def test_somebody_whose_work_is_not_graded_is_known_by_name(graded, capsys):
    output = show(graded, capsys, "01", "nie mand")[1]
    assert output == (
        "autograder: Nie Mand (never) has no graded submission of 01_numbers\n"
    )


def test_a_refused_and_a_newer_hand_in_are_said(graded, capsys):
    refused = show(graded, capsys, "01", "cut")[1].splitlines()
    assert refused[1].startswith("could not be graded: the notebook")
    assert len(refused) == 2  # no row of zeros
    hand_in(graded, "bob", tiny.data(tiny.solve_release(tiny.read(graded, "release"))))
    output = show(graded, capsys, "01", "bob")[1]
    assert "handed in, but not graded: bob; run: nbgrader autograde" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["01", "xavier"], 'nobody is called "xavier" in the gradebook'),
        (["01", "never"], "Nie Mand (never) has no graded submission of 01_numbers"),
        (["07", "bob"], 'no assignment "07"; there is 01_numbers'),
    ],
)
def test_whoever_is_not_there_is_said_in_a_line(graded, capsys, arguments, message):
    status, output = show(graded, capsys, *arguments)
    assert status in (1, 2) and output.splitlines() == [f"autograder: {message}"]


def test_whose_hand_in_was_put_away_has_nothing_that_waits(graded, capsys):
    shutil.rmtree(graded / "submitted" / "bob")
    status, output = show(graded, capsys, "01", "bob")
    assert status == 0 and "not graded" not in output


@pytest.fixture
def tina(monkeypatch):
    """Tina gives points, which are logged."""
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    hand_log.install()


def undated(text: str) -> str:
    return re.sub(r"tina \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "tina", text)


def give_by_hand(root, **values) -> None:
    """Change what bob has for `double`, and comment on his answer, as a person."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        grade = book.find_grade("numbers-double", UNIT, UNIT, "bob")
        for name, value in values.items():
            setattr(grade, name, value)
        comment = book.find_comment("numbers-double-answer", UNIT, UNIT, "bob")
        comment.manual_comment = "A slip\nof the pen."
        book.db.commit()


def test_points_by_hand_are_said_beside_those_of_the_check(graded, capsys, tina):
    give_by_hand(graded, manual_score=1.5)
    lines = [
        " ".join(line.split())
        for line in undated(show(graded, capsys, "01", "bob")[1]).splitlines()
    ]
    row = lines.index("numbers-double 1.5 of 2 by hand, tina; the check gives 0")
    assert lines[row + 1] == "comment: A slip of the pen."
    assert "numbers-triple 4 of 4" in lines


def test_extra_points_are_said_beside_those_of_the_check(graded, capsys):
    give_by_hand(graded, extra_credit=0.5)
    assert (
        "0.5 of 2  0.5 of them extra, by hand" in show(graded, capsys, "01", "bob")[1]
    )


def test_a_request_says_whose_points_they_are(graded, tina):
    give_by_hand(graded, manual_score=1.5)
    path = requests.record_regrade(
        UNIT, graded, "bob", "double", "Please look.", "today", lambda *_: None
    )
    text = undated(path.read_text())
    assert "\n- 1.5 points by hand, tina; the check gives 0\n- comment: A slip" in text
