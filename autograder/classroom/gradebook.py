"""Read and change nbgrader's gradebook: students, deadlines, and results of a unit."""

from __future__ import annotations

import datetime
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from nbgrader import api
from nbgrader.apps.baseapp import NbGrader
from nbgrader.utils import is_grade, is_solution, is_task
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom import collection_log
from autograder.classroom.classbook import (
    Classbook,
    HandMark,
    Item,
    Student,
    Submission,
)
from autograder.course import is_called, notebooks
from autograder.course.access import refuse_path, refuse_unreadable
from autograder.course.errors import CourseError, UsageError, list_matches, list_present
from autograder.grading import metadata
from autograder.grading.converter import CourseAutograde
from autograder.grading.gradebook import hand_log
from autograder.grading.gradebook.book import (
    Gradebook,
    GradebookHandle,
    cell_name,
    first_line,
    penalties_of,
    points_of,
)
from autograder.grading.gradebook.other_points import points_of_folder, refuse_mixture
from autograder.grading.intake import SizeLimits
from autograder.grading.metadata import GradingMetadata

Result = TypeVar("Result")
_PATIENCE = 60.0  # seconds to wait for a locked gradebook


class NoGradebookError(CourseError):
    """The course has no gradebook yet."""


class NothingGradedError(CourseError):
    """The gradebook does not know an assignment, or has no submission of it."""


def assignments(root: Path) -> list[str]:
    """List the assignments of a course: the folders in ``source/`` with a notebook."""
    return sorted({path.parent.name for path in root.glob("source/*/*.ipynb")})


def find_assignment(name: str, root: Path) -> str:
    """Find the full name, "02_attention", of the assignment "attention", "02" or "2".

    Raises:
        UsageError: no assignment or more than one has that name.
        CourseError: nbgrader cannot use the course's folders.
    """
    refuse_path(root)
    names = ("source", "submitted", "autograded", "feedback")
    refuse_unreadable(*(root / name for name in names))
    units = assignments(root)
    matches = [name] if name in units else [u for u in units if is_called(u, name)]
    if len(matches) == 1:
        return matches[0]
    if not units:
        raise UsageError(
            f"{root} is not a course folder (it has no source/); give one with "
            "--course FOLDER"
        )
    none = f'no assignment "{name}"; {list_present(units)}'
    raise UsageError(list_matches(name, matches) if matches else none)


def read(unit: str, root: Path) -> Classbook:
    """Read the class's results for an assignment.

    Raises:
        CourseError: no results can be read, or points have changed since grading.
    """
    exercises = list_items(unit, root)
    now = {exercise.name: exercise.max_points for exercise in exercises}
    with open_gradebook(root) as book:
        entries = {entry.student_id: entry for entry in submissions_of(book, unit)}
        for student in sorted(entries):
            folder = root / "autograded" / student / unit
            refuse_mixture(unit, student, now, points_of_folder(unit, folder))
        # Students are read last, since a run may be entering them in the meantime.
        students = {student.id: _student(student) for student in book.students}
        penalties = penalties_of(book, unit)
        points: dict[str, dict[str, float | None]] = defaultdict(dict)
        marks: dict[str, dict[str, HandMark]] = defaultdict(dict)
        checks = {exercise.name for exercise in exercises if not exercise.written}
        for score in points_of(book, unit):
            points[score.student][score.cell] = score.total
            if score.by_hand is not None and score.cell in checks:
                marks[score.student][score.cell] = HandMark(
                    score.by_hand, score.automatic, score.replaced
                )
        for (student, cell), comment in hand_log.comments(book, unit).items():
            mark = marks[student].get(cell, HandMark())
            marks[student][cell] = replace(mark, comment=comment)
        for entry in hand_log.read(book, unit):  # the last one counts
            if entry.cell in marks[entry.student]:
                mark = marks[entry.student][entry.cell]
                who = f"{entry.who} {entry.time}"
                marks[entry.student][entry.cell] = replace(mark, who=who)
        notes = collection_log.read(root, unit)
        submissions = tuple(
            Submission(
                student=students[student],
                points={e.name: points[student].get(e.name) for e in exercises},
                penalty=penalties.get(student, 0.0),
                late=entry.total_seconds_late,
                called_late=_is_late(entry, notes.get(student)),
                marks=marks[student],
                **_read_grading(unit, student, root),
            )
            for student, entry in sorted(entries.items())
        )
    handed_in = {submission.student.id for submission in submissions}
    absent = tuple(students[i] for i in sorted(set(students) - handed_in))
    return Classbook(unit, exercises, submissions, absent)


def submissions_of(book: api.Gradebook, unit: str) -> list[api.SubmittedAssignment]:
    """The submissions of an assignment; raises NothingGradedError if there is none."""
    try:
        submissions: list[Any] = book.find_assignment(unit).submissions
    except api.MissingEntry:
        raise NothingGradedError(
            f'the gradebook does not know "{unit}" yet; run: nbgrader autograde {unit}'
        ) from None
    if not submissions:
        raise NothingGradedError(
            f"nothing is graded yet; run: nbgrader autograde {unit}"
        )
    return submissions


def students(root: Path) -> list[Student]:
    """All students in the gradebook of the course at ``root``."""
    with open_gradebook(root) as book:
        return [_student(student) for student in book.students]


def list_student_ids(root: Path) -> set[str]:
    """The ids of all students in the gradebook or with a submission."""
    handed_in = {path.name for path in (root / "submitted").glob("*")}
    try:
        return handed_in | {student.id for student in students(root)}
    except NoGradebookError:
        return handed_in


