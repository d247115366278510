"""Attempts are kept only where the course says so, without any code."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from autograder.checks import attempts, contents, progress, summary
from autograder.checks.attempts import RecordedAttempt
from autograder.checks.check import Check
from autograder.checks.words import ATTEMPTS, ATTEMPTS_DATA

ONE = RecordedAttempt(
    "2026-11-02T21:04:09+00:00", "attention/softmax", 0.5, "wrong_axis"
)


def test_what_is_kept_is_read(tmp_path):
    attempts.keep(tmp_path, ONE)
    attempts.keep(tmp_path, replace(ONE, share=1.0, mistake=""))
    assert attempts.read(tmp_path) == [ONE, replace(ONE, share=1.0, mistake="")]
    attempts.forget(tmp_path)
    assert attempts.read(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        "no JSON", "[" * 5_000, "[]", "{}", '{"time": 1}',
        json.dumps({"time": "today", "exercise": "a/b", "share": 1}),
        json.dumps({"time": "2026-11-02T21:04:09", "exercise": "a/b", "share": 1}),
        json.dumps({"time": ONE.time, "exercise": "a" * 99, "share": 1}),
        json.dumps({"time": ONE.time, "exercise": "a/b", "share": float("nan")}),
        json.dumps({"time": ONE.time, "exercise": "a/b", "share": True}),
        json.dumps({"time": ONE.time, "exercise": "a/b", "share": 1, "mistake": None}),
        json.dumps({"time": ONE.time, "exercise": "a/b", "share": 10**400}),
        json.dumps(asdict(ONE) | {"mistake": "\x1b[2J"}),
        json.dumps({"time": ONE.time, "exercise": "a/b", "share": 1, "mistake": "\n"}),
        json.dumps({"time": ONE.time, "exercise": "\ud800", "share": 1}),
        '{"share": 1%s}' % ("0" * 5_000),
    ],
)  # fmt: skip
def test_what_is_no_attempt_is_left_out(tmp_path, line):
    (tmp_path / ATTEMPTS).write_text(line + "\n")
    attempts.keep(tmp_path, ONE)
    assert attempts.read(tmp_path) == [ONE]
    assert attempts.parse((tmp_path / ATTEMPTS).read_bytes()).unreadable == 1


def test_blank_lines_are_no_damage():
    assert attempts.parse(b"\n  \n\r\n") == attempts.AttemptLog()


def test_a_full_file_takes_no_more(tmp_path):
    (tmp_path / ATTEMPTS).write_bytes(b"\n" * (attempts.LARGEST + 1))
    attempts.keep(tmp_path, ONE)
    assert (tmp_path / ATTEMPTS).stat().st_size == attempts.LARGEST + 1


@pytest.mark.parametrize("recorded", [True, False])
def test_a_check_adds_one_and_the_summary_carries_them(tmp_path, monkeypatch, recorded):
    unit_contents = replace(contents.contents_of("attention"), attempts=recorded)
    monkeypatch.setattr(contents, "contents_of", lambda unit: unit_contents)
    monkeypatch.setattr(summary, "contents_of", lambda unit: unit_contents)
    monkeypatch.setattr(progress, "find_folder", lambda: tmp_path)
    check = Check()
    check("attention/softmax", lambda x: (x - x.amax(-1, keepdim=True)).exp())
    assert (tmp_path / ATTEMPTS).exists() == recorded
    bundle = check.summary()._repr_mimebundle_()
    if not recorded:
        assert bundle == {}
        return
    [attempt] = bundle[ATTEMPTS_DATA]
    assert set(attempt) == {"time", "exercise", "share", "mistake"}
    assert attempt["exercise"] == "attention/softmax" and attempt["share"] < 1
    assert attempt["mistake"] == "not_divided"
