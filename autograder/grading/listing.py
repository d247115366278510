"""A version of ``nbgrader list`` that no submission can stop, with due dates."""

from __future__ import annotations

import os
import stat
from itertools import islice
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeList

from autograder.grading.dates import read_due
from autograder.grading.intake import SECRET, RefusedError, SizeLimits
from autograder.grading.intake.files import read_file

_MAX_BYTES = 10_000  # bytes of a secret; nbgrader's have 64


class CourseList(ExchangeList):  # type: ignore[misc]
    """nbgrader's ``list``, for a class that is not trusted.

    In nbgrader's own, one student's odd file can end the list for the whole class.
    """

    assignments: list[str]

    def init_dest(self) -> None:
        """Find the submissions to list, and log which ones cannot be listed."""
        super().init_dest()
        if self.inbound:
            self.assignments = list(filter(self._can_be_listed, self.assignments))

    def format_outbound_assignment(self, info: dict[str, Any]) -> str:
        """A released assignment as a line, with the due date in its notebook."""
        line: str = super().format_outbound_assignment(info)
        dues = {read_due(Path(row["path"])) for row in info["notebooks"]} - {""}
        return f"{line}, due {dues.pop()}" if len(dues) == 1 else line

    def _can_be_listed(self, path: str) -> bool:
        """Whether nbgrader can list a folder; if not, the reason is logged."""
        if reason := self._objection(Path(path)):
            self.log.error(
                "Not listed: %s: %s; nbgrader collect stores what it can",
                ascii(Path(path).name), reason,
            )  # fmt: skip
        return not reason

    def _objection(self, path: Path) -> str:
        """The reason why a folder of the exchange cannot be listed; "" if it can."""
        try:
            self.parse_assignment(str(path))
        except RuntimeError:
            return "its name is not one that nbgrader gives"
        if not path.name.isprintable():
            return "its name is not plain text"
        try:
            names = [name for name in _names(path) if name.endswith(".ipynb")]
            if not all(_is_ordinary(path / name) for name in names):
                return "a notebook in it is no file, or a large one"
            if os.path.lexists(path / SECRET):
                secret = read_file(path / SECRET, _MAX_BYTES).data.decode()
                return "" if secret else f"its {SECRET} is empty"
        except (OSError, UnicodeDecodeError, RefusedError):
            return "it cannot be read"
        return ""


def _names(folder: Path) -> list[str]:
    """The names of the files in a folder.

    Raises:
        OSError: it is not a folder, or has too many files.
    """
    if folder.is_symlink():
        raise NotADirectoryError
    with os.scandir(folder) as scan:
        names = [entry.name for entry in islice(scan, SizeLimits.files + 1)]
    if len(names) > SizeLimits.files:
        raise OSError
    return names


def _is_ordinary(path: Path) -> bool:
    """Whether a path is a regular file that is not too large."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_size <= SizeLimits.saved
