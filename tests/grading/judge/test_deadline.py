"""Whose turn it is: the cell's clock runs, or the judge's patience."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.judge import deadline
from autograder.grading.judge.deadline import CheckDeadline
from autograder.sandbox.ending import EndReason


class Clock:
    """A cell's clock: it says what it is told, and counts when it is stopped."""

    def __init__(self, over: EndReason | None = None, cpu: float = 0.0):
        self.said, self.cpu, self.paused = over, cpu, 0

    def over(self) -> EndReason | None:
        return self.said

    def pause(self) -> None:
        self.paused += 1

    def next(self, budget) -> Clock:
        return Clock(EndReason.CPU_TIME if self.said else None)


def exchange(ready: bool = False, complete: bool | None = None):
    return SimpleNamespace(
        look=lambda: None, ready=ready, heard=0.0,
        verdict=None if complete is None else object(), complete=complete,
    )  # fmt: skip


def test_before_the_box_answers_the_cells_own_clock_runs(ends):
    clock = Clock(EndReason.TIME)
    referee = CheckDeadline(exchange(), ends[0], patience=60.0)
    assert referee.look(clock) is EndReason.TIME and clock.paused == 0


def test_in_between_the_cells_clock_stands(ends):
    clock = Clock()
    assert (
        CheckDeadline(exchange(ready=True), ends[0], patience=60.0).look(clock) is None
    )
    assert clock.paused == 1


def test_so_it_does_while_the_box_has_said_what_nobody_has_read(ends):
    ours, theirs = ends
    theirs.send(b"ready")
    clock = Clock()
    assert CheckDeadline(exchange(), ours, patience=60.0).look(clock) is None
    assert clock.paused == 1


def test_a_cell_ends_in_time_once_its_check_is_decided(ends):
    decided = exchange(complete=True)
    assert CheckDeadline(decided, ends[0], 60.0).look(Clock()) is None
    assert (
        CheckDeadline(decided, ends[0], 60.0).look(Clock(EndReason.TIME))
        is EndReason.CPU_TIME
    )
    failed = exchange(complete=False)
    assert CheckDeadline(failed, ends[0], 60.0).look(Clock()) is EndReason.DECIDED


def test_a_judge_is_lost_that_says_nothing_whatever_its_box_does(ends, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: now[0])
    waiting = exchange(ready=True)
    one = CheckDeadline(waiting, ends[0], patience=10.0)
    for _ in range(3):
        now[0] += 9.0
        assert one.look(Clock()) is None
        waiting.heard = now[0]
    now[0] += 11.0
    with pytest.raises(GradingInfrastructureError, match="the judge was lost"):
        one.look(Clock(cpu=now[0]))
