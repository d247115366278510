"""The archives of five LMSs end in submitted/."""

from __future__ import annotations

import pytest

from autograder.classroom.lms.roster import Roster
from tests.classroom.lms.course import ADA, BOB
from tests.tiny_course import UNIT


def test_canvas(course):
    path = course.zip(
        ("lovelaceada_LATE_12345_678901_01_numbers-1.ipynb", ADA),
        ("óðinssonbob_12346_678902_Copy of attention (1).ipynb", BOB),
        ("index.html", b"<html>"),
    )
    outcomes = course.collect(path)
    assert course.placed == {
        "ada": {f"{UNIT}.ipynb": ADA},
        "bob": {f"{UNIT}.ipynb": BOB},
    }
    assert "late, but the archive does not say by how much" in outcomes["ada"].remark
    assert not any(outcome.needs_person for outcome in outcomes.values())


@pytest.mark.parametrize(
    "form",
    [
        "{}_assignsubmission_file_/attention.ipynb",
        "{}_assignsubmission_file/a.ipynb",
        "{}_assignsubmission_file_attention.ipynb",
    ],
)
def test_moodle_in_folders_and_flat_by_full_name(course, form):
    path = course.zip(
        (form.format("Ada Lovelace_1234567"), ADA),
        (form.format("Bob Óðinsson_1234568"), BOB),
        ("Ada Lovelace_1234567_assignsubmission_onlinetext_/onlinetext.html", b""),
    )
    assert set(course.collect(path)) == {"ada", "bob"}
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)


def test_moodle_s_groups_stand_before_all_names_or_none(course):
    form = "{}_assignsubmission_file_/attention.ipynb"
    ada = (form.format("x-Ada Lovelace_1234567"), ADA)
    outcomes = course.collect(course.zip(ada, (form.format("Bob Óðinsson_2"), BOB)))
    assert set(course.placed) == {"bob"}, "who is called x-Ada Lovelace is not Ada"
    assert outcomes["x-Ada Lovelace (1234567)"].remark == (
        "x-Ada Lovelace (1234567) is not on the roster"
    )
    course.collect(course.zip(ada, (form.format("Group 3-Bob Óðinsson_2"), BOB)))
    assert set(course.placed) == {"ada", "bob"}


def test_without_a_roster_the_lms_s_number_is_the_student(course):
    path = course.zip(("lovelaceada_12345_678901_attention.ipynb", ADA))
    assert set(course.collect(path, roster=Roster())) == {"12345"}
    moodle = course.zip(("Ada Lovelace_99_assignsubmission_file_/a.ipynb", ADA))
    (outcome,) = course.collect(moodle, roster=Roster()).values()
    assert outcome.needs_person and "change with each assignment" in outcome.remark


def test_blind_names_need_the_worksheet(course):
    path = course.zip(("Participant_77_assignsubmission_file_/a.ipynb", ADA))
    (outcome,) = course.collect(path).values()
    assert outcome.needs_person and "--worksheet" in outcome.remark
    sheet = course.root / "sheet.csv"
    sheet.write_text(
        "Identifier,Full name,Email address,Grade\n"
        "Participant 77,Ada L.,ada@uni.example,\n"
    )
    assert set(course.collect(path, roster=course.roster.with_worksheet(sheet))) == {
        "ada"
    }
    anonymous = course.zip(("anon_ab12C_678901_attention.ipynb", ADA))
    (outcome,) = course.collect(anonymous).values()
    assert outcome.needs_person and "turn anonymous grading off" in outcome.remark


def test_only_in_moodle_does_the_name_participant_hide_anybody(course):
    path = course.zip(("Participant_12345_678901_attention.ipynb", ADA))
    assert set(course.collect(path)) == {"ada"}, "her number in Canvas decides"


def test_several_files_of_one_student_stay_together(course):
    path = course.zip(
        ("lovelaceada_12345_10_attention-1.ipynb", ADA),
        ("lovelaceada_12345_9_02_notes.txt", b"notes"),
        ("lovelaceada_12345_11_Copy of attention (2).ipynb", BOB),
    )
    course.collect(path)
    assert set(course.placed["ada"]) == {
        "attention-1.ipynb",
        "02_notes.txt",
        "Copy of attention (2).ipynb",
    }
    folder = course.root / "submitted" / "ada" / UNIT
    newest = max(folder.iterdir(), key=lambda p: p.stat().st_mtime)
    assert newest.name == "Copy of attention (2).ipynb", "uploaded last"
