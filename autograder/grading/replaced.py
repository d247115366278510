"""Hand-ins that a newer one has replaced: the last few of each student are kept.

A new one that only asks for a regrade replaces nothing, and is kept beside them.
"""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

from autograder.course.files import replace_folder
from autograder.grading.intake.appeals import only_appeals

MOST = 3  # of a student and a unit


def appeals_folder(root: Path, unit: str) -> Path:
    """Where hand-ins that only ask for a regrade are, as ``STUDENT/UNIT``."""
    return root / ".autograder" / "appeals" / unit


def keep_appeal(root: Path, folder: Path, part: Path) -> bool:
    """Keep a new hand-in beside the earlier one, if it only asks for a regrade of it.

    Args:
        folder: the earlier one, ``submitted/STUDENT/UNIT``.

    Returns:
        Whether it does.

    Raises:
        OSError: it cannot be written.
    """
    if not (folder.is_dir() and only_appeals(folder, part)):
        return False
    place = appeals_folder(root, folder.name) / folder.parent.name / folder.name
    replace_folder(place, part)
    return True


def replace_hand_in(root: Path, folder: Path, part: Path) -> None:
    """Put a hand-in in the place of a student's earlier one, which is kept.

    It goes to ``.autograder/replaced/UNIT/STUDENT/``, under the time (UTC) when it was
    replaced.

    Args:
        root: the course.
        folder: the place, ``submitted/STUDENT/UNIT``.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    archive = root / ".autograder" / "replaced" / folder.name / folder.parent.name
    time = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H.%M.%S.%f}"
    replace_folder(folder, part, archive / time)
    if archive.is_dir():
        for old in sorted(archive.iterdir())[:-MOST]:
            shutil.rmtree(old)
