"""Students' requests to look at a grade again, each in a file with its evidence.

``requests/UNIT/STUDENT-EXERCISE.md`` holds the student's statement, the results
before and after grading once more, and all answers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from autograder.classroom import gradebook
from autograder.classroom.classbook import HandMark, Submission
from autograder.course import child, files, grade_ids
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.grading.gradebook.book import Gradebook
from autograder.grading.titles import title


def regrade(unit: str, root: Path, student: str) -> None:
    """Grade a submission once more, as the instructor would by hand.

    Raises:
        CourseError: it could not be graded.
    """
    arguments = ("autograde", unit, f"--student={student}", "--force")
    process = child.nbgrader(root, *arguments, stderr=subprocess.PIPE)
    print(process.stderr, end="", file=sys.stderr)
    # A refusal sets the exit status as well, but is a valid result.
    if process.returncode and f"{unit}: 1 refused\n" not in process.stderr:
        raise CourseError(
            f"{student} was not graded again, so nothing is recorded; see above"
        )


def record_regrade(
    unit: str, root: Path, student: str, exercise: str, statement: str, today: str,
    grade: Callable[[str, Path, str], None] = regrade,
) -> Path:  # fmt: skip
    """Grade an answer again, and record it in a request; return the request's path.

    Args:
        exercise: the exercise's grade id, the end of it ("softmax"), or its number.
        statement: what the student says, "" for nothing.

    Raises:
        CourseError: there is no such answer, or it could not be graded.
    """
    book = gradebook.read(unit, root)
    book.of(student)  # raises
    name = book.find_exercise(exercise).name
    record_regrades(unit, root, student, {name: statement}, today, grade)
    return place(unit, root, student, name)


def record_regrades(
    unit: str, root: Path, student: str, statements: Mapping[str, str], today: str,
    grade: Callable[[str, Path, str], None] = regrade,
) -> None:  # fmt: skip
    """Grade a submission again, and record the results in a request per exercise.

    Args:
        statements: what the student says, by the exercise's grade id.

    Raises:
        CourseError: there is no such submission, or it could not be graded.
    """
    before = gradebook.read(unit, root).of(student)
    grade(unit, root, student)
    after = gradebook.read(unit, root).of(student)
    for name, statement in statements.items():
        old, new = list(_state(before, name)), list(_state(after, name))
        changed = "not what it was: tell the class"
        outcome = "the same as before" if new == old else changed
        head = f"# {title(unit, name)}, {before.student.full}"
        lines = [
            f"## {today}", _quoted(statement) or "(nothing said)",
            "Graded:", "\n".join(old), f"Graded once more, {outcome}:", "\n".join(new),
        ]  # fmt: skip
        _add(place(unit, root, student, name), head, lines)


def read_state(path: Path) -> tuple[bool, list[str]]:
    """Read from a request's file whether it has an answer, and its last two results.

    The results are the points before and after the last time that it was graded again.
    """
    text = path.read_text(encoding="utf-8")
    results = re.findall(r"^Graded[^\n]*:\n\n- (.*)$", text, re.MULTILINE)
    return bool(re.search(r"^\*\*Answer of ", text, re.MULTILINE)), results[-2:]


def answer(
    unit: str, root: Path, student: str, exercise: str, text: str, today: str,
    points: float | None = None,
) -> Path:  # fmt: skip
    """Add the answer to a request and to the student's feedback; return the file.

    Args:
        points: the new points for the exercise; None leaves them as they are.

    Raises:
        CourseError: there is no such request, or the points are out of range.
    """
    book = gradebook.read(unit, root)
    item = book.find_exercise(exercise)
    path = place(unit, root, book.of(student).student.id, item.name)
    if not path.is_file():
        raise CourseError(
            f"there is no request {path}; record it first: autograder regrade {unit} "
            f'{student} {item.name} --says "..."'
        )
    if points is not None and not 0 <= points <= item.max_points:
        raise CourseError(f"{points:g} is not between 0 and {item.max_points:g}")
    gradebook.change(
        root, lambda book: _write_answer(book, unit, student, item.name, text, points)
    )
    with_points = "" if points is None else f" ({points:g} points)"
    _add(path, "", [f"**Answer of {today}:** {text}{with_points}"])
    return path


def _write_answer(
    book: Gradebook, unit: str, student: str, exercise: str, text: str,
    points: float | None,
) -> None:  # fmt: skip
    """Store the answer as a comment, which feedback shows, and set any new points."""
    # An exercise in another notebook than the unit's is called NOTEBOOK/ID.
    notebook, _, cell = exercise.rpartition("/")
    rows = book.find_submission_notebook(notebook or unit, unit, student)
    for comment in rows.comments:
        if grade_ids.check_of(comment.cell.name) == cell:
            earlier = [comment.manual_comment] if comment.manual_comment else []
            line = f"Your request: {text}"
            if line not in (comment.manual_comment or ""):
                comment.manual_comment = "\n\n".join([*earlier, line])
    if points is not None:
        grade = book.find_grade(cell, notebook or unit, unit, student)
        grade.manual_score, grade.needs_manual_grade = points, False
    book.finish()


def _state(submission: Submission, name: str) -> Iterator[str]:
    """List an exercise's points, comment and verdict in Markdown."""
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
    return "\n".join(f"> {printable(line)}".rstrip() for line in statement.splitlines())


def place(unit: str, root: Path, student: str, name: str) -> Path:
    """The path of the file that holds a student's request about an exercise."""
    return root / "requests" / unit / f"{student}-{name}.md"


def _add(path: Path, head: str, lines: list[str]) -> None:
    """Append paragraphs to a file, which begins with a heading if it is new."""
    with files.locked(path):
        before = path.read_text(encoding="utf-8") if path.is_file() else f"{head}\n"
        files.write(path, "\n\n".join([before.rstrip("\n"), *lines]) + "\n")
