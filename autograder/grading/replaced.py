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
    """Move away a new hand-in that only asks for a regrade; return whether it does.

    Args:
        folder: the student's earlier hand-in, ``submitted/STUDENT/UNIT``.

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

    It is moved to ``.autograder/replaced/UNIT/STUDENT/``, named after the UTC time.

    Args:
        folder: the earlier hand-in, ``submitted/STUDENT/UNIT``.

    Raises:
        OSError: a folder cannot be moved or removed.
    """
    archive = root / ".autograder" / "replaced" / folder.name / folder.parent.name
    time = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H.%M.%S.%f}"
    replace_folder(folder, new_folder, archive / time)
    if archive.is_dir():
        for old in sorted(archive.iterdir())[:-MOST]:
            shutil.rmtree(old)
