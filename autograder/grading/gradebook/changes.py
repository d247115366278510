"""What changed in a gradebook, and why: a table that each run of grading adds to.

``changes/UNIT.csv`` has a row for each score that changed since the last run.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from autograder.course import files, sheet
from autograder.grading.gradebook import hand_log
from autograder.grading.gradebook.book import Gradebook, penalties_of, points_of
from autograder.grading.gradebook.hand_log import HandEntry
from autograder.grading.gradebook.other_points import points_of_book

PENALTY = "late penalty"  # in place of a cell's grade id
NEW, MENDED, BY_HAND, LATENESS, DECIDED = (
    "new submission", "mended check", "by hand", "lateness", "decided at last",
)  # fmt: skip
OTHER_POINTS, LEFT_OUT, ADDED = "other points", "left out", "new exercise"

# Student -> cell -> its points, those of them that a person gave, and its maximum (None
# if an earlier version stored them): plain JSON values.
Scores = dict[str, dict[str, list[float | None]]]


@dataclass(frozen=True)
class Change:
    """A changed score.

    Attributes:
        time: when the change was noticed or logged, in UTC.
        cell: the exercise, or "late penalty".
        before, after: the points as text, "" for none.
        why: the reason, such as "mended check".
    """

    time: str
    student: str
    cell: str
    before: str
    after: str
    why: str
    who: str = ""
    comment: str = ""

    @property
    def is_told(self) -> bool:
        """Whether to announce the change.

        Changes to the comment alone, and first points by hand, are not announced.
        """
        return self.before != self.after and (self.why != BY_HAND or self.before != "")


_TITLES = tuple(column.name for column in fields(Change))


def begin(root: Path, unit: str, book: Gradebook) -> None:
    """Store the scores before a run, unless an earlier run has stored them.

    Raises:
        CourseError: the file of scores cannot be read or written.
    """
    with files.changing_json_state(_note_path(root, unit)) as noted:
        if not noted:
            entries = hand_log.read(book, unit)
            last = entries[-1].number if entries else 0
            noted |= {"scores": _scores(book, unit), "ids": {}, "by_hand": last}


def end(root: Path, unit: str, book: Gradebook, ids: Mapping[str, str]) -> list[Change]:
    """Add what has changed since the last run to the table; return what to announce.

    Args:
        ids: the id of each student's submission that this run has graded.

    Raises:
        CourseError: the table or the file of scores cannot be read or written.
    """
    with files.changing_json_state(_note_path(root, unit)) as noted:
        scores, earlier_ids = _scores(book, unit), noted.get("ids", {})
        entries = hand_log.read(book, unit, noted.get("by_hand", 0))
        before_by_student = noted.get("scores", {})
        for entry in entries:  # their rows come from the log
            if entry.student not in before_by_student:
                continue  # graded for the first time in this run: all cells are new
            # The log gives this change a row, so compare with the points after it.
            cells = before_by_student[entry.student]
            most = next(iter(cells.get(entry.cell, ())[2:]), None)
            cells[entry.cell] = [entry.after, entry.by_hand, most]
        time = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M:%S}"
        changes = list(map(_logged_change, entries))
        for student, cells in sorted(scores.items()):
            # Two of them: both are known, and another submission was graded.
            graded_ids = {ids.get(student), earlier_ids.get(student)} - {None, ""}
            for cell, before, after, reason in _find_changes(
                before_by_student.get(student, {}), cells, is_new=len(graded_ids) == 2
            ):
                points = sheet.format_points(before), sheet.format_points(after)
                changes.append(Change(time, student, cell, *points, reason))
        if changes:
            rows = [_TITLES, *map(astuple, [*read(root, unit), *changes])]
            files.write(table(root, unit), sheet.as_harmless_text(rows))
        last = entries[-1].number if entries else noted.get("by_hand", 0)
        ids_now = earlier_ids | dict(ids)
        noted |= {"scores": scores, "ids": ids_now, "by_hand": last}
    return [change for change in changes if change.is_told]


def _logged_change(entry: HandEntry) -> Change:
    """The change that an entry of the log of points by hand describes."""
    points = sheet.format_points(entry.before), sheet.format_points(entry.after)
    return Change(
        entry.time, entry.student, entry.cell, *points, entry.why or BY_HAND,
        entry.who, entry.comment,
    )  # fmt: skip


def read(root: Path, unit: str) -> list[Change]:
    """All changes of an assignment, the oldest first.

    Raises:
        CourseError: the table cannot be read.
    """
    path = table(root, unit)
    if not path.is_file():
        return []
    content = sheet.read(path)
    return [
        Change(*(sheet.as_meant(content.cell(row, title)) for title in _TITLES))
        for row in content.rows
    ]


def lines(changes: Sequence[Change]) -> list[str]:
    """Changes as lines of a table for a log or a terminal; [] for none."""
    if not changes:
        return []
    titles = Change("", "student", "graded cell", "before", "after", "why")
    rows = [astuple(change)[1:6] for change in (titles, *changes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  "
        f"{row[2] or '-':>{widths[2]}}  {row[3] or '-':>{widths[3]}}  {row[4]}"
        for row in rows
    ]


def totals(changes: Sequence[Change]) -> dict[str, float]:
    """Map each student to the points gained by some changes; negative if lost."""
    sums: dict[str, float] = {}
    for change in changes:
        gain = float(change.after or 0) - float(change.before or 0)
        sign = -1 if change.cell == PENALTY else 1
        sums[change.student] = sums.get(change.student, 0.0) + sign * gain
    return {student: round(gain, 4) for student, gain in sorted(sums.items())}


def table(root: Path, unit: str) -> Path:
    """The path of an assignment's table of changes."""
    return root / "changes" / f"{unit}.csv"


