"""The parts of the README that are facts of the course: units and counted variants."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.bank import specifications
from autograder.build.notebook import badge, read
from autograder.course import Unit


def unit_rows(units: Sequence[Unit]) -> list[str]:
    """A Markdown table row a unit: title, exercises, and the badge for Colab."""
    rows = ["| unit | exercises | open |", "|---|---|---|"]
    for unit in units:
        cells = read(unit)
        title = cells[0].text.splitlines()[0].lstrip("# ")
        count = sum(cell.role == "check" for cell in cells)
        rows.append(f"| {title} | {count} | {badge(unit)} |")
    return rows


def variant_rows(units: Sequence[Unit]) -> list[str]:
    """A Markdown table row a unit: how many mutants and accepted solutions it has."""
    rows = ["| unit | mutants | accepted solutions |", "|---|---|---|"]
    counts = []
    for unit in units:
        exercises = specifications(unit.name)
        ways = sum(len(m.ways) for e in exercises for m in e.mutants)
        counts.append([ways, sum(len(e.accepted) for e in exercises)])
        rows.append(f"| {unit.label} | {counts[-1][0]} | {counts[-1][1]} |")
    wrong, right = map(sum, zip(*counts, strict=True))
    return [*rows, f"| **all** | **{wrong}** | **{right}** |"]
