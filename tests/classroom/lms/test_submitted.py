"""Collecting again changes nothing, and only what is newer takes a place."""

from __future__ import annotations

import threading
import time

import pytest
from nbformat.v4 import new_markdown_cell

from autograder.classroom import collection_log
from autograder.course import files
from autograder.course.errors import CourseError
from autograder.grading.replaced import appeals_folder
from tests.classroom.lms.course import ADA, BOB, GOOD, LATER
from tests.classroom.lms.packed import CANVAS_BOB
from tests.grading.intake.released import released
from tests.tiny_course import UNIT, data, solve_release

GOOD_BOB = (CANVAS_BOB, BOB)


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


def test_who_only_asks_for_a_regrade_keeps_the_earlier_hand_in(course):
    asks = solve_release(released(), words="ada")
    asks.cells.append(new_markdown_cell("Regrade 2.3: why?"))
    course.collect(course.zip(GOOD))
    before = collection_log.read(course.root, UNIT)
    new = course.zip((GOOD[0].replace("678901", "678902"), data(asks)), time=LATER)
    for _ in range(2):
        outcome = course.collect(new)["ada"]
        assert outcome.status == "same" and "asks for a regrade" in outcome.remark
    (course.root / "submitted" / "ada" / UNIT / "timestamp.txt").unlink(missing_ok=True)
    unknown = course.zip((GOOD[0], data(asks)))
    assert course.collect(unknown)["ada"].status == "same", (
        "which is newer is no matter"
    )
    assert course.notebook("ada") == ADA
    assert collection_log.read(course.root, UNIT) == before
    assert [p.name for p in appeals_folder(course.root, UNIT).iterdir()] == ["ada"]


def test_what_cannot_be_compared_is_left_to_a_person(course):
    folder = course.root / "submitted" / "ada" / UNIT
    folder.mkdir(parents=True)
    (folder / "mine.ipynb").write_bytes(BOB)
    path = course.zip(GOOD)
    outcome = course.collect(path)["ada"]
    assert outcome.needs_person and "--replace" in outcome.remark
    assert course.placed == {"ada": {"mine.ipynb": BOB}}
    assert course.collect(path, replace=True)["ada"].status == "replaced"
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


def test_a_replacement_that_was_cut_off_is_taken_back(course):
    course.collect(course.zip(GOOD))
    folder = course.root / "submitted" / "ada" / UNIT
    folder.rename(folder.with_name(f".{UNIT}.old"))
    assert course.collect(course.zip(GOOD))["ada"].status == "same"
    assert course.placed == {"ada": {f"{UNIT}.ipynb": ADA}}


def test_what_a_full_disk_has_cut_off_goes_on_with_the_same_command(
    course, monkeypatch
):
    """The submission was placed, and what was to be noted of it was not."""
    late = course.zip(("lovelaceada_LATE_12345_678901_attention.ipynb", ADA), GOOD_BOB)

    def full(*_):
        raise CourseError("the ledger cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(collection_log, "write", full)
        outcomes = course.collect(late)
    assert {outcome.status for outcome in outcomes.values()} == {"not placed"}
    assert "No space left on device; collect again" in outcomes["ada"].remark
    course.collect(late)
    assert collection_log.read(course.root, UNIT)["ada"].late
    assert (course.notebook("ada"), course.notebook("bob")) == (ADA, BOB)


def test_two_who_collect_at_once_wait_for_each_other(course):
    with files.locked(course.root / "submitted" / "ada" / UNIT):
        thread = threading.Thread(target=course.collect, args=[course.zip(GOOD)])
        thread.start()
        time.sleep(0.3)
        assert course.placed == {}
    thread.join()
    assert course.notebook("ada") == ADA
