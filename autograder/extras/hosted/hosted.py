"""Grade one submission for a service that starts a process for each hand-in.

``nbgrader autograde`` grades it as in a class, in a temporary course folder.
`results` converts the outcome to the format of the service.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from autograder.classroom import gradebook
from autograder.classroom.classbook import Classbook
from autograder.course import child
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.grading import intake

_STUDENT = "student"
_CONFIG = """\
c = get_config()  # noqa: F821
load_subconfig("nbgrader_config.py", path={course!r})  # noqa: F821
c.CourseDirectory.root = {folder!r}
c.JudgedExecute.allow_unconfined = {unconfined!r}
c.Autograde.jobs = 1
"""


def grade(
    unit: str, submission: Path, course: Path, unconfined: bool = False
) -> Classbook:
    """Grade the submission in a folder; return a class book with this one student.

    Args:
        unconfined: whether to grade even if this machine cannot isolate the
            student's code; only for a container that the service deletes.

    Raises:
        CourseError: grading failed for a reason that is not the student's fault.
    """
    if not (course / "nbgrader_config.py").is_file():
        raise CourseError(
            f"{course} has no nbgrader_config.py; give the course folder with "
            "--course FOLDER"
        )
    with tempfile.TemporaryDirectory(prefix="hand-in-") as name:
        folder = Path(name)
        for step in ("source", "release"):
            shutil.copytree(course / step / unit, folder / step / unit)
        secret = course / ".autograder" / "secret"
        if secret.is_file():
            write(folder / ".autograder" / "secret", secret.read_bytes())
        write(folder / "nbgrader_config.py", _CONFIG.format(
            course=str(course.resolve()), folder=name, unconfined=unconfined,
        ))  # fmt: skip
        repairs = _hand_in(submission, folder / "submitted" / _STUDENT / unit)
        process = child.nbgrader(folder, "autograde", unit, capture_output=True)
        # The exit status does not tell: a refusal is a valid result, but sets it too.
        try:
            book = gradebook.read(unit, folder)
        except CourseError as error:
            log = f"{process.stdout}{process.stderr}".strip()
            raise CourseError(f"{error}\n{log}") from None
    (graded,) = book.submissions
    graded = replace(graded, repairs=(*repairs, *graded.repairs))
    return replace(book, submissions=(graded,))


def _hand_in(submission: Path, folder: Path) -> list[tuple[str, str]]:
    """Copy the files of a submission that may be graded into a new folder.

    Returns:
        What was left out or shortened, as in `Submission.repairs`.

    Raises:
        CourseError: the submission's folder is a link, no folder, or unreadable.
    """
    folder.mkdir(parents=True)
    try:
        taken = intake.take(submission)
    except intake.RefusedError as reason:
        raise CourseError(f"{submission}: {reason}") from None
    for path, file in taken.files.items():
        if path not in intake.OF_NBGRADER:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(file.data)
    return [(repair.kind, repair.says) for repair in taken.repairs]
