"""Nobody hands in for somebody else, and collecting again changes nothing."""

from __future__ import annotations

import threading
import time

import pytest

from autograder.classroom import ledger
from autograder.collect.roster import from_csv
from autograder.course import files
from autograder.course.errors import CourseError
from tests.collect.course import ADA, BOB, EARLY, GOOD, GRADESCOPE, LATER
from tests.collect.packed import CANVAS_BOB
from tests.tiny_course import UNIT

GOOD_BOB = (CANVAS_BOB, BOB)


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


def test_collecting_again_changes_nothing(course):
    path = course.zip(GOOD)
    course.collect(path)
    before = (course.root / "submitted" / "ada" / UNIT).stat().st_ino
    assert course.collect(path)["ada"].status == "same"
    assert (course.root / "submitted" / "ada" / UNIT).stat().st_ino == before


@pytest.mark.parametrize("newer_first", [False, True])
def test_the_newer_submission_stays_whatever_the_order(course, newer_first):
    name = "lovelaceada_12345_{}_attention.ipynb"
    old = course.zip((name.format(1), BOB))
    new = course.zip((name.format(2), ADA), time=LATER)
    paths = [new, old] if newer_first else [old, new]
    statuses = [course.collect(path)["ada"].status for path in paths]
    assert statuses == ["placed", "older" if newer_first else "replaced"]
    assert course.notebook("ada") == ADA
    assert list(course.placed) == ["ada"]


def test_times_of_handing_in_decide(course):
    name = "12345-1 - Ada Lovelace - Nov {}, 2026 203 PM - a.ipynb"
    late = course.zip((name.format(21), ADA), time=EARLY)
    early = course.zip((name.format(20), BOB), time=LATER)
    course.collect(late)
    assert course.collect(early)["ada"].status == "older"
    assert course.notebook("ada") == ADA


def test_what_cannot_be_compared_is_left_to_a_person(course):
    folder = course.root / "submitted" / "ada" / UNIT
    folder.mkdir(parents=True)
    (folder / "mine.ipynb").write_bytes(BOB)
    path = course.zip(GOOD)
    told = course.collect(path)["ada"]
    assert told.needs_person and "--replace" in told.says
    assert course.placed == {"ada": {"mine.ipynb": BOB}}
    assert course.collect(path, replace=True)["ada"].status == "replaced"
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


def test_a_replacement_that_was_cut_off_is_taken_back(course):
    course.collect(course.zip(GOOD))
    folder = course.root / "submitted" / "ada" / UNIT
    folder.rename(folder.with_name(f".{UNIT}.old"))
    assert course.collect(course.zip(GOOD))["ada"].status == "same"
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


def test_a_group_of_graders_can_write_what_one_of_them_collects(course):
    course.root.chmod(0o2770)
    course.collect(course.zip(GOOD))
    folder = course.root / "submitted" / "ada" / UNIT
    assert folder.stat().st_mode & 0o2070 == 0o2070
    assert (folder / f"{UNIT}.ipynb").stat().st_mode & 0o060 == 0o060


def test_what_a_full_disk_has_cut_off_goes_on_with_the_same_command(
    course, monkeypatch
):
    """The submission was placed, and what was to be noted of it was not."""
    late = course.zip(("lovelaceada_LATE_12345_678901_attention.ipynb", ADA), GOOD_BOB)

    def full(*_):
        raise CourseError("the ledger cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "write", full)
        told = course.collect(late)
    assert {one.status for one in told.values()} == {"not placed"}
    assert "No space left on device; collect again" in told["ada"].says
    course.collect(late)
    assert ledger.read(course.root, UNIT)["ada"].late
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)


def test_two_who_collect_at_once_wait_for_each_other(course):
    with files.alone(course.root / "submitted" / "ada" / UNIT):
        thread = threading.Thread(target=course.collect, args=[course.zip(GOOD)])
        thread.start()
        time.sleep(0.3)
        assert course.placed == {}
    thread.join()
    assert course.notebook("ada") == ADA
