"""Whose turn it is: the cell's clock runs, or the judge's patience."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.judge import exchange
from autograder.grading.judge.exchange import Exchange
from autograder.sandbox.ending import EndReason


class Clock:
    """A cell's clock: it says what it is told, and counts when it is stopped."""

    def __init__(self, over: EndReason | None = None, cpu: float = 0.0):
        self.said, self.cpu, self.paused = over, cpu, 0

    def exceeded_limit(self) -> EndReason | None:
        return self.said

    def pause(self) -> None:
        self.paused += 1

    def next(self, budget) -> Clock:
        return Clock(EndReason.CPU_TIME if self.said else None)


@pytest.fixture
def make_exchange(pair):
    """An exchange that has asked, and has got so far; of its judge nothing comes."""

    def so_far(ready=False, complete=None, patience=60.0) -> Exchange:
        silent = SimpleNamespace(has_something=lambda: False, send=lambda *_: None)
        exchange = Exchange(silent, {}, patience)
        exchange.ask(pair[0], None, "t1")
        exchange.ready, exchange.complete = ready, complete
        exchange.verdict = None if complete is None else object()
        return exchange

    return so_far


def test_the_cells_own_clock_runs_until_the_sandbox_has_said_something(
    make_exchange, pair
):
    clock = Clock(EndReason.TIME)
    assert make_exchange().reason_to_end(clock) is EndReason.TIME and clock.paused == 0
    clock = Clock()
    assert make_exchange(ready=True).reason_to_end(clock) is None and clock.paused == 1
    pair[1].send(b"ready")  # which nobody has read
    assert make_exchange().reason_to_end(clock) is None and clock.paused == 2


def test_a_cell_ends_in_time_once_its_check_is_decided(make_exchange):
    assert make_exchange(complete=True).reason_to_end(Clock()) is None
    late = Clock(EndReason.TIME)
    assert make_exchange(complete=True).reason_to_end(late) is EndReason.CPU_TIME
    assert make_exchange(complete=False).reason_to_end(Clock()) is EndReason.DECIDED


def test_a_judge_is_lost_that_says_nothing_whatever_its_sandbox_does(
    make_exchange, monkeypatch
):
    clock = [100.0]
    monkeypatch.setattr(exchange.time, "monotonic", lambda: clock[0])
    unheard = make_exchange(ready=True, patience=10.0)
    for _ in range(3):
        clock[0] += 9.0
        assert unheard.reason_to_end(Clock()) is None
        unheard.heard = clock[0]
    clock[0] += 11.0
    with pytest.raises(GradingInfrastructureError, match="the judge was lost"):
        unheard.reason_to_end(Clock(cpu=clock[0]))
