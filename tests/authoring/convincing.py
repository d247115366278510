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
    whole = total(rows)
    failures = [line for row in rows for line in row.failures]
    assert whole.caught == whole.mutants, failures
    assert whole.accepted == whole.solutions, failures
    assert whole.named >= 0.95 * whole.mutants, failures
    for row in rows:
        assert row.mutants >= 3 and row.solutions >= 1, f"{row.name} is hardly tested"