def _note_path(root: Path, unit: str) -> Path:
    """The path of the file with the scores after the last run."""
    return root / ".autograder" / "scores" / f"{unit}.json"


def _scores(book: Gradebook, unit: str) -> Scores:
    """Return the current points of all students in an assignment, as `Scores`.

    A student's late penalty is stored under ``PENALTY``, beside the cells.
    """
    scores: Scores = {}
    most = points_of_book(book, unit)
    for points in points_of(book, unit):
        cells = scores.setdefault(points.student, {})
        cells[points.cell] = [points.total, points.by_hand, most.get(points.cell)]
    for student, penalty in penalties_of(book, unit).items():
        scores.setdefault(student, {})[PENALTY] = [penalty, None, None]
    book.db.rollback()
    return scores


def _find_changes(
    before: Mapping[str, Sequence[float | None]],
    after: Mapping[str, Sequence[float | None]],
    is_new: bool,
) -> list[tuple[str, float | None, float | None, str]]:
    """Find changed points, each as (cell, points before, points now, reason).

    ``before`` and ``after`` map each cell to its values (see `Scores`); ``is_new``
    says whether a new submission was graded in between.
    """
    changes: list[tuple[str, float | None, float | None, str]] = []
    for cell, (score, manual, most) in after.items():
        if cell not in before:
            # If all cells are new, this is a first grading, and nothing has changed.
            if before and score is not None and cell != PENALTY:
                changes.append((cell, None, score, ADDED))
            continue
        old, old_manual, old_most = (*before[cell], None)[:3]
        if old == score:
            continue
        by_hand = manual != old_manual
        # A first score by hand is not a change.
        if old is None and by_hand:
            continue
        # If several reasons apply, the last one below counts.
        is_worth_other = None not in (most, old_most) and most != old_most
        reason = OTHER_POINTS if is_worth_other else MENDED
        reason = NEW if is_new else BY_HAND if by_hand else reason
        reason = DECIDED if old is None and not is_new else reason
        reason = LATENESS if cell == PENALTY else reason
        changes.append((cell, old, score, reason))
    for cell in before.keys() - after.keys() if after else ():
        if before[cell][0] is not None and cell != PENALTY:
            changes.append((cell, before[cell][0], None, LEFT_OUT))
    return changes
