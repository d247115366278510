"""Records of attempts come from students: whatever is no record is left out."""

import json
import os
import pwd
from dataclasses import asdict

import pytest

from autograder.checks.attempts import AttemptLog, RecordedAttempt, keep
from autograder.checks.words import ATTEMPTS, ATTEMPTS_DATA
from autograder.extras.attempts import attempt_records

FIRST = RecordedAttempt(
    "2026-11-02T21:04:09+00:00", "attention/softmax", 0.5, "wrong_axis"
)
LAST = RecordedAttempt("2026-11-02T21:30:09+00:00", "attention/softmax", 1.0)


def notebook(*attempts: object) -> str:
    outputs = [{"data": {ATTEMPTS_DATA: attempt}} for attempt in attempts]
    return json.dumps({"cells": [{"outputs": outputs}]})


def test_all_records_of_a_submission_count_once_and_in_order(tmp_path):
    twice = [asdict(LAST), asdict(FIRST)]
    (tmp_path / "a.ipynb").write_text(notebook(twice, twice))
    assert attempt_records.handed_in(tmp_path) == AttemptLog((FIRST, LAST))


@pytest.mark.parametrize(
    ("text", "unreadable"),
    [
        ("", 0), ("no JSON", 0), ("[]", 0), ('{"cells": 3}', 0),
        ('{"cells": [3, {"outputs": {}}]}', 0),
        (notebook("words", 3, {"time": 1}, [asdict(FIRST) | {"share": 7}]), 4),
        (notebook([asdict(FIRST) | {"share": 10**400}] * 3), 3),
    ],
)  # fmt: skip
def test_a_broken_or_forged_entry_is_left_out_and_counted(tmp_path, text, unreadable):
    (tmp_path / "a.ipynb").write_text(text)
    assert attempt_records.handed_in(tmp_path) == AttemptLog((), unreadable)


def test_no_link_or_pipe_is_followed(tmp_path):
    outside = tmp_path / "elsewhere.txt"
    outside.write_text(notebook([asdict(FIRST)]))
    inner = tmp_path / "submission"
    inner.mkdir()
    (inner / "a.ipynb").symlink_to(outside)
    os.mkfifo(inner / "b.ipynb")
    assert attempt_records.handed_in(inner) == AttemptLog()


def test_live_files_count_for_the_account_that_owns_them(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    keep(tmp_path / "one", FIRST)
    (tmp_path / "two" / ATTEMPTS).symlink_to(tmp_path / "one" / ATTEMPTS)
    me = pwd.getpwuid(os.getuid()).pw_name
    assert attempt_records.live(f"{tmp_path}/*") == {me: AttemptLog((FIRST,))}
