"""Send a unit's scores to an LMS: compare, send those that differ, and verify them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.classroom import exports
from autograder.classroom.classbook import Classbook, Submission
from autograder.classroom.services import Delivery
from autograder.course import sheet
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.extras.lti.assignment import (
    LmsMember,
    LmsStanding,
    OnlineAssignment,
    SentMark,
    rank,
)
from autograder.extras.lti.journal import Journal, digest
from autograder.extras.lti.web import GradeRefusedError
from autograder.grading import intake

_EQUAL = 0.005  # points that LMSs may lose by rounding and converting
_LONGEST_COMMENT = 2000
# Statuses that need attention: the exit status is 1 if a row has one of these.
_OPEN = (
    "lower", "changed there", "not in the LMS", "refused", "not applied", "not sent",
)  # fmt: skip


@dataclass(frozen=True)
class GradeRow:
    """A line of the table: a student's score in the LMS, and what is done about it.

    Attributes:
        status: "send" (to be sent), "sent", "same" (the LMS shows it already),
            "waiting" (for a person to grade an answer), "excused" (must not be
            changed), or a problem such as "refused".
        before, after: the LMS's score, and the one to send.
        key: the LMS's id of the student.
    """

    student: str
    status: str
    before: float | None = None
    after: float | None = None
    remark: str = ""
    key: str = ""
    mark: SentMark | None = None


def send(
    book: Classbook, root: Path, assignment: OnlineAssignment, is_trial: bool,
    may_lower: bool,
) -> Delivery:  # fmt: skip
    """Send the scores that differ, and report the changes in a table.

    In a trial, nothing is sent. With ``may_lower``, scores are also replaced that
    are higher or were changed in the LMS.

    Raises:
        CourseError: the LMS's students or scores cannot be read; nothing was sent.
    """
    journal = Journal(root, book.unit, assignment.address)
    people = match(book.submissions, assignment)
    standings = assignment.read_standings()
    rows = _plan(book, root, people, standings, journal.read_scores(), may_lower)
    if is_trial:
        return _delivery(rows, ("nothing has been sent (--dry-run)",))
    rows, stop = _send_rows(rows, assignment, journal)
    if not stop and any(row.status == "sent" for row in rows):
        rows = _look_again(rows, assignment)
    return _delivery(rows, (stop,) if stop else ())


def match(
    submissions: Sequence[Submission], assignment: OnlineAssignment
) -> dict[str, LmsMember]:
    """Map students' ids to the LMS's members, as far as it is clear who is who."""
    everybody = assignment.read_people()
    ranks = [
        [rank(person, s.student, assignment.has_lms_ids) for s in submissions]
        for person in everybody
    ]
    pairs = exports.pair_surest(ranks)
    return {submissions[n].student.id: everybody[p] for p, n in pairs.items()}


def _plan(
    book: Classbook, root: Path, people: Mapping[str, LmsMember],
    standings: Mapping[str, LmsStanding] | None,
    accepted: Mapping[str, Mapping[str, Any]], may_lower: bool,
) -> list[GradeRow]:  # fmt: skip
    """Decide for each student what is to be done.

    Args:
        people: the members of the LMS's course, by student id.
        standings: the LMS's scores by a member's key; None if they cannot be read.
        accepted: by student id, the score and comment that the LMS accepted last.
    """
    rows = []
    for submission in book.submissions:
        student = submission.student
        person = people.get(student.id)
        if person is None:
            fault = "removed there, or add email or lms_user_id to the roster"
            remark = f"{student.full}: {fault}"
            rows.append(GradeRow(student.id, "not in the LMS", remark=remark))
            continue
        sent = accepted.get(student.id, {})
        if standings is None:
            # Unknown, so the LMS is taken to have what was sent last.
            standing = LmsStanding(sent.get("score"))
        else:
            standing = standings.get(person.key, LmsStanding())
        row = GradeRow(student.id, "waiting", standing.score, key=person.key)
        if standing.reason_to_skip:
            row = replace(row, status="excused", remark=standing.reason_to_skip)
        elif submission.score is None:
            row = replace(row, remark="a written answer waits in the formgrader")
        else:
            folder = root / "submitted" / student.id / book.unit
            handed_in, _ = intake.handed_in(folder)
            text = comment(book, submission)
            mark = SentMark(submission.score, book.max_points, text, handed_in)
            row = replace(row, after=mark.score, mark=mark)
            row = _compared(row, mark, sent, may_lower)
        rows.append(row)
    return rows


def comment(book: Classbook, submission: Submission) -> str:
    """The comment beside a score: points, lateness, and the graders' comments."""
    most, score = (
        sheet.format_points(book.max_points),
        sheet.format_points(submission.points_after_penalty),
    )
    lines = [f"{book.unit}: {score} of {most} points."]
    if submission.penalty:
        lines.append(
            f"{sheet.format_points(submission.penalty)} points off for lateness."
        )
    for exercise in book.exercises:
        mark = submission.marks.get(exercise.name)
        if mark and mark.comment:
            lines.append(f"{exercise.name}: {printable(mark.comment)}")
    return "\n".join(lines)[:_LONGEST_COMMENT]


