"""A log of points that people give by hand: a table in the gradebook itself.

An entry is committed together with the points, so that the two agree.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql
from nbgrader import api
from sqlalchemy import event
from sqlalchemy.orm import Session, object_session
from sqlalchemy.schema import CreateTable

from autograder.course import grade_ids
from autograder.course.access import account_name
from autograder.course.printable import printable
from autograder.grading.gradebook.book import cell_name, cells_of

WHY = "why points by hand change"  # a key of a session's info, set if no person does
_PENDING = "points by hand that were changed"
_MAX_CHARACTERS = 80  # characters of a person's name
_TABLE = sql.Table(
    "autograder_hand_log", sql.MetaData(),
    sql.Column("number", sql.Integer, primary_key=True),
    *(sql.Column(n, sql.Text) for n in ("time", "who", "unit", "student", "cell")),
    *(sql.Column(name, sql.Float) for name in ("before", "after", "by_hand")),
    *(sql.Column(name, sql.Text) for name in ("comment", "why")),
)  # fmt: skip


@dataclass(frozen=True)
class HandEntry:
    """An entry of the log: points by hand, or a comment on an answer, have changed.

    Attributes:
        time: in UTC.
        before, after: the total points, None for none yet.
        by_hand: the part of ``after`` that a person gave.
        why: the cause, if the program made the change by itself; else "".
    """

    number: int
    time: str
    who: str
    unit: str
    student: str
    cell: str
    before: float | None
    after: float | None
    by_hand: float | None
    comment: str
    why: str


def install() -> None:
    """Make all sessions of this process log what people change in grades and comments.

    Doing it twice is harmless.
    """
    if event.contains(Session, "before_commit", _write):
        return
    columns = (
        api.Grade.manual_score, api.Grade.extra_credit, api.Comment.manual_comment
    )  # fmt: skip
    for column in columns:  # with the old value, which is loaded if needed
        event.listen(column, "set", _note, active_history=True, retval=True)
    event.listen(Session, "before_commit", _write)
    event.listen(Session, "after_soft_rollback", _forget)


def read(book: api.Gradebook, unit: str, after: int = 0) -> list[HandEntry]:
    """The entries of an assignment with numbers above ``after``, the oldest first."""
    if not sql.inspect(book.engine).has_table(_TABLE.name):
        return []
    columns = _TABLE.c
    query = (
        sql.select(_TABLE)
        .where(columns.unit == unit, columns.number > after)
        .order_by(columns.number)
    )
    return [HandEntry(*row) for row in book.db.execute(query)]


def comments(book: api.Gradebook, unit: str) -> dict[tuple[str, str], str]:
    """Map (student, cell) to the comment that a person wrote on the answer."""
    rows = cells_of(book, api.Comment, unit, api.Comment.manual_comment)
    return {
        (student, grade_ids.check_of(cell_name(unit, notebook, cell))): comment
        for student, notebook, cell, comment in rows
        if comment
    }


def _note(row: Any, value: Any, before: object, event_: Any) -> Any:
    """Remember the value that an attribute had before this transaction.

    SQLAlchemy calls this, and sets the value that is returned.
    """
    session = object_session(row)
    if session is not None:
        pending = session.info.setdefault(_PENDING, {})
        pending.setdefault(row, {}).setdefault(event_.key, before)
    # Points become floats, so that `_write` can compare them with the earlier ones.
    is_text = value is None or event_.key == api.Comment.manual_comment.key
    return value if is_text else float(value)


def _forget(session: Session, _: object) -> None:
    """Discard the changes of a transaction that is rolled back."""
    session.info.pop(_PENDING, None)


def _write(session: Session) -> None:
    """Before each commit, log the points by hand and comments that have changed."""
    pending = session.info.pop(_PENDING, {})
    with session.no_autoflush:
        answers: dict[tuple[Any, str], dict[str, Any]] = {}
        for row, values in pending.items():
            if any(getattr(row, name) != old for name, old in values.items()):
                # Points and comment are rows of their own, but share one entry.
                key = row.notebook, grade_ids.check_of(row.cell.name)
                answers.setdefault(key, {}).update(values)
        entries = [
            entry
            for (notebook, check), values in answers.items()
            for entry in _entries(notebook, check, values, session.info.get(WHY, ""))
        ]
    if entries:
        session.execute(CreateTable(_TABLE, if_not_exists=True))
        session.execute(_TABLE.insert(), entries)


def _entries(
    notebook: Any, check: str, before: dict[str, Any], why: str
) -> Iterator[dict[str, object]]:
    """Yield the log entry on an answer, by column; none for a cell without points.

    ``before`` has the earlier values of the columns that a person has changed.
    """
    comments = {grade_ids.check_of(c.cell.name): c for c in notebook.comments}
    for grade in notebook.grades:
        if grade.cell.name != check:
            continue
        now = {name: getattr(grade, name) for name in ("manual_score", "extra_credit")}
        earlier = {name: before.get(name, value) for name, value in now.items()}
        unit = notebook.assignment.assignment.name
        # Zero counts as given by hand if it is a score, but not as extra credit.
        by_hand = [points for points in now.values() if points is not None]
        yield {
            "time": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M:%S}",
            "who": whoever(), "unit": unit,
            "student": notebook.assignment.student_id,
            "cell": cell_name(unit, notebook.notebook.name, check),
            "before": _total(grade.auto_score, **earlier),
            "after": _total(grade.auto_score, **now),
            "by_hand": sum(by_hand) if any(by_hand) or now["manual_score"] is not None
            else None,
            "comment": comments[check].manual_comment if check in comments else "",
            "why": why,
        }  # fmt: skip


def _total(
    automatic: float | None, manual_score: float | None, extra_credit: float | None
) -> float | None:
    """The total points of an answer; None for none yet."""
    score = automatic if manual_score is None else manual_score
    return None if score is None else score + (extra_credit or 0.0)


def whoever() -> str:
    """The current user's name, from ``AUTOGRADER_USER``, JupyterHub or the account."""
    names = (os.environ.get(n, "") for n in ("AUTOGRADER_USER", "JUPYTERHUB_USER"))
    name = next(filter(None, names), "") or account_name(os.getuid())
    return printable(name)[:_MAX_CHARACTERS]
