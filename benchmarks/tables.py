"""What was measured of grading, as tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.watch import GRADER, JUDGES, ROLES, SANDBOXES, WORKERS, Watched

PLAIN, OTTER, FLOOR, ONE = "plain nbgrader", "`otter run`", "the floor", "1 job"


@dataclass(frozen=True)
class Checks:
    """Seconds that a submission spends in its checks, and in the longest of them."""

    seconds: float
    longest: str
    its: float


@dataclass(frozen=True)
class Cost:
    """What a further submission takes, and what its command takes once.

    Attributes:
        wall: seconds of a further submission.
        cpu: its CPU seconds, by role where that was watched.
        once: seconds of the command beyond its submissions.
        whole, first: the larger and the smaller class as they were watched.
    """

    wall: float
    cpu: Mapping[str, float]
    once: float = math.nan
    whole: Watched | None = None
    first: Watched | None = None
    checks: Checks | None = None

    @property
    def all_cpu(self) -> float:
        """CPU seconds of a further submission."""
        return sum(self.cpu.values())


Costs = dict[str, Cost]  # of one unit, by the way of grading


def tables(found: Mapping[str, Costs]) -> str:
    """All tables, of units by their number."""
    return "\n\n".join((_speed(found), _stages(found), _once(found), _memory(found)))


def _ours(costs: Costs) -> list[str]:
    return [name for name in costs if name not in (PLAIN, OTTER, FLOOR)]


def _speed(found: Mapping[str, Costs]) -> str:
    names = list(dict.fromkeys(name for costs in found.values() for name in costs))
    rows = []
    for unit, costs in found.items():
        best = min((costs[name].wall for name in _ours(costs)), default=math.nan)
        times = costs[PLAIN].wall / best if PLAIN in costs else math.nan
        cells = [_seconds(costs[n].wall) if n in costs else "" for n in names]
        rows.append([unit.lstrip("0"), *cells, _times(times)])
    head = ["unit", *names, "as fast as nbgrader"]
    return f"Seconds of a further submission:\n\n{table(head, rows)}"


def _stages(found: Mapping[str, Costs]) -> str:
    rows = []
    for unit, costs in found.items():
        one, floor = costs[ONE], costs.get(FLOOR)
        own = sum(one.cpu[role] for role in (GRADER, WORKERS))
        rows.append([
            unit.lstrip("0"),
            *map(_seconds, (own, one.cpu[JUDGES], one.cpu[SANDBOXES], one.all_cpu)),
            _seconds(floor.all_cpu) if floor else "",
            _times(one.all_cpu / floor.all_cpu) if floor else "",
            f"{one.checks.seconds:.2f}" if one.checks else "",
            f"{one.checks.longest} ({one.checks.its:.2f})" if one.checks else "",
        ])  # fmt: skip
    head = [
        "unit", "grader", "judge", "sandbox", "in all", "the floor", "over the floor",
        "in checks, seconds", "the longest check",
    ]  # fmt: skip
    return (
        "CPU seconds of a further submission, one job, by who used them:\n\n"
        f"{table(head, rows)}"
    )


def _once(found: Mapping[str, Costs]) -> str:
    names = [n for n in next(iter(found.values())) if n not in (OTTER, FLOOR)]
    rows = [
        [unit.lstrip("0"), *(_seconds(costs[name].once) for name in names)]
        for unit, costs in found.items()
    ]
    return f"Seconds that the command takes once:\n\n{table(['unit', *names], rows)}"


def _memory(found: Mapping[str, Costs]) -> str:
    rows = []
    for unit, costs in found.items():
        for name in _ours(costs):
            whole, first = costs[name].whole, costs[name].first
            if whole and first:
                most = [f"{whole.megabytes[role]:.0f}" for role in ROLES]
                grown = f"{first.most:.0f}, {whole.most:.0f}"
                rows.append([unit.lstrip("0"), name, *most, grown])
    head = ["unit", "", *ROLES, "all at one moment: small class, large"]
    return f"Megabytes at most, shared ones counted once:\n\n{table(head, rows)}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _seconds(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _times(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f} times"
