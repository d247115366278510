"""What changed in a gradebook, and why: a table that each run of grading adds to.

``changes/UNIT.csv``, beside the gradebook, has a row for each changed score. It comes
from comparing the gradebook with what it was after the last run, so that points by hand
and moved deadlines are in it, too, and whatever a run that was killed has changed.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from autograder.course import files, sheet
from autograder.grading.gradebook.book import Gradebook, penalties_of, points_of

PENALTY = "late penalty"  # in place of a cell's grade id
NEW, MENDED, BY_HAND, LATENESS, DECIDED = (
    "new submission", "mended check", "by hand", "lateness", "decided at last",
)  # fmt: skip

# Student -> cell -> its points, and what of them a person gave: plain JSON values.
Scores = dict[str, dict[str, list[float | None]]]


@dataclass(frozen=True)
class Change:
    """A score that is not what it was.

    Attributes:
        time: of the run that noticed it, in UTC.
        cell: the grade id, or ``PENALTY``, of which points are taken off.
        before: points as text, "" for none yet; ``after``: those of now.
        why: ``NEW``, ``MENDED``, ``BY_HAND``, ``LATENESS`` or ``DECIDED``.
    """

    time: str
    student: str
    cell: str
    before: str
    after: str
    why: str


_TITLES = tuple(one.name for one in fields(Change))


def begin(root: Path, unit: str, book: Gradebook) -> None:
    """Note what the gradebook has, where no run has noted anything before.

    Raises:
        CourseError: the note cannot be read or written.
    """
    with files.changing_json_state(_noted(root, unit)) as noted:
        if not noted:
            noted |= {"scores": _scores(book, unit), "ids": {}}


def end(root: Path, unit: str, book: Gradebook, ids: Mapping[str, str]) -> list[Change]:
    """Add to the table what has changed since the last run, and note what is there now.

    Args:
        ids: of students whom this run has looked at, whose submission was graded.

    Raises:
        CourseError: the table or the note cannot be read or written.
    """
    with files.changing_json_state(_noted(root, unit)) as noted:
        scores, known = _scores(book, unit), noted.get("ids", {})
        now = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M:%S}"
        found = [
            Change(now, student, cell, sheet.number(before), sheet.number(after), why)
            for student, cells in sorted(scores.items())
            for cell, before, after, why in _changed(
                noted.get("scores", {}).get(student, {}), cells,
                anew=_differs(ids.get(student), known.get(student)),
            )
        ]  # fmt: skip
        if found:
            rows = [_TITLES, *map(astuple, [*read(root, unit), *found])]
            files.write(table(root, unit), sheet.as_harmless_text(rows))
        noted |= {"scores": scores, "ids": known | dict(ids)}
    return found


def read(root: Path, unit: str) -> list[Change]:
    """All changes of an assignment, the oldest first.

    Raises:
        CourseError: the table cannot be read.
    """
    path = table(root, unit)
    if not path.is_file():
        return []
    found = sheet.read(path)
    return [
        Change(*(sheet.as_meant(found.cell(row, title)) for title in _TITLES))
        for row in found.rows
    ]


def lines(found: Sequence[Change]) -> list[str]:
    """Changes as lines of a table for a log or a terminal; [] for none."""
    if not found:
        return []
    titles = Change("", "student", "graded cell", "before", "after", "why")
    rows = [astuple(one)[1:] for one in (titles, *found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  "
        f"{row[2] or '-':>{widths[2]}}  {row[3] or '-':>{widths[3]}}  {row[4]}"
        for row in rows
    ]


def table(root: Path, unit: str) -> Path:
    """Where the table is kept."""
    return root / "changes" / f"{unit}.csv"


def _noted(root: Path, unit: str) -> Path:
    return root / ".autograder" / "scores" / f"{unit}.json"


def _scores(book: Gradebook, unit: str) -> Scores:
    found: Scores = {}
    for one in points_of(book, unit):
        found.setdefault(one.student, {})[one.cell] = [one.total, one.by_hand]
    for student, penalty in penalties_of(book, unit).items():
        found.setdefault(student, {})[PENALTY] = [penalty, None]
    book.db.rollback()
    return found


def _changed(
    before: Mapping[str, Sequence[float | None]],
    after: Mapping[str, Sequence[float | None]],
    anew: bool,
) -> list[tuple[str, float | None, float | None, str]]:
    """The cells with other points than before.

    Points that a person gives an answer which had none are no change: it has waited
    for them. Points that a check gives at last are one, since the cell showed none.
    """
    found = []
    for cell, (score, given) in after.items():
        if cell not in before or before[cell][0] == score:
            continue
        old, by_hand = before[cell][0], given != before[cell][1]
        if old is None and by_hand:
            continue
        why = NEW if anew else BY_HAND if by_hand else MENDED
        why = DECIDED if old is None and not anew else why
        why = LATENESS if cell == PENALTY else why
        found.append((cell, old, score, why))
    return found


def _differs(one: str | None, other: str | None) -> bool:
    return bool(one and other and one != other)
