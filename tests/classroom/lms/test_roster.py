"""One roster: given once, it is known to gradebook, grades, report and feedback."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom import gradebook, report
from autograder.classroom.classbook import Student
from autograder.classroom.lms import roster
from autograder.classroom.lms.archive import NotPlacedError
from autograder.classroom.lms.layouts import Layout, Submitter
from autograder.classroom.lms.roster import Enrolment, Roster
from autograder.course.errors import CourseError
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.classroom.lms.course import make_clone

ROSTER = """id,first_name,last_name,email,lms_user_id,username
ada,Ada,Lovelace,ada@uni.example,12345,alovelace
bob,Bob,Ross,,12346,
"""


@pytest.fixture
def course(tmp_path) -> Path:
    return make_clone(tmp_path / "course", ROSTER)


def canvas(root: Path, name: str) -> Path:
    path = root / "submissions.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(name, tiny.data(tiny.solve_release(tiny.read(root, "release"))))
    return path


def collect(root: Path, path: Path, *options: str) -> int:
    return cli.main(["collect", "01", str(path), "--course", str(root), *options])


def test_from_one_collection_everything_knows_who_is_who(course, capsys):
    path = canvas(course, "lovelaceada_LATE_12345_678901_numbers.ipynb")
    assert collect(course, path, "--roster", str(course / "roster.csv")) == 0
    with Gradebook(f"sqlite:///{course}/gradebook.db", "tiny") as book:
        assert book.find_student("ada").email == "ada@uni.example"
        assert book.find_student("bob").lms_user_id == "12346"
    assert autograde(course)["success"]
    (course / "canvas.csv").write_text(
        'Student,ID,Section,Numbers (1)\n"Lovelace, Ada",12345,A,\n'
    )
    into = ["--into", str(course / "canvas.csv"), "--course", str(course)]
    assert cli.main(["grades", "01", "--format", "canvas", *into]) == 0
    assert "not in" not in capsys.readouterr().out
    book = gradebook.read(tiny.UNIT, course)
    assert [s.student.name for s in book.submissions] == ["Ada Lovelace"]
    assert [student.id for student in book.absent] == ["bob"]
    assert report.overview(book).late == 1, "Canvas calls it late, without a time"


def test_lateness_of_an_lms_without_times_reaches_the_late_policy(course, capsys):
    path = canvas(course, "lovelaceada_LATE_12345_678901_numbers.ipynb")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "tiny") as book:
        book.add_assignment(tiny.UNIT, duedate=datetime(2026, 11, 1, 23))
    assert collect(course, path, "--roster", str(course / "roster.csv")) == 0
    assert autograde(course)["success"]
    (submission,) = gradebook.read(tiny.UNIT, course).submissions
    assert submission.late == 1 and submission.penalty == 1
    capsys.readouterr()
    assert cli.main(["show", "01", "ada", "--course", str(course)]) == 0
    assert "\nlate, unknown by how much; 1 points off\n" in capsys.readouterr().out


def test_namesakes_are_told_how_to_be_told_apart():
    twins = [Enrolment(Student(i, "Wei", "Li")) for i in ("u06", "u07")]
    moodle, canvas = (
        Layout(lms, re.compile(""), lms == "Canvas") for lms in ("Moodle", "Canvas")
    )
    for layout, helps in ((moodle, "--worksheet"), (canvas, "lms_user_id")):
        with pytest.raises(NotPlacedError, match="any of u06, u07 on the") as refused:
            Roster(twins).find(Submitter("1", "Wei Li"), layout)
        assert helps in str(refused.value)


def test_an_id_with_its_accents_apart_is_the_id(course):
    apart = unicodedata.normalize("NFD", ROSTER.replace("ada,", "adá,"))
    (course / "roster.csv").write_text(apart)
    assert roster.from_csv(course / "roster.csv").entries[0].student.id == "adá"


def test_one_id_for_two_people_is_refused_and_nobody_is_renamed(course):
    path = course / "roster.csv"
    path.write_text(f"{ROSTER}ada,Ada,Lovelace,ada@uni.example,12345,alovelace\n")
    assert len(roster.from_csv(path).entries) == 3, "the same row twice is no harm"
    path.write_text(f"{ROSTER}ada,Alan,Turing,,12347,\n")
    with pytest.raises(CourseError, match='2 different rows have the id "ada"'):
        roster.from_csv(path)
