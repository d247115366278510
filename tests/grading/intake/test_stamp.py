"""When a submission was handed in."""

import datetime
import os
import time

import pytest

from autograder.grading import intake


def test_a_plain_stamp_before_the_collection_is_believed(tmp_path):
    (tmp_path / "timestamp.txt").write_text(
        "2024-03-01 12:30:00.250000 Europe/Berlin\n"
    )
    stamp, repairs = intake.handed_in(tmp_path)
    assert stamp == datetime.datetime(2024, 3, 1, 11, 30, 0, 250000) and not repairs


@pytest.mark.parametrize(
    "text",
    [
        "", "yesterday", "1985-01-01 00:00:00", "2999-01-01 00:00:00", "x" * 500,
        "2024-01-01 00:00:00 ../../etc/passwd", "2024-99-01 00:00:00", "\x00\xff",
        "0001-01-01 00:00:00 +23:59",
    ],
)  # fmt: skip
def test_an_absurd_stamp_counts_as_the_time_of_collection_and_is_told(tmp_path, text):
    (tmp_path / "timestamp.txt").write_text(text)
    before = time.time()
    stamp, (repair,) = intake.handed_in(tmp_path)
    collected = stamp.replace(tzinfo=datetime.UTC).timestamp()
    assert int(before) <= collected <= time.time() and repair.kind == "time"
    reasons = {"2999": "lay after its collection", "1985": "lay before 2000"}
    assert reasons.get(text[:4], "was unreadable") in repair.says


def test_a_stamp_that_is_a_fifo_does_not_hold_the_run_and_there_may_be_none(tmp_path):
    assert intake.handed_in(tmp_path) == (None, ())
    os.mkfifo(tmp_path / "timestamp.txt")
    assert intake.handed_in(tmp_path)[1][0].kind == "time"


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2024-03-01 12:00:00 UTC", 12),
        ("2024-03-01 12:00:00", 12),
        ("2024-03-01 12:00:00 +0100", 11),
        ("2024-03-01T12:00:00-05:00", 17),
    ],
)
def test_zones_and_offsets_are_read_right(text, hour):
    assert intake.parse_stamp(text) == datetime.datetime(2024, 3, 1, hour)
