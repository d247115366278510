"""Nobody hands in for somebody else."""

from __future__ import annotations

import pytest

from autograder.classroom.lms.roster import Roster, from_csv
from autograder.course.errors import CourseError
from tests.classroom.lms.course import ADA, BOB
from tests.tiny_course import UNIT


def test_a_file_name_cannot_make_its_author_somebody_else(course):
    forged = "Ada Lovelace_1234567_assignsubmission_file_attention.ipynb"
    course.collect(
        course.zip(
            (f"malloryeve_12347_5_{forged}", BOB),
            ("malloryeve_12347_6_lovelaceada_12345_678901_x.ipynb", BOB),
        )
    )
    assert set(course.placed) == {"eve"}
    moodle = course.zip(
        ("Eve Mallory_9_assignsubmission_file_" + forged, BOB),
        ("Bob Óðinsson_8_assignsubmission_file_x.ipynb", BOB),
    )
    course.collect(moodle, replace=True)
    assert set(course.placed) == {"eve", "bob"}


def test_a_name_that_reads_as_somebody_s_number_is_refused(course):
    """Eve calls herself "x_12345": her files look like the student 12345's."""
    outcomes = course.collect(course.zip(("x_12345_12347_678_a.ipynb", BOB)))
    assert course.placed == {}
    assert all(outcome.needs_person for outcome in outcomes.values())


def test_two_people_who_claim_to_be_one_are_both_refused(course):
    outcomes = course.collect(
        course.zip(
            ("lovelaceada_12345_1_a.ipynb", ADA),
            ("x_12345_2_a.ipynb", BOB),
            ("óðinssonbob_12346_3_a.ipynb", BOB),
        )
    )
    assert set(course.placed) == {"bob"}
    assert "several people match" in outcomes["ada"].remark


MOODLE_ADA = "Ada Lovelace_{}_assignsubmission_file_/a.ipynb"


def worksheet(
    course, *rows: str, titles="Identifier,Full name,Email address"
) -> Roster:
    path = course.root / "worksheet.csv"
    path.write_text("\n".join([titles, *rows]) + "\n")
    return course.roster.with_worksheet(path)


def test_two_rows_of_a_worksheet_that_may_be_one_student_are_nobody_s(course):
    rows = ("Participant 77,Ada Lovelace,", "Participant 78,Ada Lovelace,")
    path = course.zip((MOODLE_ADA.format(78), BOB))
    (outcome,) = course.collect(path, roster=worksheet(course, *rows)).values()
    assert course.placed == {} and "participants 77, 78 may be ada" in outcome.remark


def test_a_name_is_no_proof_where_the_worksheet_knows_the_number(course):
    roster = worksheet(course, "Participant 77,A. L.,ada@uni.example")
    (outcome,) = course.collect(
        course.zip((MOODLE_ADA.format(78), BOB)), roster=roster
    ).values()
    assert course.placed == {} and "not on the roster" in outcome.remark


def test_a_worksheet_s_address_is_compared_as_one(course):
    roster = worksheet(course, "Participant 77,Mallory,ada@u-ni.example")
    assert not any(entry.participants for entry in roster.entries)


def test_two_students_of_one_name_are_not_guessed(course):
    (course.root / "roster.csv").write_text(
        "id,first_name,last_name\nada1,Ada,Lovelace\nada2,Ada,Lovelace\n"
    )
    path = course.zip(("Ada Lovelace_7_assignsubmission_file_/a.ipynb", ADA))
    roster = from_csv(course.root / "roster.csv")
    (outcome,) = course.collect(path, roster=roster).values()
    assert outcome.needs_person and "ada1, ada2" in outcome.remark


def test_a_time_cannot_be_handed_in_as_a_file(course):
    course.collect(
        course.zip(
            ("Ada Lovelace_7_assignsubmission_file_/a.ipynb", ADA),
            (
                "Ada Lovelace_7_assignsubmission_file_/timestamp.txt",
                b"2020-01-01 00:00",
            ),
            ("Ada Lovelace_7_assignsubmission_file_/Submission_Secret.txt", b"x"),
        )
    )
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


MODIFIED = "Identifier,Full name,Email address,Last modified (submission)"


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ('"Sunday, 30 November 2025, 11:59 PM"', "2025-11-30 22:59:00"),
        ('"Sunday, November 30, 2025, 11:59 PM"', "2025-11-30 22:59:00"),
        ('"Sunday, 30 November 2025, 23:59"', "2025-11-30 22:59:00"),
        ("-", "None"),
    ],
)
def test_the_worksheet_says_when_each_student_handed_in(course, text, time):
    row = f"Participant 77,Ada Lovelace,,{text}"
    path = course.zip((MOODLE_ADA.format(77), BOB))
    roster = worksheet(course, row, titles=MODIFIED)
    (outcome,) = course.collect(path, roster=roster).values()
    assert outcome.status == "placed" and outcome.remark == ""
    assert course.time("ada") == time
    course.collect(path)
    assert course.time("ada") == time, "the same without its time takes none away"


def test_a_time_that_was_read_in_the_wrong_zone_is_corrected_on_request(course):
    row = 'Participant 77,Ada Lovelace,,"Sunday, 30 November 2025, 11:59 PM"'
    path = course.zip((MOODLE_ADA.format(77), BOB))
    roster = worksheet(course, row, titles=MODIFIED)
    course.collect(path, roster=roster, zone="UTC")
    (outcome,) = course.collect(path, roster=roster).values()
    assert outcome.status == "same" and course.time("ada") == "2025-11-30 23:59:00"
    assert "stays 2025-11-30 23:59:00 UTC; --replace sets 2025" in outcome.remark
    (outcome,) = course.collect(path, roster=roster, replace=True).values()
    assert outcome.status == "replaced" and "23:59:00 UTC" in outcome.remark
    assert course.time("ada") == "2025-11-30 22:59:00"
    (outcome,) = course.collect(path, roster=roster, replace=True).values()
    assert (outcome.status, outcome.remark) == ("same", "")


def test_another_table_is_no_worksheet(course):
    with pytest.raises(CourseError, match='no column "Identifier"; download it'):
        course.roster.with_worksheet(course.root / "roster.csv")


def test_a_time_that_cannot_be_read_is_told_and_the_work_placed(course):
    row = "Participant 77,Ada Lovelace,,30.11.2025 23:59"
    path = course.zip((MOODLE_ADA.format(77), BOB))
    roster = worksheet(course, row, titles=MODIFIED)
    (outcome,) = course.collect(path, roster=roster).values()
    assert outcome.status == "placed" and course.time("ada") == "None"
    assert 'time "30.11.2025 23:59" is not like "Monday, 30 Nov' in outcome.remark
