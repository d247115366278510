"""Nobody hands in for somebody else."""

from __future__ import annotations

from autograder.collect.roster import from_csv
from tests.collect.course import ADA, BOB, GRADESCOPE
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
    told = course.collect(course.zip(("x_12345_12347_678_a.ipynb", BOB)))
    assert course.placed == {}
    assert all(outcome.needs_person for outcome in told.values())


def test_two_people_who_claim_to_be_one_are_both_refused(course):
    told = course.collect(
        course.zip(
            ("lovelaceada_12345_1_a.ipynb", ADA),
            ("x_12345_2_a.ipynb", BOB),
            ("óðinssonbob_12346_3_a.ipynb", BOB),
        )
    )
    assert set(course.placed) == {"bob"}
    assert "several claim to be it" in told["ada"].says


def test_a_name_on_gradescope_is_nobody_s_proof(course):
    """There everybody writes their own name; addresses are what it checks."""
    metadata = GRADESCOPE + (
        "submission_3002:\n  :submitters:\n"
        '  - {":name": Ada Lovelace, ":email": mallory@else.example}\n'
        "  :created_at: 2026-11-22 14:03:59 Z\n"
    )
    told = course.collect(
        course.zip(
            ("export/submission_3001/attention.ipynb", ADA),
            ("export/submission_3002/attention.ipynb", BOB),
            ("export/submission_metadata.yml", metadata.encode()),
        )
    )
    assert course.notebook("ada") == ADA and set(course.placed) == {"ada", "bob"}
    assert any("mallory@else.example" in o.says for o in told.values())


def test_who_hands_in_alone_after_the_group_is_taken_at_their_last_word(course):
    metadata = GRADESCOPE + (
        "submission_3002:\n  :submitters:\n"
        '  - {":name": Ada, ":email": ada@uni.example}\n'
        "  :created_at: 2026-11-22 14:03:59 Z\n"
    )
    course.collect(
        course.zip(
            ("export/submission_3001/attention.ipynb", BOB),
            ("export/submission_3002/attention.ipynb", ADA),
            ("export/submission_metadata.yml", metadata.encode()),
        )
    )
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)


def test_two_students_of_one_name_are_not_guessed(course):
    (course.root / "roster.csv").write_text(
        "id,first_name,last_name\nada1,Ada,Lovelace\nada2,Ada,Lovelace\n"
    )
    path = course.zip(("Ada Lovelace_7_assignsubmission_file_/a.ipynb", ADA))
    roster = from_csv(course.root / "roster.csv")
    (outcome,) = course.collect(path, roster=roster).values()
    assert outcome.needs_person and "ada1, ada2" in outcome.says


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
