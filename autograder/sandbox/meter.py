"""Measurement of what a sandbox uses: CPU time, and the time on a clock.

The clock is for code that sleeps, which uses no CPU time. It stands still while
the sandbox lacks a CPU, so it advances alike on busy and on quiet machines.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from autograder.sandbox.ending import EndReason
from autograder.sandbox.processes import (
    collected_seconds,
    cpu_seconds,
    descendants,
    is_stopped,
    waiting_seconds,
)

LOOK_SECONDS = 0.25  # between two looks
_SOON = 0.1  # seconds between looks at least, as each costs a millisecond
_LATE = 1.0  # seconds; if a look comes later, this process had no CPU
_STOPS = 180.0  # seconds in all for which a sandbox may be stopped at no cost
_BUSY = 0.1  # the share of lost time from which a machine counts as busy


@dataclass(frozen=True)
class Budget:
    """A time limit, in seconds of CPU time and seconds on the meter's clock."""

    cpu: float
    clock: float

    def least(self, budget: Budget) -> Budget:
        """A budget with the smaller CPU and the smaller clock limit of both budgets."""
        return Budget(min(self.cpu, budget.cpu), min(self.clock, budget.clock))

    def without(self, span: Span) -> Budget:
        """The budget that is left after subtracting what a span has used."""
        return Budget(self.cpu - span.cpu, self.clock - span.clock)

    def exceeded_by(self, span: Span) -> EndReason | None:
        """The limit that a span exceeds: CPU_TIME, TIME or None."""
        if span.cpu > self.cpu:
            return EndReason.CPU_TIME
        return EndReason.TIME if span.clock > self.clock else None


def usual_budget(cpu: float) -> Budget:
    """Return a budget of ``cpu`` seconds of CPU time, and twice as many on the clock.

    The limit on the clock is for code that sleeps.
    """
    return Budget(cpu, 2.0 * cpu)


class Meter:
    """A meter of a sandbox's CPU time, and of the time in which it could have worked.

    Call `look` every `LOOK_SECONDS` or sooner.

    Args:
        supervisor: its supervisor's process id; None measures only the clock.

    Attributes:
        cpu: seconds of CPU time since the sandbox was started.
        clock: seconds since the meter was made, without those in ``lost``.
        lost: seconds in which the sandbox was kept from working.
    """

    def __init__(self, supervisor: int | None):
        self._supervisor = supervisor
        self.cpu = 0.0  # seconds, since the sandbox was started
        self.clock = 0.0  # seconds, since this meter was made
        self.lost = 0.0  # seconds in which the sandbox was kept from working
        self._stopped = 0.0
        self._last = time.monotonic()
        self._waits: dict[tuple[int, str], float] = {}  # at the last look, by thread
        self.look()

    def look(self) -> None:
        """Measure what has been used since the last look, unless that was just now."""
        instant = time.monotonic()
        if self._waits and instant - self._last < _SOON:
            return
        passed, self._last = instant - self._last, instant
        # This process looks late only if it had no CPU: that time does not count.
        late = max(passed - _LATE, 0.0)
        passed -= late
        lost = 0.0
        if self._supervisor:
            lost = self._look_at_sandbox(self._supervisor, passed)
        self.lost += late + lost
        self.clock += passed - lost

    def _look_at_sandbox(self, supervisor: int, passed: float) -> float:
        """Measure the CPU time; return how long the sandbox was kept from working.

        The result is at most ``passed``, the seconds since the last look. It is time in
        which no CPU was free or a signal had stopped the sandbox.
        """
        pids = list(descendants(supervisor))
        used = sum(cpu_seconds(pids)) + collected_seconds(supervisor)
        self.cpu = max(self.cpu, used)  # ended processes may be missing
        # Includes this process: if it lacks a CPU, the sandbox may wait for it.
        before, self._waits = self._waits, waiting_seconds([*pids, os.getpid()])
        # Only the first process counts, which nobody inside a process namespace can
        # stop: no time is gained by a child that stops itself.
        if self._stopped < _STOPS and any(map(is_stopped, pids[:1])):
            self._stopped += passed
            return passed
        common = self._waits.keys() & before.keys()
        return min(sum(self._waits[task] - before[task] for task in common), passed)


class Span:
    """Measures how much of a budget is used from the span's creation on."""

    def __init__(self, meter: Meter, budget: Budget):
        meter.look()
        self._meter, self._budget = meter, budget
        self._start = meter.cpu, meter.clock, meter.lost
        self._seen = meter.clock  # the clock at the last look

    def exceeded_limit(self) -> EndReason | None:
        """Look at the meter; return the exceeded limit: CPU_TIME, TIME or None."""
        self._meter.look()
        self._seen = self._meter.clock
        return self._budget.exceeded_by(self)

    def next(self, budget: Budget) -> Span:
        """Begin a new span on the same meter."""
        return Span(self._meter, budget)

    @property
    def cpu(self) -> float:
        """Seconds of CPU used since the span began."""
        return self._elapsed()[0]

    @property
    def clock(self) -> float:
        """Seconds on the meter's clock since the span began, without pauses."""
        return self._elapsed()[1]

    @property
    def busy(self) -> bool:
        """Whether the sandbox was kept from working for over a tenth of the time."""
        _, clock, lost = self._elapsed()
        return lost > _BUSY * (clock + lost)

    def pause(self) -> None:
        """Take the time since the last look off the clock; the sandbox was waiting."""
        self._meter.look()
        seconds = self._meter.clock - self._seen
        self._seen = self._meter.clock
        self.give_back(seconds)

    def give_back(self, seconds: float) -> None:
        """Subtract seconds from the clock time that the span has counted."""
        cpu, clock, lost = self._start
        self._start = cpu, clock + seconds, lost

    def _elapsed(self) -> tuple[float, float, float]:
        """Return seconds since the span began: CPU time, clock time and lost time."""
        end = self._meter.cpu, self._meter.clock, self._meter.lost
        cpu, clock, lost = (b - a for a, b in zip(self._start, end, strict=True))
        return cpu, clock, lost
