"""Requests to look at a grade again: a file each, with the evidence and the answer.

A request says what the student says, what the record says, and what came of grading the
same submission once more, with the same questions. Answers are added; nothing is taken
away. ``requests/UNIT/STUDENT-EXERCISE.md`` is Markdown, for people.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.classroom import gradebook
from autograder.classroom.classbook import HandMark, Submission
from autograder.course import child, files
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.grading.titles import title


def regrade(unit: str, root: Path, student: str) -> None:
    """Grade a submission once more, as the instructor would by hand.

    Raises:
        CourseError: it could not be graded.
    """
    words = ("autograde", unit, f"--student={student}", "--force")
    process = child.nbgrader(root, *words, stderr=subprocess.PIPE)
    print(process.stderr, end="", file=sys.stderr)
    # What is refused needs a person, too, and is a result.
    if process.returncode and f"{unit}: 1 refused\n" not in process.stderr:
        raise CourseError(
            f"{student} was not graded again, so nothing is recorded; see above"
        )


def look_again(
    unit: str, root: Path, student: str, exercise: str, statement: str, today: str,
    grade: Callable[[str, Path, str], None] = regrade,
) -> Path:  # fmt: skip
    """Add a student's statement and a second grading to a request; returns its file.

    Raises:
        CourseError: there is no such submission or exercise.
    """
    before, name = _find_submission(unit, root, student, exercise)
    old = list(_state(before, name))
    grade(unit, root, student)
    after, _ = _find_submission(unit, root, student, exercise)
    new = list(_state(after, name))
    came = "the same as before" if new == old else "not what it was: tell the class"
    path = _path(unit, root, student, name)
    head = f"# {title(unit, name)}, {before.student.full}"
    lines = [
        f"## {today}", _quoted(statement) or "(nothing said)",
        "Graded:", "\n".join(old), f"Graded once more, {came}:", "\n".join(new),
    ]  # fmt: skip
    _add(path, head, lines)
    return path


def answer(
    unit: str, root: Path, student: str, exercise: str, text: str, today: str
) -> Path:
    """Add the answer to a request; returns its file.

    Raises:
        CourseError: there is no such request.
    """
    _, name = _find_submission(unit, root, student, exercise)
    path = _path(unit, root, student, name)
    if not path.is_file():
        raise CourseError(f"there is no request {path}")
    _add(path, "", [f"**Answer of {today}:** {text}"])
    return path


def _find_submission(
    unit: str, root: Path, student: str, exercise: str
) -> tuple[Submission, str]:
    book = gradebook.read(unit, root)
    return book.of(student), book.find_exercise(exercise).name


def _state(submission: Submission, name: str) -> Iterator[str]:
    points, record = submission.points[name], submission.records.get(name)
    mark = submission.marks.get(name, HandMark())
    score = "not graded yet" if points is None else f"{points:g} points"
    yield f"- {score} {mark.about_points}".rstrip()
    if mark.comment:
        yield f"- comment: {printable(mark.comment)}"
    if submission.refused:
        yield f"- not graded: {submission.refused}"
    if record is not None:
        if record.says or record.note:
            yield f"- {record.says or record.note}"
        for case in record.cases:
            yield f"- {f'{case.sign} {case.problem}'.strip()}: {case.title}"


def _quoted(statement: str) -> str:
    """Quote a student's statement in Markdown, line by line."""
    return "\n".join(f"> {printable(line)}".rstrip() for line in statement.splitlines())


def _path(unit: str, root: Path, student: str, name: str) -> Path:
    return root / "requests" / unit / f"{student}-{name}.md"


def _add(path: Path, head: str, lines: list[str]) -> None:
    with files.locked(path):
        before = path.read_text(encoding="utf-8") if path.is_file() else f"{head}\n"
        files.write(path, "\n\n".join([before.rstrip("\n"), *lines]) + "\n")
