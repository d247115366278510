"""What a sandbox has used: its CPU time, and the time in which it could have worked.

A limit is for what the student's code does, so CPU time of all the sandbox's processes
comes first. Code that sleeps uses none; for it there is a clock, which stands still
while a process of the sandbox, or who looks at it, is ready and no CPU is free, or
while somebody has stopped the sandbox. So it goes on a busy machine as far as it would
go on a quiet one.
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
_SOON = 0.1  # a look costs a millisecond: none is taken that soon after another
_LATE = 1.0  # a look that comes later than this: it was we who had no CPU
_STOPS = 180.0  # seconds for which a sandbox may stand stopped in all, at no cost
_BUSY = 0.1  # the share of lost time from which a machine counts as busy


@dataclass(frozen=True)
class Budget:
    """Seconds of CPU, and seconds on the meter's clock."""

    cpu: float
    clock: float

    def least(self, budget: Budget) -> Budget:
        """The smaller CPU limit, and the smaller limit on the clock."""
        return Budget(min(self.cpu, budget.cpu), min(self.clock, budget.clock))

    def without(self, span: Span) -> Budget:
        """What is left of it after a span."""
        return Budget(self.cpu - span.cpu, self.clock - span.clock)

    def exceeded_by(self, span: Span) -> EndReason | None:
        """The limit that a span exceeds: CPU_TIME, TIME or None."""
        if span.cpu > self.cpu:
            return EndReason.CPU_TIME
        return EndReason.TIME if span.clock > self.clock else None


def usual_budget(cpu: float) -> Budget:
    """Seconds of CPU, and twice as many in all for code that sleeps or waits."""
    return Budget(cpu, 2.0 * cpu)


class Meter:
    """Counts for the sandbox of one supervisor; look at least every `LOOK_SECONDS`.

    Args:
        supervisor: its process id; None where there is no sandbox: then the clock is
            all there is, and it never stands still.
    """

    def __init__(self, supervisor: int | None):
        self._supervisor = supervisor
        self.cpu = 0.0  # seconds, since the sandbox was started
        self.clock = 0.0  # seconds, since this meter was made
        self.lost = 0.0  # seconds in which the sandbox could not do what it wanted
        self._stopped = 0.0
        self._last = time.monotonic()
        self._waits: dict[tuple[int, str], float] = {}
        self.look()

    def look(self) -> None:
        """Read what has been used since the last look, if that was not just now."""
        instant = time.monotonic()
        if self._waits and instant - self._last < _SOON:
            return
        passed, self._last = instant - self._last, instant
        ours = max(passed - _LATE, 0.0)
        passed -= ours
        lost = (
            self._look_at_sandbox(self._supervisor, passed) if self._supervisor else 0.0
        )
        self.lost += ours + lost
        self.clock += passed - lost

    def _look_at_sandbox(self, supervisor: int, passed: float) -> float:
        """Count the CPU time; how much of the time that has passed was lost to it."""
        pids = list(descendants(supervisor))
        used = sum(cpu_seconds(pids)) + collected_seconds(supervisor)
        self.cpu = max(self.cpu, used)  # who has ended uncollected is not seen again
        # We are among those who may lack a CPU: meanwhile the sandbox waits for us.
        before, self._waits = self._waits, waiting_seconds([*pids, os.getpid()])
        # The first, which in a process namespace nobody inside can stop: a child that
        # has stopped itself buys no time.
        if self._stopped < _STOPS and any(map(is_stopped, pids[:1])):
            self._stopped += passed
            return passed
        waited = sum(
            seconds - before[task]
            for task, seconds in self._waits.items()
            if task in before
        )
        return min(waited, passed)


class Span:
    """What is used of a budget from now on."""

    def __init__(self, meter: Meter, budget: Budget):
        meter.look()
        self._meter, self._budget = meter, budget
        self._start = meter.cpu, meter.clock, meter.lost
        self._seen = meter.clock  # when it was last looked at

    def over(self) -> EndReason | None:
        """Look at the meter; the limit that is exceeded: CPU_TIME, TIME or None."""
        self._meter.look()
        self._seen = self._meter.clock
        return self._budget.exceeded_by(self)

    def next(self, budget: Budget) -> Span:
        """Another span on the same meter, from now on."""
        return Span(self._meter, budget)

    @property
    def cpu(self) -> float:
        """Seconds of CPU."""
        return self._elapsed()[0]

    @property
    def clock(self) -> float:
        """Seconds on the clock, but for pauses."""
        return self._elapsed()[1]

    @property
    def busy(self) -> bool:
        """Whether the machine has kept the sandbox from working meanwhile."""
        _, clock, lost = self._elapsed()
        return lost > _BUSY * (clock + lost)

    def pause(self) -> None:
        """Take back what the clock has counted since the last look.

        The sandbox had to wait for us. Not all that it has counted: of a sandbox that
        says something now and then, a look finds now and then what nobody has read yet.
        """
        self._meter.look()
        seconds = self._meter.clock - self._seen
        self._seen = self._meter.clock
        self.give_back(seconds)

    def give_back(self, seconds: float) -> None:
        """Take back some of what the clock has counted."""
        cpu, clock, lost = self._start
        self._start = cpu, clock + seconds, lost

    def _elapsed(self) -> tuple[float, float, float]:
        """Seconds of CPU, on the clock and lost since the span began."""
        end = self._meter.cpu, self._meter.clock, self._meter.lost
        cpu, clock, lost = (b - a for a, b in zip(self._start, end, strict=True))
        return cpu, clock, lost
