"""Mutation testing of the checks: wrong variants caught, right styles accepted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from autograder.bank import evaluate
from autograder.bank.vocabulary import Task
from autograder.student import references
from autograder.student.compare import compare
from autograder.student.exercise import Case, Exercise
from autograder.student.observe import observe
from autograder.student.panel import as_text
from autograder.student.probes import Probe, find


@dataclass
class Row:
    """What the checks of one exercise make of its variants."""

    name: str
    wrong: int = 0
    caught: int = 0
    named: int = 0
    right: int = 0
    accepted: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.name:<44} wrong caught {self.caught:>3}/{self.wrong:<3} · "
            f"named {self.named:>3}/{self.wrong:<3} · "
            f"right accepted {self.accepted:>3}/{self.right}"
        )


def measure(unit: str, hidden: Mapping[str, Exercise] | None = None) -> Iterable[Row]:
    """One row an exercise of a unit, on the public and the hidden references.

    ``hidden`` takes the place of the stored ones.
    """
    public = references.load(unit)
    hidden = references.load(unit, "hidden") if hidden is None else hidden
    for task in evaluate.tasks(unit):
        yield _measure_task(task, [public[task.name], hidden[task.name]])


def total(rows: Iterable[Row]) -> Row:
    """The sum of rows."""
    rows = list(rows)
    names = ("wrong", "caught", "named", "right", "accepted")
    sums = {name: sum(getattr(row, name) for row in rows) for name in names}
    return Row("total", **sums)


def uneven(unit: str, draws: int) -> Iterable[str]:
    """Wrong variants that some fresh drawings let pass and others do not, by case.

    Two students with the same mistake should lose the same points. A case that the
    visible drawing catches is lost anyway; shares of measured cases always differ.
    """
    visible = references.load(unit)
    for task in evaluate.tasks(unit):
        probe = find(task.name)
        drawn = [evaluate.fresh_cases(task, f"draw {n}") for n in range(draws)]
        cases = [[c for c in fresh if not c.measure] for fresh in drawn]
        shown = {case.name: case for case in visible[task.name].cases}
        for wrong in task.wrong:
            made = evaluate.build_object(task, wrong)
            for same in zip(*cases, strict=True):
                passed = {_passes(probe, made, case) for case in same}
                seen = shown.get(same[0].name)
                if len(passed) > 1 and (seen is None or _passes(probe, made, seen)):
                    yield f"{task.name}, {wrong.name}: {same[0].name}"


def _passes(probe: Probe, made: object, case: Case) -> bool:
    return compare(case, observe(probe, made, dict(case.inputs))).passed


def _measure_task(task: Task, drawings: list[Exercise]) -> Row:
    row = Row(task.name)
    for wrong in task.wrong:
        row.wrong += 1
        found = evaluate.verdict(task, evaluate.build_object(task, wrong), drawings)
        name = found.mistake.name if found.mistake else None
        row.caught += not found.passed
        row.named += name == (wrong.like or wrong.name)
        if found.passed:
            row.failures.append(f"wrong {wrong.name} gets full points")
        elif name != (wrong.like or wrong.name):
            row.failures.append(f"wrong {wrong.name} is named {name}")
    for right in task.right:
        row.right += 1
        found = evaluate.verdict(task, evaluate.build_object(task, right), drawings)
        row.accepted += found.passed
        if not found.passed:
            row.failures.append(f"right {right.name} is refused: {as_text(found)}")
    return row
