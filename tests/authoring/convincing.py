"""See that checks catch, name and accept what they should."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.authoring.specification import Specification
from autograder.authoring.verify import measure, total
from autograder.checks.references import load


def convincing(exercises: Sequence[Specification]) -> None:
    """See that their checks catch, name and accept what they should."""
    unit = exercises[0].unit
    rows = list(measure(exercises, [load(unit), load(unit, "hidden")]))
    summary = total(rows)
    failures = [line for row in rows for line in row.failures]
    assert summary.caught == summary.mutants, failures
    assert summary.accepted == summary.solutions, failures
    assert summary.named >= 0.95 * summary.mutants, failures
    for row in rows:
        assert row.mutants >= 3 and row.solutions >= 1, f"{row.name} is hardly tested"
