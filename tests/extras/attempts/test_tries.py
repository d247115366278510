"""``autograder attempts``: how a class came to its solutions."""

from __future__ import annotations

import json
from dataclasses import asdict

from autograder import cli
from autograder.checks.attempts import RecordedAttempt
from autograder.checks.words import ATTEMPTS_DATA
from autograder.extras.attempts import tries
from tests import tiny_course as tiny

UNIT = "02_attention"


def make_attempts(
    *shares: float, exercise: str = "attention/softmax"
) -> list[RecordedAttempt]:
    """Attempts ten minutes apart."""
    return [
        RecordedAttempt(
            f"2026-11-02T21:{10 * n:02}:00+00:00", exercise, share, "off" * (share < 1)
        )
        for n, share in enumerate(shares)
    ]


def test_medians_are_of_those_who_solved_it_and_others_are_stuck():
    attempts = {
        "ada": make_attempts(0.0, 0.5, 1.0),
        "bob": make_attempts(1.0),
        "eve": make_attempts(*[0.2] * 5),
    }
    [row] = tries.table(UNIT, attempts)
    assert (row.tried, row.solved, row.attempts, row.minutes) == (3, 2, 2.0, 10.0)
    [stuck] = row.stuck
    assert (stuck.student, stuck.attempts, stuck.mistake) == ("eve", 5, "off")
    assert "stuck: eve, 5 attempts, last mistake off" in tries.as_text([row])


def test_what_comes_after_the_solution_counts_for_nothing():
    [row] = tries.table(UNIT, {"ada": make_attempts(1.0, 0.0, 1.0)})
    assert (row.attempts, row.minutes) == (1, 0.0)


def test_an_exercise_that_there_is_not_is_left_out():
    assert tries.table(UNIT, {"ada": make_attempts(1.0, exercise="other/unit")}) == []


def ask(root, capsys, *arguments: str) -> tuple[int, str]:
    status = cli.main(["attempts", "02", *arguments, "--course", str(root)])
    output = capsys.readouterr()
    return status, output.out + output.err


def test_it_prints_a_table_and_writes_a_page(tmp_path, capsys):
    source = tmp_path / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(tiny.data(tiny.source_notebook()))
    status, output = ask(tmp_path, capsys)
    assert status == 1 and "no record of attempts" in output and output.count("\n") == 1
    folder = tmp_path / "submitted" / "<b>ada" / UNIT
    folder.mkdir(parents=True)
    data = {ATTEMPTS_DATA: [asdict(attempt) for attempt in make_attempts(*[0.0] * 6)]}
    (folder / "a.ipynb").write_text(
        json.dumps({"cells": [{"outputs": [{"data": data}]}]})
    )
    status, output = ask(tmp_path, capsys)
    assert status == 0 and "0/1" in output
    page = (tmp_path / "reports" / f"{UNIT}-attempts.html").read_text()
    assert "&lt;b&gt;ada: 6 attempts" in page


def test_one_student_s_forged_entries_neither_end_it_nor_reach_the_terminal(
    tmp_path, capsys
):
    source = tmp_path / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(tiny.data(tiny.source_notebook()))
    escape = "\x1b[2J\x1b]0;pwn\x07\n0/9 stuck: ada, 99 attempts"
    forged = [{"share": 10**400}, {"mistake": escape}, {"mistake": "\ud800"}]
    [right] = make_attempts(1.0)
    for student, entries in {
        "mal\x1b[1mory": [*(asdict(right) | attempt for attempt in forged)],
        "eve\x1b[1m": [asdict(attempt) for attempt in make_attempts(*[0.0] * 6)],
        "ada": [asdict(right)],
    }.items():
        folder = tmp_path / "submitted" / student / UNIT
        folder.mkdir(parents=True)
        outputs = [{"data": {ATTEMPTS_DATA: entries}}]
        (folder / "a.ipynb").write_text(json.dumps({"cells": [{"outputs": outputs}]}))
    status, printed = ask(tmp_path, capsys)
    assert status == 0 and "1/2" in printed and "stuck: eve?[1m, 6" in printed
    assert "entries that cannot be read are left out: mal?[1mory (3)\n" in printed
    assert printed.replace("\n", "").isprintable() and "99 attempts" not in printed
