"""Find students whose latest submission is not graded, though an older one may be.

They would otherwise seem to have handed in nothing new.
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
    """List the students whose latest submission is not the one that was graded.

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
            # An unprintable name is not a student's: a person should see that folder.
            students.append(student if student.isprintable() else ascii(student))
    return tuple(students)


def is_graded(student: str, unit: str, root: Path, failed: bool = False) -> bool:
    """Return whether the notebooks in a student's ``submitted/`` are those graded.

    Args:
        failed: whether grading has just failed, so that only a refusal counts.

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
    """Make a function that says whether a student's folder holds what was graded.

    Its arguments are the ids that grading recorded, and the folder.
    """
    paths = sorted((root / "release" / unit).glob("*.ipynb"))
    released = {path.stem: notebooks.read(path) for path in paths}
    limits = gradebook.limits(root)

    def is_of(graded: Set[str], folder: Path) -> bool:
        # Results without ids are of a different program: there is nothing to compare.
        return not graded or _identities(folder, released, limits) <= graded

    return is_of


def folders(unit: str, root: Path) -> dict[str, Path]:
    """Find the folders that students handed in for an assignment, by student."""
    paths = sorted((root / "submitted").glob(f"*/{unit}"))
    return {folder.parent.name: folder for folder in paths if folder.is_dir()}


def remark(book: Classbook, root: Path, only_student: str = "") -> list[str]:
    """Name the ungraded students in a line that says what to do; [] for none."""
    students = ", ".join(ungraded(book, root, only_student))
    command = f"nbgrader autograde {book.unit}"
    return [f"handed in, but not graded: {students}; run: {command}"] * bool(students)


def _identities(
    folder: Path, released: dict[str, NotebookNode], limits: SizeLimits
) -> set[str]:
    """Compute the ids that grading would give the notebooks in a student's folder."""
    try:
        files = intake.take(folder, limits).files
    except intake.RefusedError:
        files = {}
    except CourseError:
        # This account may not read the folder, so nothing can be said about it.
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
