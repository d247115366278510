"""Preview the scores that a corrected check would change, by grading in a copy.

The temporary copy holds results, release and gradebook, and links to the rest.
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
# What a run reads in .autograder/.
_NOTED = ("secret", "extensions.json", "scores", "rehearsed")


def commands(unit: str, root: Path) -> list[tuple[str, ...]]:
    """List the nbgrader commands, with arguments, that apply a corrected check.

    Raises:
        CourseError: nothing is graded yet.
    """
    with gradebook.open_gradebook(root) as book:
        gradebook.submissions_of(book, unit)
        recorded = points_of_book(book, unit)
    # nbgrader takes new maximum points only from a new release.
    is_worth_other = recorded != points_of_folder(unit, root / "source" / unit)
    release = [("generate_assignment", unit, "--force")] * is_worth_other
    return [*release, ("autograde", unit)]


def preview(unit: str, root: Path) -> tuple[list[Change], bool]:
    """Find the scores that `commands` would change, by running them in a copy.

    Returns:
        The changes, without those made by hand; and whether all commands succeeded.

    Raises:
        CourseError: nothing is graded yet, or the course cannot be copied.
    """
    commands_to_run = commands(unit, root)
    url, _ = gradebook.database_of(root)
    if not url.startswith(_SQLITE):
        raise CourseError("a preview needs a gradebook in an SQLite file")
    book = Path(url.removeprefix(_SQLITE))
    with _copied(unit, root.resolve(), book) as copy:
        places = (
            f"--CourseDirectory.root={copy}",
            f"--CourseDirectory.db_url={_SQLITE}{copy / book.name}",
        )
        # The run reports changes relative to recorded scores, so record those of now.
        with gradebook.open_gradebook(root) as original:
            changes.begin(copy, unit, original)
        for command in commands_to_run:
            process = child.nbgrader(copy, *command, *places, stderr=subprocess.PIPE)
            if process.returncode:
                print(process.stderr, end="", file=sys.stderr)
                break
        all_changes = changes.read(copy, unit)
    score_changes = [change for change in all_changes if change.why != changes.BY_HAND]
    return score_changes, not process.returncode


@contextlib.contextmanager
def _copied(unit: str, root: Path, book: Path) -> Iterator[Path]:
    """Yield a temporary copy of the course, with its SQLite gradebook ``book``.

    Raises:
        CourseError: the copy cannot be written.
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
    """Copy a file or a folder, if it exists."""
    new.parent.mkdir(parents=True, exist_ok=True)
    if old.is_dir():
        shutil.copytree(old, new)
    elif old.exists():
        shutil.copy2(old, new)
