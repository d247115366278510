"""The roster as the course stores it: in the gradebook, and in a table beside it.

The table, ``.autograder/usernames.csv``, has what nbgrader's gradebook has no field
for: user names and sections.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autograder.classroom.gradebook import NoGradebookError, enter_students, students
from autograder.classroom.lms.roster import Enrolment, Roster, from_csv
from autograder.course import sheet
from autograder.course.files import write


def read(root: Path) -> Roster:
    """Read the stored roster; it is empty if there is none.

    Students for whom the gradebook has nothing but an id are left out.
    """
    stored = _entries(root)
    try:
        everybody = students(root)
    except NoGradebookError:
        return Roster()
    return Roster(
        replace(stored.get(student.id, Enrolment(student)), student=student)
        for student in everybody
        if student.first_name or student.last_name or student.email or student.lms_id
    )


def keep(roster: Roster, root: Path) -> None:
    """Store a roster in the course, without removing students or emptying fields.

    Raises:
        CourseError: the gradebook cannot be written.
    """
    enter_students(root, [entry.student for entry in roster.entries])
    rows = {student: (e.username, e.section) for student, e in _entries(root).items()}
    for entry in roster.entries:
        username, section = rows.get(entry.student.id, ("", ""))
        rows[entry.student.id] = (entry.username or username, entry.section or section)
    titles = ("id", "username", "section")
    lines = [titles, *((student, *fields) for student, fields in rows.items())]
    write(_path(root), sheet.as_text(lines))


def sections(root: Path) -> dict[str, str]:
    """The section of each student who has one, by the student's id."""
    return {student: e.section for student, e in _entries(root).items() if e.section}


def _entries(root: Path) -> dict[str, Enrolment]:
    """Map each student's id to their entry in ``usernames.csv``."""
    path = _path(root)
    entries = from_csv(path).entries if path.is_file() else []
    return {entry.student.id: entry for entry in entries}


def _path(root: Path) -> Path:
    return root / ".autograder" / "usernames.csv"
