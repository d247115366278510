"""Who has handed in what no grade is of: nothing of theirs is graded, or an older one.

Reports and grades tell, or who is missing in them looks like who handed in nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from pathlib import Path

from nbformat import NotebookNode

from autograder.classroom import gradebook
from autograder.classroom.classbook import Classbook
from autograder.course import notebooks
from autograder.course.errors import CourseError
from autograder.grading import intake, metadata
from autograder.grading.intake import SizeLimits
from autograder.grading.metadata import GradingMetadata
from autograder.grading.run.assignment import identity


def ungraded(book: Classbook, root: Path, only_student: str = "") -> tuple[str, ...]:
    """The ids of those whose hand-in is none that was graded, of a course at ``root``.

    Args:
        only_student: the student who is meant; "" for all.

    Raises:
        CourseError: the release cannot be read.
    """
    is_of = _comparison(book.unit, root)
    graded = {entry.student.id: entry.graded for entry in book.submissions}
    students = []
    for student, folder in folders(book.unit, root).items():
        if only_student not in ("", student):
            continue
        if student not in graded or not is_of(graded[student], folder):
            # What cannot be a student's name is a folder that somebody has to look at.
            students.append(student if student.isprintable() else ascii(student))
    return tuple(students)


def is_graded(student: str, unit: str, root: Path, failed: bool = False) -> bool:
    """Whether a student's result is that of what lies in ``submitted/`` now.

    Args:
        failed: grading has just failed: then only a refusal counts as a result.

    Raises:
        CourseError: the release or the result cannot be read.
    """
    paths = sorted((root / "autograded" / student / unit).glob("*.ipynb"))
    gradings = [GradingMetadata.of(metadata.read(path)) for path in paths]
    if not gradings or (failed and not any(grading.refused for grading in gradings)):
        return False
    graded = {grading.id for grading in gradings if grading.id is not None}
    return _comparison(unit, root)(graded, root / "submitted" / student / unit)


def _comparison(unit: str, root: Path) -> Callable[[Set[str], Path], bool]:
    """Tells whether a result is that of what a folder holds now.

    Notes of earlier versions do not say of what they are: that is taken for granted.
    """
    paths = sorted((root / "release" / unit).glob("*.ipynb"))
    released = {path.stem: notebooks.read(path) for path in paths}
    limits = gradebook.limits(root)

    def is_of(graded: Set[str], folder: Path) -> bool:
        return not graded or _identities(folder, released, limits) <= graded

    return is_of


def folders(unit: str, root: Path) -> dict[str, Path]:
    """What was handed in of an assignment, by student."""
    paths = sorted((root / "submitted").glob(f"*/{unit}"))
    return {folder.parent.name: folder for folder in paths if folder.is_dir()}


def remark(book: Classbook, root: Path, only_student: str = "") -> list[str]:
    """A line that names them and says what to do; [] if there are none."""
    students = ungraded(book, root, only_student)
    return [
        f"handed in, but not graded: {', '.join(students)}; "
        f"run: nbgrader autograde {book.unit}"
    ] * bool(students)


def _identities(
    folder: Path, released: dict[str, NotebookNode], limits: SizeLimits
) -> set[str]:
    """Whose the notebooks in a folder are, as grading would tell; of a closed one, {}.

    A refused one has an identity, too: that of nothing.
    """
    try:
        files = intake.take(folder, limits).files
    except intake.RefusedError:
        files = {}
    except CourseError:
        return set()
    unit, student = folder.name, folder.parent.name
    identities = set()
    for name, release in released.items():
        data = None
        try:
            path, _ = intake.find_notebook(files, f"{name}.ipynb", release, limits)
            data = files[path].data
        except intake.RefusedError:
            pass
        identities.add(identity(student, unit, name, data))
    return identities
