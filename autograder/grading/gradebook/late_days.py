"""A budget of late days for the term, and how much of it a student has spent.

Units spend it in the order of their deadlines; a part of a day counts as a day.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from nbgrader import api
from traitlets import Integer
from traitlets.config import Configurable

DAY = 86400.0  # seconds


class LateBudget(Configurable):
    """The setting for the late days that students may spend without a penalty."""

    days = Integer(
        0, help="Late days that each student may spend over the term; 0: no budget."
    ).tag(config=True)


@dataclass(frozen=True)
class Balance:
    """A student's late days: ``spent`` on each unit, ``left`` of the ``budget``."""

    budget: int
    spent: Mapping[str, int]

    @property
    def left(self) -> int:
        return self.budget - sum(self.spent.values())

    def free_for(self, unit: str) -> float:
        """The seconds by which a unit may be late without a penalty."""
        return self.spent.get(unit, 0) * DAY


def late_days(seconds: float) -> int:
    """The number of days late, where each day that has begun counts."""
    return math.ceil(seconds / DAY)


def balances(book: api.Gradebook, budget: int, student: str = "") -> dict[str, Balance]:
    """Map each student who was ever late to the balance of late days over all units.

    ``student`` restricts this to one student.
    """
    rows = book.db.query(api.SubmittedAssignment)
    if student:
        rows = rows.filter(api.SubmittedAssignment.student_id == student)
    late = [entry for entry in rows if entry.total_seconds_late > 0]
    spent: dict[str, dict[str, int]] = defaultdict(dict)
    for entry in sorted(late, key=lambda e: (e.assignment.duedate, e.assignment.name)):
        before = spent[entry.student_id]
        days = min(late_days(entry.total_seconds_late), budget - sum(before.values()))
        before[entry.assignment.name] = days
    return {name: Balance(budget, days) for name, days in spent.items()}


def balance_of(book: api.Gradebook, budget: int, student: str) -> Balance:
    """The balance of one student, who may never have been late."""
    return balances(book, budget, student).get(student, Balance(budget, {}))
