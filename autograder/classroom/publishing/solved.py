"""Write a unit's notebook with its solutions, to hand out after the last deadline.

Hidden tests are left out, because later terms use them again.
"""

from __future__ import annotations

import datetime
import re

import nbformat

from autograder.authoring.notebook import BEGIN, BEGIN_HIDDEN, END, END_HIDDEN
from autograder.course import Unit, notebooks
from autograder.course.errors import CourseError

_HIDDEN = re.compile(
    rf"^[ \t]*{BEGIN_HIDDEN}[ \t]*\n.*?^[ \t]*{END_HIDDEN}[ \t]*(\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_MARKER = re.compile(rf"^[ \t]*({BEGIN}|{END})[ \t]*(\n|\Z)", re.MULTILINE)


def notebook_with_solutions(unit: Unit) -> str:
    """The text of the source notebook without hidden tests, markers and metadata.

    Raises:
        CourseError: a hidden test would be left in it.
    """
    notebook = notebooks.read(unit.source)
    for cell in notebook.cells:
        cell.source = _MARKER.sub("", _HIDDEN.sub("", cell.source)).rstrip("\n")
        cell.metadata.pop("nbgrader", None)
        if "check.hidden(" in cell.source or "### BEGIN " in cell.source:
            raise CourseError(f"{unit.label}: the notebook would contain a hidden test")
    return f"{nbformat.writes(notebook, version=nbformat.NO_CONVERT)}\n"


def refuse_early(label: str, last: datetime.datetime | None) -> None:
    """Refuse to write solutions before the last deadline, ``last`` (naive, in UTC).

    Raises:
        CourseError: the deadline has not passed, or there is none.
    """
    moment = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    if last is None:
        raise CourseError(
            f"{label} has no deadline, so students may still hand in; set one "
            f'(nbgrader db assignment add {label} --duedate="..."), or write the '
            "solutions at once with --now"
        )
    if moment < last:
        raise CourseError(
            f"students may hand in until {last:%Y-%m-%d %H:%M} UTC; to write the "
            "solutions at once, add --now"
        )
