"""What a run keeps if it is stopped."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from autograder.grading.run import running
from autograder.grading.run.submission import InFlightSubmission


def test_those_that_wait_for_a_slow_one_are_recorded_if_the_run_is_stopped(monkeypatch):
    futures = {name: Future() for name in ("slow", "done", "failed", "broken", "last")}
    for name in ("done", "broken", "last"):
        futures[name].set_result(name)
    futures["failed"].set_exception(OSError("its process is lost"))
    saved = []

    def save(submission):
        if submission.student == "broken":
            raise ValueError("what came back cannot be read")
        saved.append(submission.student)

    def stop(*_):
        raise KeyboardInterrupt

    writer = SimpleNamespace(save=save)
    executor = SimpleNamespace(close=lambda: None, slots=1, busy={})
    run = running.Run(writer, executor, {}, force=False, calm=0)
    monkeypatch.setattr(
        run, "_begin", lambda s, _: InFlightSubmission(s, futures={s: futures[s]})
    )
    monkeypatch.setattr(running, "wait", stop)
    with pytest.raises(KeyboardInterrupt):
        list(run.outcomes(dict.fromkeys(futures)))
    assert saved == ["done", "last"]
