"""One submission, graded at once, for a service that starts us for each hand-in.

A scratch course folder is made with the unit, its settings and the one submission, and
the ordinary ``nbgrader autograde`` runs there: the same intake, sandbox, judge and
records as at home. The service gets a file in its own format.
"""

from __future__ import annotations

import shutil
import tempfile
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
    """Grade what lies in a folder; the result is that of a class of one.

    Args:
        course: the folder with ``source/``, ``release/`` and ``nbgrader_config.py``.
        unconfined: grade also where no level of isolation works, in a container that
            the service throws away. Verdicts are decided outside all the same.

    Raises:
        CourseError: grading failed for a reason that is not the student's.
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
        _hand_in(submission, folder / "submitted" / _STUDENT / unit)
        process = child.nbgrader(folder, "autograde", unit, capture_output=True)
        try:
            return gradebook.read(unit, folder)
        except CourseError as error:
            log = f"{process.stdout}{process.stderr}".strip()
            raise CourseError(f"{error}\n{log}") from None


def _hand_in(submission: Path, place: Path) -> None:
    """Copy the regular files of a submission, as the intake would take them."""
    place.mkdir(parents=True)
    try:
        files = intake.take(submission).files
    except intake.RefusedError as reason:
        raise CourseError(f"{submission}: {reason}") from None
    for path, file in files.items():
        if path not in intake.OF_NBGRADER:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(file.data)
