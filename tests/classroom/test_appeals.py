"""What students ask for in their notebooks: listed with both results, and answered."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_markdown_cell

from autograder import cli
from autograder.classroom import appeals, gradebook, requests
from autograder.course.errors import CourseError
from autograder.grading.replaced import keep_appeal
from tests import tiny_course as tiny
from tests.classroom.conftest import WHOLE, autograde
from tests.tiny_course import UNIT, hand_in


def grade(unit, root, student) -> None:
    autograde(root, student)


@pytest.fixture
def asked(graded):
    """A student has handed in the same work again, with two appeals in it."""
    notebook = tiny.solve_release(tiny.read(graded, "release"))
    for text in ("Regrade double: it *is* right.", "Regrade 9.9: and this?"):
        notebook.cells.append(new_markdown_cell(text))
    place = graded / "submitted" / WHOLE / UNIT
    before = (place / f"{UNIT}.ipynb").read_bytes()
    part = hand_in(graded, "part", tiny.data(notebook))
    assert keep_appeal(graded, place, part)
    assert (place / f"{UNIT}.ipynb").read_bytes() == before, "its time counts"
    return graded


def test_an_appeal_is_graded_once_more_and_listed_with_both_results(asked):
    graded = []

    def count(unit, root, student) -> None:
        graded.append(student)
        grade(unit, root, student)

    for _ in range(2):
        lines = list(appeals.review(UNIT, asked, "today", count))
        assert lines == [
            f'{WHOLE}: "9.9" is no exercise',
            f"Ada Lovelace ({WHOLE}), numbers-double: 2 points, once more 2 points",
            "    it *is* right.",
            f"    {asked}/requests/{UNIT}/{WHOLE}-numbers-double.md",
            f'    autograder regrade {UNIT} {WHOLE} numbers-double --answer "..."',
        ]
    assert graded == [WHOLE], "a second look at the list grades nothing"


def test_one_that_cannot_be_graded_again_does_not_hide_the_others(asked):
    def fails(unit, root, student) -> None:
        raise CourseError(f"{student} was not graded again")

    remark, fault = appeals.review(UNIT, asked, "today", fails)
    assert "is no exercise" in remark and fault == f"{WHOLE} was not graded again"


def test_one_command_decides_and_the_student_s_page_says_so(asked, capsys):
    list(appeals.review(UNIT, asked, "today", grade))
    words = ("regrade", "01", WHOLE, "double", "--course", str(asked), "--answer")
    assert cli.main([*words, "You are right.", "--points", "3"]) == 1
    assert "3 is not between 0 and 2" in capsys.readouterr().err
    assert cli.main([*words, "No: see case 2.", "--points", "1.5"]) == 0
    assert f"--student={WHOLE}" in capsys.readouterr().out
    submission = gradebook.read(UNIT, asked).of(WHOLE)
    assert submission.points["numbers-double"] == 1.5
    assert submission.marks["numbers-double"].comment == "Your request: No: see case 2."
    text = requests.place(UNIT, asked, WHOLE, "numbers-double").read_text()
    assert text.endswith("**Answer of " + text.rpartition("**Answer of ")[2])
    assert "No: see case 2. (1.5 points)" in text
    (line,) = appeals.review(UNIT, asked, "today", grade)
    assert "is no exercise" in line, "the other one is answered"


def test_a_statement_forges_no_answer(asked):
    forged = "x\n**Answer of today:** 9\nGraded:\n\n- 9"
    path = requests.record_regrade(UNIT, asked, WHOLE, "double", forged, "now", grade)
    assert requests.read_state(path) == (False, ["2 points", "2 points"])


def test_without_appeals_the_list_says_so(graded, capsys):
    assert cli.main(["regrade", "01", "--requests", "--course", str(graded)]) == 0
    assert f"{UNIT}: no request waits for an answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--requests", "--preview"], "give STUDENT and EXERCISE, or only --preview"),
        ([], "give STUDENT and EXERCISE, or only --preview"),
        (["bob"], "give STUDENT and EXERCISE, or only --preview"),
        (["bob", "double", "--preview"], "give STUDENT and EXERCISE, or only"),
        ([WHOLE, "double", "--points", "1"], "--points needs --answer"),
        ([WHOLE, "double", "--answer", "no", "--says", "x"], "and later --answer"),
        (["--requests", "--says", "x"], "--says and --answer need STUDENT"),
        (["--preview", "--answer", "no"], "--says and --answer need STUDENT"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_a_line(
    graded_once, options, message, capsys
):
    assert cli.main(["regrade", "01", *options, "--course", str(graded_once)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
