"""The archives of five LMSs end in submitted/."""

from __future__ import annotations

import pytest

from autograder.classroom.lms.roster import Roster
from tests.classroom.lms.course import ADA, BOB, GRADESCOPE
from tests.tiny_course import UNIT


def test_canvas(course):
    path = course.zip(
        ("lovelaceada_LATE_12345_678901_01_numbers-1.ipynb", ADA),
        ("óðinssonbob_12346_678902_Copy of attention (1).ipynb", BOB),
        ("index.html", b"<html>"),
    )
    told = course.collect(path)
    assert course.placed == {
        "ada": {f"{UNIT}.ipynb": ADA},
        "bob": {f"{UNIT}.ipynb": BOB},
    }
    assert "late, but the archive does not say by how much" in told["ada"].says
    assert not any(outcome.needs_person for outcome in told.values())


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
    told = course.collect(course.zip(ada, (form.format("Bob Óðinsson_2"), BOB)))
    assert set(course.placed) == {"bob"}, "who is called x-Ada Lovelace is not Ada"
    assert told["x-Ada Lovelace (1234567)"].says == (
        "x-Ada Lovelace (1234567) is not on the roster"
    )
    course.collect(course.zip(ada, (form.format("Group 3-Bob Óðinsson_2"), BOB)))
    assert set(course.placed) == {"ada", "bob"}


def test_gradescope_with_groups_and_times(course):
    path = course.zip(
        ("assignment_55_export/submission_3001/attention.ipynb", ADA),
        ("assignment_55_export/submission_metadata.yml", GRADESCOPE.encode()),
    )
    assert set(course.collect(path)) == {"ada", "bob"}
    assert course.notebook("ada") == course.notebook("bob") == ADA
    assert course.time("ada") == "2026-11-20 14:03:59"


def test_blackboard_takes_the_last_attempt_and_its_local_time(course):
    path = course.zip(
        ("Week_1_alovelace_attempt_2026-11-20-14-03-59_attention.ipynb", BOB),
        ("Week_1_alovelace_attempt_2026-11-20-15-03-59_attention.ipynb", ADA),
        ("Week_1_alovelace_attempt_2026-11-20-15-03-59.txt", b"Name: Ada"),
        ("Week_1_bodin_attempt_2026-07-20-15-03-59_attention.ipynb", BOB),
    )
    told = course.collect(path)
    assert set(told) == {"ada", "bob"}
    assert "the latest of 2 attempts" in told["ada"].says
    assert course.notebook("ada") == ADA
    assert course.time("ada") == "2026-11-20 14:03:59", "winter in Berlin"
    assert course.time("bob") == "2026-07-20 13:03:59", "summer in Berlin"


def test_blackboard_without_a_roster_must_not_be_ambiguous(course):
    one = course.zip(("Week_1_ada_attempt_2026-11-20-14-03-59_a.ipynb", ADA))
    (outcome,) = course.collect(one, roster=Roster()).values()
    assert outcome.needs_person and "give a roster" in outcome.says
    plain = course.zip(("Week 1_ada_attempt_2026-11-20-14-03-59_a.ipynb", ADA))
    assert set(course.collect(plain, roster=Roster())) == {"ada"}


@pytest.mark.parametrize("between", [" - ", "/"])
def test_brightspace(course, between):
    who = "12345-789012 - Ada Lovelace - Nov 20, 2026 203 PM"
    assert set(course.collect(course.zip((f"{who}{between}a.ipynb", ADA)))) == {"ada"}
    assert course.time("ada") == "2026-11-20 13:03:00"


def test_without_a_roster_the_lms_s_number_is_the_student(course):
    path = course.zip(("lovelaceada_12345_678901_attention.ipynb", ADA))
    assert set(course.collect(path, roster=Roster())) == {"12345"}
    moodle = course.zip(("Ada Lovelace_99_assignsubmission_file_/a.ipynb", ADA))
    (outcome,) = course.collect(moodle, roster=Roster()).values()
    assert outcome.needs_person and "change with each assignment" in outcome.says


def test_blind_names_need_the_worksheet(course):
    path = course.zip(("Participant_77_assignsubmission_file_/a.ipynb", ADA))
    (outcome,) = course.collect(path).values()
    assert outcome.needs_person and "--worksheet" in outcome.says
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
    assert outcome.needs_person and "turn anonymous grading off" in outcome.says


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
