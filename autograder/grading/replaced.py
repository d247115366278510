"""Hand-ins that a newer one has replaced: the last few of each student are kept."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

from autograder.course.files import replace_folder

MOST = 3  # of a student and a unit


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
