"""Keep the last few hand-ins of each student that a newer one has replaced.

A new one that only asks for a regrade replaces nothing, and is stored separately.
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


def keep_appeal(root: Path, folder: Path, part: Path) -> bool:
    """Store a new hand-in separately, if it only asks for a regrade of the earlier one.

    Args:
        folder: the earlier one, ``submitted/STUDENT/UNIT``.
        part: the new one.

    Returns:
        Whether it only asks for a regrade.

    Raises:
        OSError: it cannot be written.
    """
    if not (folder.is_dir() and only_appeals(folder, part)):
        return False
    place = appeals_folder(root, folder.name) / folder.parent.name / folder.name
    replace_folder(place, part)
    return True


def replace_hand_in(root: Path, folder: Path, part: Path) -> None:
    """Replace a student's earlier hand-in by a new one, and keep the earlier one.

    The earlier one is moved to ``.autograder/replaced/UNIT/STUDENT/``, and named after
    the time (UTC) when it was replaced.

    Args:
        root: the course.
        folder: the earlier one, ``submitted/STUDENT/UNIT``.
        part: the new one.

    Raises:
        OSError: it cannot be written; the earlier one stays in place.
    """
    archive = root / ".autograder" / "replaced" / folder.name / folder.parent.name
    time = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H.%M.%S.%f}"
    replace_folder(folder, part, archive / time)
    if archive.is_dir():
        for old in sorted(archive.iterdir())[:-MOST]:
            shutil.rmtree(old)