def enter_students(root: Path, entered: Iterable[Student]) -> None:
    """Add students to the gradebook, or update them; empty fields change nothing.

    Raises:
        CourseError: the gradebook cannot be written.
    """

    def add(book: Gradebook) -> None:
        for student in entered:
            fields = {
                "first_name": student.first_name, "last_name": student.last_name,
                "email": student.email, "lms_user_id": student.lms_id,
            }  # fmt: skip
            filled_fields = {name: value for name, value in fields.items() if value}
            book.update_or_create_student(student.id, **filled_fields)
        book.finish()

    change(root, add)


def change(root: Path, action: Callable[[Gradebook], Result]) -> Result:
    """Apply an action to a course's gradebook, and return the action's result.

    Raises:
        CourseError: the gradebook cannot be written.
    """
    log = logging.getLogger(__name__)
    handle = GradebookHandle(*database_of(root), seconds=_PATIENCE, log=log)
    try:
        return handle.use(action)
    finally:
        handle.close()


def due_dates(root: Path) -> dict[str, datetime.datetime]:
    """The deadlines of all assignments that have one, as naive UTC datetimes."""
    try:
        with open_gradebook(root) as book:
            dates = {entry.name: entry.duedate for entry in book.assignments}
    except NoGradebookError:
        return {}
    return {unit: date.replace(tzinfo=None) for unit, date in dates.items() if date}


@contextmanager
def open_gradebook(root: Path) -> Iterator[api.Gradebook]:
    """Open nbgrader's gradebook of a course, which the course's configuration names.

    Raises:
        NoGradebookError: it does not exist.
        CourseError: it cannot be read.
    """
    url, course = database_of(root)
    path = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and not path.is_file():
        raise NoGradebookError(
            f"there is no gradebook at {path} yet; `nbgrader autograde UNIT` creates it"
        )
    book = None
    try:
        book = api.Gradebook(url, course)
        yield book
    except SQLAlchemyError as error:
        message = f"the gradebook cannot be read: {first_line(error)}"
        raise CourseError(message) from error
    finally:
        if book is not None:
            book.close()


def database_of(root: Path) -> tuple[str, str]:
    """The database URL of the gradebook, and the course's id in it."""
    app = configured(root)
    return app.coursedir.db_url, app.coursedir.course_id


def limits(root: Path) -> SizeLimits:
    """The size limits of a submission in the course's settings."""
    return CourseAutograde(config=configured(root).config).limits


def configured(root: Path) -> NbGrader:
    """An nbgrader application with the settings of the course at ``root``."""
    folder = str(root.resolve())
    app = NbGrader(log_level=40)
    # Also as an argument, which overrides the folder of a machine-wide configuration.
    app.initialize([f"--course-dir={folder}"], root=folder)
    return app


def find_course() -> Path:
    """Find the course folder for a command that names none.

    It is the current folder or, if that has no course, the one in nbgrader's
    configuration.
    """
    current = Path()
    if assignments(current) or Path("nbgrader_config.py").exists():
        return current
    app = NbGrader(log_level=40)
    app.initialize([])
    root = Path(app.coursedir.root)
    return current if root == Path.cwd() else root


def list_items(unit: str, root: Path) -> tuple[Item, ...]:
    """List the exercises and questions with points, in the order of the notebooks."""
    items = []
    for path in sorted((root / "source" / unit).glob("*.ipynb")):
        for cell in notebooks.read(path).cells:
            if is_grade(cell) or is_task(cell):
                mark = cell.metadata.nbgrader
                name = cell_name(unit, path.stem, mark.grade_id)
                written = is_solution(cell) or is_task(cell)
                items.append(Item(name, float(mark.points), bool(written)))
    return tuple(items)


def _student(student: api.Student) -> Student:
    return Student(
        student.id, student.first_name or "", student.last_name or "",
        student.email or "", student.lms_user_id or "",
    )  # fmt: skip


def _read_grading(unit: str, student: str, root: Path) -> dict[str, Any]:
    """Read what grading recorded in the notebooks of a submission.

    Return fields of a `Submission`, by name.
    """
    paths = sorted((root / "autograded" / student / unit).glob("*.ipynb"))
    by_notebook = {path.stem: GradingMetadata.of(metadata.read(path)) for path in paths}
    gradings = list(by_notebook.values())
    seconds = [grading.seconds for grading in gradings if grading.seconds is not None]
    return {
        "records": {
            cell_name(unit, notebook, name): record
            for notebook, grading in by_notebook.items()
            for name, record in grading.checks.items()
        },
        "repairs": tuple((r.kind, r.says) for g in gradings for r in g.repairs),
        "refused": " ".join(g.refused for g in gradings if g.refused),
        "level": " ".join(sorted({g.isolation for g in gradings if g.isolation})),
        "is_grouped": all(g.is_grouped for g in gradings),
        "seconds": sum(seconds) if seconds else None,
        "graded": frozenset(g.id for g in gradings if g.id is not None),
        "provenance": tuple(g.provenance for g in gradings if g.provenance),
    }


def _is_late(entry: api.SubmittedAssignment, note: collection_log.Note | None) -> bool:
    """Whether work is late by its deadline or, without times, according to the LMS."""
    if entry.timestamp and entry.duedate:
        return bool(entry.total_seconds_late > 0)
    return bool(note and note.late)
