"""Replace a student's hand-in by a newer one, and keep the last three replaced ones.

A newer hand-in that only asks for a regrade is stored separately instead.
"""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

from autograder.course.files import replace_folder
from autograder.grading.intake.appeals import only_appeals

MOST = 3  # kept for a student and a unit


def appeals_folder(root: Path, unit: str) -> Path:
    """The folder of hand-ins that only request a regrade, each in ``STUDENT/UNIT``."""
    return root / ".autograder" / "appeals" / unit


def keep_appeal(root: Path, folder: Path, new_folder: Path) -> bool:
    """Move a new hand-in to `appeals_folder` if it only asks for a regrade.

    Args:
        root: the course's folder.
        folder: the student's earlier hand-in, ``submitted/STUDENT/UNIT``.
        new_folder: the folder of the new hand-in.

    Returns:
        Whether it was moved. If not, ``new_folder`` is as before.

    Raises:
        OSError: it cannot be moved.
    """
    if not (folder.is_dir() and only_appeals(folder, new_folder)):
        return False
    place = appeals_folder(root, folder.name) / folder.parent.name / folder.name
    replace_folder(place, new_folder)
    return True


def replace_hand_in(root: Path, folder: Path, new_folder: Path) -> None:
    """Replace a student's earlier hand-in by a new one, and keep the earlier one.

    The earlier one is moved to ``.autograder/replaced/UNIT/STUDENT/``, and named after
    the time (UTC) when it was replaced.

    Args:
        root: the course's folder.
        folder: the earlier hand-in, ``submitted/STUDENT/UNIT``.
        new_folder: the folder of the new hand-in, which is moved to ``folder``.

    Raises:
        OSError: a folder cannot be moved or removed. If it is the new hand-in that
            cannot be moved, the earlier one stays in place.
    """
    archive = root / ".autograder" / "replaced" / folder.name / folder.parent.name
    time = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H.%M.%S.%f}"
    replace_folder(folder, new_folder, archive / time)
    if archive.is_dir():
        for old in sorted(archive.iterdir())[:-MOST]:
            shutil.rmtree(old)
