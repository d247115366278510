"""Grades for Canvas and Moodle.

Scores include late penalties. While a written answer waits for a person, the
cell stays empty, which no LMS takes for a zero.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from operator import itemgetter

from autograder.classroom.classbook import Classbook, Student, plain
from autograder.course import sheet
from autograder.course.errors import CourseError
from autograder.course.sheet import Sheet

_CANVAS_INFO = (
    "student", "id", "sis user id", "sis login id", "integration id", "root account",
    "section",
)  # fmt: skip
_NUMBER = re.compile(r"\(\d+\)$")  # of an assignment, in its title in Canvas
_UNTOUCHED = "EX"  # Canvas's mark for excused students, which stays
# Rates how surely a row of a sheet belongs to a student.
Rank = Callable[[Sheet, Sequence[str], Student], int]


@dataclass(frozen=True)
class Export:
    """A file of grades as text, with remarks, and the students it does not contain."""

    text: str
    remarks: tuple[str, ...]
    missing: tuple[str, ...] = ()


# --- Canvas --------------------------------------------------------------------------


def canvas(book: Classbook, into: Sheet, title: str = "") -> Export:
    """Fill one assignment's scores into an export of Canvas's gradebook.

    The result has only this column, and those that identify the students.

    Args:
        title: the column's title; by default, one like the unit's name.

    Raises:
        CourseError: ``into`` is not Canvas's export, or its column is unclear.
    """
    titles = enumerate(into.titles)
    info_columns = [n for n, title in titles if title.casefold() in _CANVAS_INFO]
    if into.index("ID") is None or into.index("Student") is None:
        raise CourseError(
            "this is not the gradebook that Canvas exports (Grades > Export): it has "
            'no columns "Student" and "ID"'
        )
    column = _canvas_column(book, into, title)
    heads = [row for row in into.rows if "points possible" in row[0].casefold()]
    possible = heads[-1][column].strip() if heads else ""
    pick_columns = itemgetter(*info_columns, column)
    rows = tuple(map(pick_columns, into.rows))
    selection = Sheet(pick_columns(into.titles), rows, into.comma)
    # In the selection, the assignment follows the columns that identify students.
    return _filled(book, selection, len(info_columns), _canvas_rank, possible, "Canvas")


def _canvas_column(book: Classbook, into: Sheet, title: str) -> int:
    """Find the one column of an assignment, by its title or else by the unit's name."""
    matches = ((n, _NUMBER.search(heading)) for n, heading in enumerate(into.titles))
    names = {n: into.titles[n][: m.start()].rstrip() for n, m in matches if m}
    called = [title] if title else [book.unit, book.unit.partition("_")[2]]
    wanted = set(map(plain, called))
    columns = [n for n in names if {plain(names[n]), plain(into.titles[n])} & wanted]
    if len(columns) == 1:
        return columns[0]
    listed = ", ".join(f'"{name}"' for name in names.values()) or "none"
    raise CourseError(
        f'no column for "{title or book.unit}"; say which with --column: {listed}'
    )


def _canvas_rank(into: Sheet, row: Sequence[str], student: Student) -> int:
    """Rank how surely a row is a student's: Canvas id 3, SIS id or login 2, name 1.

    If the student's Canvas id is known, it alone decides.
    """
    login = into.cell(row, "SIS Login ID").casefold()
    if not into.cell(row, "ID"):
        return 0  # not a person: the points, or a heading
    if student.lms_id:
        return 3 * (student.lms_id == into.cell(row, "ID"))
    if student.id == into.cell(row, "SIS User ID") or (
        login and login in (student.id.casefold(), student.email.casefold())
    ):
        return 2
    return int(_is_name(student, into.cell(row, "Student")))


# --- Moodle --------------------------------------------------------------------------


