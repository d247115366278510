"""Report a damaged gradebook in one line, whatever the command."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine, ExceptionContext

from autograder.grading.gradebook.book import GradebookError, book_files


def install() -> None:
    """Raise GradebookError instead of SQLite's error about a damaged file, everywhere.

    Doing it twice is harmless.
    """
    from nbgrader.apps.dbapp import DbUpgradeApp

    if not event.contains(Engine, "handle_error", _raise_damage):
        event.listen(Engine, "handle_error", _raise_damage)
        DbUpgradeApp.start = _refusing_damage(DbUpgradeApp.start)


def _raise_damage(context: ExceptionContext) -> None:
    """Raise GradebookError instead of SQLite's error about a damaged file."""
    error = context.original_exception
    # Subclasses are raised for statements that fail on an intact file.
    if type(error) is sqlite3.DatabaseError and context.engine is not None:
        raise _damage(str(context.engine.url.database), error)


def refuse_damaged(db_url: str) -> None:
    """Check that a gradebook's file is an intact database, before others read it.

    Raises:
        GradebookError: it is damaged.
    """
    # The database file; None for a database on a server.
    path, *_ = [*book_files(db_url), None]
    if path is None or not path.is_file():
        return
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError:
        return  # locked or unreadable, which opening it reports
    except sqlite3.DatabaseError as error:
        raise _damage(str(path), error) from None


def _damage(path: str, error: BaseException) -> GradebookError:
    """The error to raise for a damaged gradebook, with a remedy."""
    return GradebookError(
        f"the gradebook {path} is damaged ({error}); put a copy from a backup in its "
        "place, or move it away to start a new one"
    )


def _refusing_damage(start: Callable[[Any], None]) -> Callable[[Any], None]:
    """Wrap an app's `start`, so that it first checks the gradebook."""

    def checked_start(app: Any) -> None:
        refuse_damaged(app.coursedir.db_url)
        start(app)

    return checked_start
