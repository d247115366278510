"""List the appeals in students' notebooks, after grading the submissions again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.classroom import gradebook, requests
from autograder.classroom.classbook import Classbook
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.grading.intake.appeals import read_appeals
from autograder.grading.replaced import appeals_folder
from autograder.grading.titles import title

Appeals = dict[str, dict[str, str]]  # student -> exercise -> reason


def review(
    unit: str, root: Path, today: str,
    grade: Callable[[str, Path, str], None] = requests.regrade,
) -> Iterator[str]:  # fmt: skip
    """Describe each appeal that has no answer yet, with its results before and after.

    Submissions with new appeals are first graded once more, and each new appeal is
    recorded as a request (requests.py).

    Args:
        today: the date to record, like "02 November 2026".

    Raises:
        CourseError: the gradebook cannot be read, or nothing is graded.
    """
    book = gradebook.read(unit, root)
    appeals, remarks = _read(book, root)
    yield from remarks
    for student, reasons in appeals.items():
        new = {
            name: reason for name, reason in reasons.items()
            if not requests.place(unit, root, student, name).exists()
        }  # fmt: skip
        try:
            if new:
                requests.record_regrades(unit, root, student, new, today, grade)
        except CourseError as error:  # the others' appeals are still listed
            yield str(error)
            continue
        for exercise, reason in reasons.items():
            path = requests.place(unit, root, student, exercise)
            is_answered, results = requests.read_state(path)
            if not is_answered:
                full = book.of(student).student.full
                yield f"{full}, {title(unit, exercise)}: {', once more '.join(results)}"
                yield f"    {printable(' '.join(reason.split()))}"
                yield f"    {path}"
                arguments = f"{unit} {student} {exercise}"
                yield f'    autograder regrade {arguments} --answer "..."'


def _read(book: Classbook, root: Path) -> tuple[Appeals, list[str]]:
    """Read a class's appeals, and remark on those that cannot be handled."""
    graded = {submission.student.id for submission in book.submissions}
    folders = [
        *root.glob(f"submitted/*/{book.unit}"),
        # Hand-ins that only ask for a regrade, which replace no submission.
        *appeals_folder(root, book.unit).glob("[!.]*/" + book.unit),
    ]
    appeals: Appeals = {}
    remarks = []
    for folder in sorted(folders):
        student = folder.parent.name
        for asked, reason in read_appeals(folder).items():
            exercise = _find_exercise(book, asked)
            if not exercise:
                remarks.append(f'{student}: "{printable(asked)}" is no exercise')
            elif student not in graded:
                remarks.append(f"{student} asks about {asked}, but is not graded yet")
            else:
                appeals.setdefault(student, {}).setdefault(exercise, reason)
    return appeals, sorted(set(remarks))


def _find_exercise(book: Classbook, asked: str) -> str:
    """The exercise that a student means by "2.3" or "softmax"; "" if there is none."""
    try:
        return book.find_exercise(asked).name
    except CourseError:
        return ""
