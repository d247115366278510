"""Feedback goes back into the LMS under the names that it knows."""

from __future__ import annotations

import os
import re
import zipfile

import pytest

from autograder import cli
from autograder.classroom import collection_log, feedback_archive
from autograder.classroom.collection_log import Note
from autograder.course.errors import CourseError
from tests.classroom.conftest import WHOLE
from tests.tiny_course import UNIT

PAGE = f"{UNIT}.html"


def page(root, student: str) -> None:
    path = root / "feedback" / student / UNIT / f"{UNIT}.html"
    path.parent.mkdir(parents=True)
    path.write_text(f"<p>{student}")


def packed(path) -> dict[str, str]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


def test_without_feedback_it_says_how_to_make_it(graded):
    with pytest.raises(CourseError, match="nbgrader generate_feedback 01_numbers"):
        feedback_archive.write(UNIT, graded, graded)


def test_each_page_goes_where_its_submission_came_from(graded, capsys):
    for student in (WHOLE, "bob", "silent", "cut"):
        page(graded, student)
    origin = "lovelaceada_LATE_501_678901_02_numbers-1.ipynb"
    collection_log.write(graded, UNIT, WHOLE, Note(lms="Canvas", origin=origin))
    origin = "Bob Ross_1234567_assignsubmission_file/numbers.ipynb"
    collection_log.write(graded, UNIT, "bob", Note(lms="Moodle", origin=origin))
    assert cli.main(["feedback", "01", "--course", str(graded)]) == 0
    paths = [graded / "reports" / n for n in os.listdir(graded / "reports")]
    assert set(map(str, paths)) == set(capsys.readouterr().out.split())
    pages = {re.search(r"feedback-(\w+)", path.name)[1]: packed(path) for path in paths}
    assert pages == {
        "canvas": {"lovelaceada_LATE_501_678901_01_numbers.html": f"<p>{WHOLE}"},
        "moodle": {"Bob Ross_1234567_assignsubmission_file_01_numbers.html": "<p>bob"},
        "pages": {
            "cut_01_numbers.html": "<p>cut",
            "silent_01_numbers.html": "<p>silent",
        },
    }


def test_who_is_graded_and_has_no_page_is_named(graded, capsys):
    page(graded, "bob")
    assert cli.main(["feedback", "01", "--course", str(graded)]) == 1
    message = (
        f"graded, and without a page: cut, {WHOLE}, silent; run: nbgrader generate_f"
    )
    assert message in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["lovelaceada_12_34_01_numbers.html", "lovelaceada_LATE_12_34_a.html"]
)
def test_canvas_finds_student_and_file_in_the_name(name):
    """Its rule: the first two parts between underscores that are numbers."""
    note = Note(lms="Canvas", origin=name.replace("html", "ipynb"))
    _, filename = feedback_archive.name_for(note, feedback_archive.Student("ada"), PAGE)
    numbers = [part for part in filename.split("_") if part.isdigit()]
    assert numbers[:2] == ["12", "34"]


def test_no_two_ids_share_a_page():
    ids = ("a+b", "a_b", "a@b", "a.b", "a-b")
    names = {
        feedback_archive.name_for(Note(), feedback_archive.Student(student_id), PAGE)
        for student_id in ids
    }
    assert len(names) == len(ids)


@pytest.mark.parametrize(
    "origin",
    [
        "Ada Lovelace_7_assignsubmission_file_/a.ipynb",
        "Ada Lovelace_7_assignsubmission_file/deep/a.ipynb",
        "Ada Lovelace_7_assignsubmission_file_a.ipynb",
        "Ada Lovelace_7_assignsubmission_onlinetext/onlinetext.html",
    ],
)
def test_moodle_finds_the_participant_in_the_name(origin):
    """Its rule: at most five parts between underscores, of which it knows four."""
    note = Note(lms="Moodle", origin=origin)
    _, filename = feedback_archive.name_for(note, feedback_archive.Student("ada"), PAGE)
    assert filename.split("_", 4) == [
        "Ada Lovelace",
        "7",
        "assignsubmission",
        "file",
        PAGE,
    ]


def test_a_page_that_is_older_than_the_grade_is_told(graded):
    page(graded, "bob")
    os.utime(graded / "feedback" / "bob" / UNIT / f"{UNIT}.html", (0, 0))
    assert (
        "older than the grades: bob"
        in (feedback_archive.write(UNIT, graded, graded / "x")[1][0])
    )


def test_no_page_is_lost_to_another_of_its_name(graded):
    for student in (
        "a b",
        "a_b",
        "a\u0301b",
        "\N{GRINNING FACE}",
        "\N{SMILING FACE WITH SMILING EYES}",
    ):
        page(graded, student)
    (path,), _ = feedback_archive.write(UNIT, graded, graded)
    assert len(packed(path)) == 5
