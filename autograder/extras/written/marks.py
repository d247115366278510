"""Record the marks of written answers from a filled-in table in the gradebook.

Somebody may have marked an answer since the table was written. A row without
edits leaves that newer mark alone. An edited row does not replace a mark of
somebody else, unless overwriting is requested.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader import api

from autograder.classroom import gradebook
from autograder.course import graded_notebooks, sheet
from autograder.course.errors import CourseError, list_present
from autograder.extras.written import comment_bank
from autograder.extras.written.division import pseudonyms
from autograder.extras.written.written import (
    MARKED,
    SAME,
    EssayPrompt,
    last_mark,
    questions,
    read_marks,
    signed,
)
from autograder.grading.gradebook import hand_log
from autograder.grading.gradebook.book import Gradebook
from autograder.grading.gradebook.hand_log import HandEntry


@dataclass(frozen=True)
class AnswerMark:
    """The mark in a row of a table: points, a comment, both or neither.

    Attributes:
        shown: the student's name or pseudonym in the table.
        marked: who had marked the answer when the table was written, and when.
    """

    points: float | None
    comment: str
    shown: str
    marked: str

    @property
    def is_empty(self) -> bool:
        return self.points is None and not self.comment


def take_list(unit: str, root: Path, path: Path, overwrite: bool = False) -> int:
    """Record the points and comments of a filled-in table in the gradebook.

    If there is an error, nothing is recorded. ``overwrite`` allows replacing marks
    that others have set since the table was written.

    Returns:
        The number of students for whom the table has points.

    Raises:
        CourseError: the table is invalid, or would replace marks of others.
    """
    table = sheet.read(path)
    stem = path.stem.removeprefix(f"{unit}-")
    prompts = questions(unit, root)
    # A browser or a colleague may have added " (1)" or "-tina".
    matches = [q for q in prompts if re.match(rf"{re.escape(q.name)}(?!\w)", stem)]
    if not matches:
        names = list_present([f"{unit}-{q.name}.csv" for q in prompts])
        raise CourseError(
            f"{path}: its name begins with no question of {unit}; rename it: {names}"
        )
    question = max(matches, key=lambda prompt: len(prompt.name))
    if table.index("student") is None:
        raise CourseError(
            f'{path}: no column "student"; keep the first line of the table as written'
        )
    students = pseudonyms(root, unit, graded_notebooks(unit, root))
    students = {shown: student for student, shown in students.items()}
    marks: dict[str, AnswerMark] = {}
    bank_path = comment_bank.place(root, unit, question.name)
    bank = before = comment_bank.read(bank_path)
    lines = [text for text, _ in question.items]
    for row in table.rows:
        shown, typed, marked = (
            sheet.as_meant(table.cell(row, title))
            for title in ("student", "comment", MARKED)
        )
        try:
            comment, bank = comment_bank.expand_comment(typed, bank, lines)
        except CourseError as error:
            raise CourseError(f"{path}: {shown}: {error}") from None
        mark = AnswerMark(_points(question, table, row, path), comment, shown, marked)
        if marks.setdefault(shown, mark) != mark:
            raise CourseError(f"{path}: two rows of {shown} contradict each other")
    for row in table.rows:
        shown, original = (
            sheet.as_meant(table.cell(row, t)) for t in ("student", SAME)
        )
        # An empty row takes over the mark of the student who wrote the same.
        if marks[shown].is_empty and original in marks:
            first = marks[original]
            marks[shown] = replace(
                marks[shown], points=first.points, comment=first.comment
            )
    # A table with names has ids in place of pseudonyms.
    by_student = {students.get(shown, shown): mark for shown, mark in marks.items()}
    record = _Record(unit, question, by_student, path, overwrite)
    count, remarks = gradebook.change(root, record.write)
    for line in remarks:
        print(line)
    if bank != before:
        comment_bank.write(bank_path, bank)
    return count


def _points(
    question: EssayPrompt, table: sheet.Sheet, row: Sequence[str], path: Path
) -> float | None:
    """Return the points in a row, typed or ticked, if any. Raises CourseError."""
    text = table.cell(row, "points")
    ticked = [
        points
        for column, (_, points) in zip(question.columns, question.items, strict=True)
        if table.cell(row, column)
    ]
    if not text and not ticked:
        return None
    try:
        points = float(text.replace(",", ".")) if text else sum(ticked)
    except ValueError:
        # Out of range, so that it is refused below.
        points = -1.0
    if not 0 <= points <= question.max_points:
        student = table.cell(row, "student")
        entry = f'"{text}"' if text else f"the sum of the ticked items, {points:g},"
        raise CourseError(
            f"{path}: {entry} for {student} is not between 0 and "
            f"{question.max_points:g}"
        )
    return points


@dataclass(frozen=True)
class _Record:
    """The marks in a table, by student id, to be written into the gradebook."""

    unit: str
    question: EssayPrompt
    marks: dict[str, AnswerMark]
    path: Path
    overwrite: bool

    def write(self, book: Gradebook) -> tuple[int, list[str]]:
        """Write all marks of the table, or none.

        Returns:
            The number of marks with points, and a remark on each newer mark that was
            kept or replaced.

        Raises:
            CourseError: a student has no graded submission, or somebody else has
                changed a mark meanwhile and the table may not overwrite it.
        """
        histories = read_marks(book, self.unit, self.question)
        conflicts: list[str] = []
        remarks: list[str] = []
        for student, mark in self.marks.items():
            history = histories.get(student, [])
            grade, comment = self._rows(book, student, mark.shown)
            current = _describe_mark(grade, history)
            is_newer = last_mark(history) != mark.marked
            if is_newer and _is_as_written(mark, history):
                if not mark.is_empty:
                    remarks.append(f"{mark.shown}: not changed, as it has {current}")
            # Entered in any case, but worth a remark only if it replaces a newer mark.
            elif _set(grade, comment, mark) and is_newer:
                # One may replace a mark of one's own.
                if last_mark(history) == "" or history[-1].who != hand_log.whoever():
                    conflicts.append(f"{mark.shown}, {current}")
                points = sheet.format_points(mark.points) or "no other"
                remarks.append(f"{mark.shown}: now {points} points, before {current}")
        if conflicts and not self.overwrite:
            surplus = f" and {len(conflicts) - 3} more" * (len(conflicts) > 3)
            raise CourseError(
                f"{self.path}: changed meanwhile: {'; '.join(conflicts[:3])}{surplus}. "
                "Nothing is recorded; empty these rows, or overwrite with --replace"
            )
        book.finish()
        count = sum(mark.points is not None for mark in self.marks.values())
        return count, remarks

    def _rows(
        self, book: Gradebook, student: str, shown: str
    ) -> tuple[api.Grade, api.Comment]:
        """Find the gradebook's rows with the points and the comment on an answer.

        Raises:
            CourseError: the student, whom it calls ``shown``, has no graded submission.
        """
        key = self.question.name, self.unit, self.unit, student
        try:
            return book.find_grade(*key), book.find_comment(*key)
        except api.MissingEntry:
            raise CourseError(f"{shown} has no graded submission") from None


def _describe_mark(grade: api.Grade, history: Sequence[HandEntry]) -> str:
    """Describe an answer's current points and who gave them, or "a new answer"."""
    by = last_mark(history)
    points = sheet.format_points(grade.manual_score) or "no"
    return f"{points} points by {by}" if by else "a new answer"


def _is_as_written(mark: AnswerMark, history: Sequence[HandEntry]) -> bool:
    """Return whether a row still has the mark with which the table was written."""
    entries = [
        entry for entry in history if signed(entry) == mark.marked and mark.marked
    ]
    points = entries[-1].by_hand if entries else None
    comment = entries[-1].comment if entries else ""
    return mark.points == points and mark.comment in ("", comment)


def _set(grade: api.Grade, comment: api.Comment, mark: AnswerMark) -> bool:
    """Enter a mark's points and comment, if any; return whether either changed."""
    is_changed = mark.points not in (None, grade.manual_score)
    if is_changed:
        grade.manual_score = mark.points
    if mark.points is not None:
        grade.needs_manual_grade = False
    if mark.comment:
        is_changed |= comment.manual_comment != mark.comment
        comment.manual_comment = mark.comment
    return is_changed
