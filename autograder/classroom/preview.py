"""What a mended check would change: graded on a copy of the course, then thrown away.

Only results, release and gradebook are copied; what is handed in and the source are
linked. Where the source has other points, the release is generated again there.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.classroom import gradebook
from autograder.course import child
from autograder.course.errors import CourseError
from autograder.grading.gradebook import changes
from autograder.grading.gradebook.changes import Change
from autograder.grading.gradebook.other_points import points_of_book, points_of_folder

_SQLITE = "sqlite:///"
_LINKED = ("source", "submitted", "nbgrader_config.py")
_NOTED = (
    "secret",
    "extensions.json",
    "scores",
    "rehearsed",
)  # what a run reads of .autograder/


def preview(unit: str, root: Path) -> tuple[list[Change], bool]:
    """The scores that ``nbgrader autograde`` would change now; nothing is written.

    What the run says is printed if something needs a person, or it failed.

    Returns:
        The changes, but for those that are in the gradebook already; whether all is
        well.

    Raises:
        CourseError: nothing is graded yet, or the course cannot be copied.
    """
    with gradebook.open_gradebook(root) as original:
        gradebook.submissions_of(original, unit)
        recorded = points_of_book(original, unit)
    url, _ = gradebook.place(root)
    if not url.startswith(_SQLITE):
        raise CourseError("a preview needs a gradebook in an SQLite file")
    book = Path(url.removeprefix(_SQLITE))
    with _copied(unit, root.resolve(), book) as copy:
        places = (
            f"--CourseDirectory.root={copy}",
            f"--CourseDirectory.db_url={_SQLITE}{copy / book.name}",
        )
        # The run compares with what was noted, so what is there is noted now.
        with gradebook.open_gradebook(root) as original:
            changes.begin(copy, unit, original)
        commands = [("generate_assignment", "--force")] * (
            recorded != points_of_folder(unit, root / "source" / unit)
        )
        for command in (*commands, ("autograde",)):
            process = child.nbgrader(
                copy, *command, unit, *places, stderr=subprocess.PIPE
            )
            if process.returncode:
                print(process.stderr, end="", file=sys.stderr)
        all_changes = changes.read(copy, unit)
    score_changes = [change for change in all_changes if change.why != changes.BY_HAND]
    return score_changes, not process.returncode


@contextlib.contextmanager
def _copied(unit: str, root: Path, book: Path) -> Iterator[Path]:
    """Copy the course in order to grade there; the copy is removed afterwards.

    Raises:
        CourseError: there is no room for it, or it may not be written.
    """
    try:
        notes = root / ".autograder"
        notes.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="preview-", dir=notes) as folder:
            copy = Path(folder)
            for name in filter(lambda name: (root / name).exists(), _LINKED):
                (copy / name).symlink_to(root / name)
            _copy(root / "release" / unit, copy / "release" / unit)
            for name in _NOTED:
                _copy(notes / name, copy / ".autograder" / name)
            for results in sorted((root / "autograded").glob(f"*/{unit}")):
                _copy(results, copy / results.relative_to(root))
            with (
                contextlib.closing(sqlite3.connect(book)) as old,
                contextlib.closing(sqlite3.connect(copy / book.name)) as new,
            ):
                old.backup(new)
            yield copy
    except (OSError, shutil.Error, sqlite3.Error) as error:
        raise CourseError(f"cannot copy the course for a preview: {error}") from None


def _copy(old: Path, new: Path) -> None:
    new.parent.mkdir(parents=True, exist_ok=True)
    if old.is_dir():
        shutil.copytree(old, new)
    elif old.exists():
        shutil.copy2(old, new)