def moodle(book: Classbook, into: Sheet | None = None) -> Export:
    """Fill in Moodle's grading worksheet; without one, make a CSV for Moodle's import.

    Raises:
        CourseError: ``into`` is not such a worksheet.
    """
    if into is None:
        titles = ("id", "first_name", "last_name", "email", book.unit)
        rows = [(*astuple(s.student)[:4], s.score) for s in book.submissions]
        return Export(sheet.as_harmless_text([titles, *rows]), waiting(book))
    column = into.index("Grade")
    if column is None or into.index("Identifier") is None:
        raise CourseError(
            'this is not Moodle\'s grading worksheet: it has no columns "Identifier" '
            'and "Grade" (download it with the site in English)'
        )
    possible = into.cell(into.rows[0], "Maximum Grade") if into.rows else ""
    return _filled(book, into, column, _moodle_rank, possible, "Moodle")


def _moodle_rank(into: Sheet, row: Sequence[str], student: Student) -> int:
    """Rank how surely a row is a student's: email 3, id number 2, name 1, none 0.

    If both addresses are known, they alone decide.
    """
    email = into.cell(row, "Email address").casefold()
    id_number = into.cell(row, "ID number")
    if email and student.email:
        return 3 * (email == student.email.casefold())
    if id_number and id_number in (student.id, student.lms_id):
        return 2
    return int(_is_name(student, into.cell(row, "Full name")))


# --- what they share -----------------------------------------------------------------


def pair_surest(ranks: Sequence[Sequence[int]]) -> dict[int, int]:
    """Map rows of a table of ranks to columns, each the other's only best match.

    A rank of 0 is no match.
    """
    best_of_row = [_surest(row) for row in ranks]
    best_of_column = [_surest(column) for column in zip(*ranks, strict=True)]
    return {
        row: column
        for row, column in enumerate(best_of_row)
        if column is not None and best_of_column[column] == row
    }


def _surest(ranks: Sequence[int]) -> int | None:
    """Find the index of the largest rank; None if it is 0, or occurs twice."""
    most = max(ranks, default=0)
    return ranks.index(most) if most and ranks.count(most) == 1 else None


def _is_name(student: Student, name: str) -> bool:
    """Whether "Lovelace, Ada" or "Ada Lovelace" is a student's name."""
    if not (student.first_name and student.last_name):
        return False
    last, comma, first = name.partition(",")
    full_name = f"{first} {last}" if comma else name
    return plain(full_name) == plain(student.name)


def describe_refused(book: Classbook) -> list[str]:
    """Name the students who could not be graded, and what to do; [] for none."""
    lines = [f"no grade for {s.student.full}: {s.refused}" for s in book.refusals]
    remedy = f"{len(lines)} refused: look at them, or write zeros with --zero-refused"
    return [*lines, remedy] if lines else []


def waiting(book: Classbook) -> tuple[str, ...]:
    """Say in one line how many submissions have no score yet; () if all have one."""
    count = sum(bool(submission.waiting) for submission in book.submissions)
    line = (
        f"{count} of {len(book.submissions)} have no score yet: written answers wait "
        "in the formgrader"
    )
    return (line,) if count else ()


def _filled(
    book: Classbook, into: Sheet, column: int, rank: Rank, possible: str, lms: str
) -> Export:
    """Fill scores into an LMS's table where a row is clearly a student's.

    Also list the students without a row, and remark on different maximum points.

    Args:
        rank: rates how surely a row is a student's.
        possible: the assignment's points according to the LMS; "" if unknown.
    """
    ranks = [
        [rank(into, row, s.student) for s in book.submissions] for row in into.rows
    ]
    pairs = pair_surest(ranks)  # row numbers with those of submissions
    rows = [list(row) for row in into.rows]
    for row, number in pairs.items():
        if rows[row][column].strip().upper() != _UNTOUCHED:
            rows[row][column] = sheet.format_points(book.submissions[number].score)
    remarks = waiting(book)
    with contextlib.suppress(ValueError):
        with_point = possible.replace(",", ".")  # a decimal comma, as in German
        if possible and abs(float(with_point) - book.max_points) >= 1e-6:
            most = sheet.format_points(book.max_points)
            remarks += (
                f"{lms} has {possible} points for this assignment, the gradebook "
                f"{most}: change it in {lms}, or scores mislead",
            )
    written = {*pairs.values()}
    missing = tuple(
        s.student.id for n, s in enumerate(book.submissions) if n not in written
    )
    return Export(sheet.as_text([into.titles, *rows], into.comma), remarks, missing)
