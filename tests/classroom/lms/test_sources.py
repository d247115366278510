"""However a download was packed again, its submissions arrive, with all they hold."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from autograder.classroom import collection_log
from autograder.classroom.lms import layouts, place
from tests.classroom.lms.course import ADA, BOB, LATER, Course
from tests.classroom.lms.packed import CANVAS_ADA, CANVAS_BOB, MOODLE, zipped
from tests.tiny_course import UNIT


@pytest.mark.parametrize("around", ["submissions/", "Downloads/two/submissions (1)/"])
def test_folders_around_what_an_lms_packed_do_not_matter(course, around):
    path = course.zip(
        (f"{around}{CANVAS_ADA}", ADA),
        (f"{around}{CANVAS_BOB}", BOB),
        ("__MACOSX/._x", b""),
    )
    assert set(course.collect(path)) == {"ada", "bob"}
    assert course.notebook("ada") == ADA and course.notebook("bob") == BOB


def test_a_single_student_s_folder_is_not_taken_for_one_around(course):
    moodle = MOODLE.format("Ada Lovelace", "file_")
    assert set(course.collect(course.zip((f"{moodle}/a.ipynb", ADA)))) == {"ada"}
    repeated = course.zip((f"again/{moodle}/a.ipynb", ADA))
    assert course.collect(repeated)["ada"].status == "same"


def test_zips_in_a_zip_are_collected_one_by_one(course):
    path = course.zip(
        ("groups/one.zip", zipped((f"one/{CANVAS_ADA}", ADA))),
        ("groups/two.zip", zipped((CANVAS_BOB, BOB))),
    )
    assert set(course.collect(path)) == {"ada", "bob"}


def test_a_bad_zip_in_a_zip_does_not_stop_the_next(course):
    path = course.zip(
        ("groups/1.zip", zipped((CANVAS_ADA, ADA))),
        ("groups/2.zip", b"PK broken"),
        ("groups/3.zip", zipped(("nobody knows.txt", ADA))),
        ("groups/4.zip", zipped((CANVAS_BOB, BOB))),
    )
    utc = layouts.to_utc("UTC")
    outcomes = place.Collection(UNIT, course.root, course.roster, utc).place([path])
    remarks = {(outcome.archive, outcome.name): outcome.remark for outcome in outcomes}
    assert set(course.placed) == {"ada", "bob"}
    assert "2.zip: it is not a readable zip" in remarks[path.name, ""]
    assert "names match none of" in remarks["3.zip", ""]


def test_an_unpacked_folder_is_collected_without_following_links(course, tmp_path):
    folder = tmp_path / "unpacked" / "submissions"
    folder.mkdir(parents=True)
    (folder / CANVAS_ADA).write_bytes(ADA)
    (tmp_path / "secret").write_text("no")
    (folder / CANVAS_BOB).symlink_to(tmp_path / "secret")
    outcomes = course.collect(tmp_path / "unpacked")
    assert outcomes["ada"].status == "placed" and set(course.placed) == {"ada"}
    assert outcomes[f"submissions/{CANVAS_BOB}"].remark == "it is a link or a device"


@pytest.mark.parametrize("time", [-(1 << 40), 0, 1 << 40, 1 << 60])
def test_a_time_of_no_calendar_stops_nobody(course, tmp_path, monkeypatch, time):
    (tmp_path / "unpacked").mkdir()
    for name, data in ((CANVAS_ADA, ADA), (CANVAS_BOB, BOB)):
        (tmp_path / "unpacked" / name).write_bytes(data)
    look = Path.lstat

    def lstat(path):  # as on a file system with room for it
        status = list(look(path))
        status[8] = time if path.name == CANVAS_BOB else status[8]
        return os.stat_result(status)

    monkeypatch.setattr(Path, "lstat", lstat)
    assert set(course.collect(tmp_path / "unpacked")) == {"ada", "bob"}


# --- late ----------------------------------------------------------------------------


def late(course: Course) -> Path:
    return course.zip(("lovelaceada_LATE_12345_678901_attention.ipynb", ADA))


def test_what_canvas_calls_late_is_a_second_late_by_the_deadline(course):
    outcomes = course.collect(late(course), due=datetime(2026, 11, 1, 22, 59))
    assert "one second counts" in outcomes["ada"].remark
    assert course.time("ada") == "2026-11-01 22:59:01"
    noted = collection_log.read(course.root, UNIT)["ada"]
    assert noted.late and noted.lms == "Canvas" and noted.origin.startswith("lovelace")


def test_a_deadline_that_is_set_afterwards_counts_when_it_is_collected_again(course):
    path = late(course)
    assert "set the deadline" in course.collect(path)["ada"].remark
    assert course.time("ada") == "None"
    assert course.collect(path)["ada"].status == "same"
    outcomes = course.collect(path, due=datetime(2026, 11, 1))
    assert outcomes["ada"].status == "replaced" and course.time("ada") != "None"
    newer = course.zip((CANVAS_ADA, BOB), time=LATER)
    assert course.collect(newer)["ada"].status == "replaced"
    assert course.time("ada") == "None" and course.notebook("ada") == BOB