def _compared(
    row: GradeRow, mark: SentMark, sent: Mapping[str, Any], may_lower: bool
) -> GradeRow:
    """Decide whether to send a score; return the row with the status that says so.

    Unless ``may_lower`` is set, a score stays if it is higher in the LMS or a
    person has changed it there. ``sent`` has the last "score" and the digest of the
    "comment" that were sent.
    """
    if row.before is None:
        return replace(row, status="send")
    if _is_equal(row.before, mark.score):
        is_same = not sent or (
            _is_equal(sent["score"], mark.score)
            and sent["comment"] == digest(mark.comment)
        )
        return replace(row, status="same" if is_same else "send")
    if sent and not _is_equal(row.before, sent["score"]) and not may_lower:
        remark = "the score was changed in the LMS; --lower replaces it anyway"
        return replace(row, status="changed there", remark=remark)
    if row.before > mark.score and not may_lower:
        remark = "the LMS has more; --lower sends it anyway"
        return replace(row, status="lower", remark=remark)
    return replace(row, status="send")


def _is_equal(first: float, second: float) -> bool:
    return abs(first - second) < _EQUAL


def _send_rows(
    rows: Iterable[GradeRow], assignment: OnlineAssignment, journal: Journal
) -> tuple[list[GradeRow], str]:
    """Send the scores with the status "send".

    Returns:
        The rows with their new statuses, and why sending stopped early, or "".
    """
    done, stop, accepted = [], "", journal.read_scores()
    for row in rows:
        if row.mark and row.status == "send":
            try:
                if not stop:
                    assignment.send(row.key, row.mark)
                row = replace(row, status="not sent" if stop else "sent")
            except GradeRefusedError as reason:
                row = replace(row, status="refused", remark=str(reason))
            except CourseError as error:
                row, stop = replace(row, status="not sent"), str(error)
        # "same" but not accepted: it was sent, and the LMS's answer did not arrive.
        is_unconfirmed = row.status == "same" and row.student not in accepted
        if row.mark and (row.status == "sent" or is_unconfirmed):
            try:
                _accept(journal, row.student, row.mark)
            except CourseError as error:  # the report of what was sent must not be lost
                stop = str(error)
        done.append(row)
    return done, stop


def _accept(journal: Journal, student: str, mark: SentMark) -> None:
    journal.accept(student, score=mark.score, comment=digest(mark.comment))


def _look_again(
    rows: Sequence[GradeRow], assignment: OnlineAssignment
) -> list[GradeRow]:
    """Mark scores as "not applied" that the LMS has accepted, but does not show."""
    with contextlib.suppress(CourseError):
        if (standings := assignment.read_standings()) is not None:
            rows = [
                _applied(row, standings.get(row.key, LmsStanding())) for row in rows
            ]
    return list(rows)


def _applied(row: GradeRow, standing: LmsStanding) -> GradeRow:
    """Return a row; its status is "not applied" if the LMS lacks the sent score."""
    if row.status != "sent" or row.mark is None:
        return row
    if standing.score is not None and _is_equal(standing.score, row.mark.score):
        return row
    score = "nothing" if standing.score is None else sheet.format_points(standing.score)
    remark = f"the LMS still shows {score}: is the grade locked or the rubric in use?"
    return replace(row, status="not applied", remark=remark)


def _delivery(rows: Sequence[GradeRow], notes: tuple[str, ...]) -> Delivery:
    """Format a table of the rows that are not "same", and a line of totals."""
    cells = [
        (
            printable(row.student), row.status,
            sheet.format_points(row.before) or "-",
            sheet.format_points(row.after) or "-", row.remark,
        )
        for row in rows if row.status != "same"
    ]  # fmt: skip
    heads = ("student", "", "LMS", "now", "")
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip()
        for line in ((heads, *cells) if cells else ())
    ]
    counts = Counter(row.status for row in rows)
    sums = ", ".join(f"{count} {status}" for status, count in counts.items())
    is_complete = not any(row.status in _OPEN for row in rows)
    return Delivery((*lines, *notes, sums or "nobody to send"), is_complete)
