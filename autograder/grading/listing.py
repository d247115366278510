"""``nbgrader list --inbound`` that no submission can stop."""

from __future__ import annotations

import os
import stat
from itertools import islice
from pathlib import Path

from nbgrader.exchange.default import ExchangeList

from autograder.grading.intake import SECRET, RefusedError, SizeLimits
from autograder.grading.intake.files import read_file

_LONGEST = 10_000  # bytes of a secret; nbgrader's has 64


class CourseList(ExchangeList):  # type: ignore[misc]
    """nbgrader's ``list``, for a class that is not trusted.

    nbgrader reads names and files of what students have put into the exchange: a name
    that it would not give ends the list for the whole class, and a pipe holds it.
    """

    assignments: list[str]

    def init_dest(self) -> None:
        """Find what is to be listed, and say what cannot be."""
        super().init_dest()
        if self.inbound:
            self.assignments = list(filter(self._can_be_listed, self.assignments))

    def _can_be_listed(self, path: str) -> bool:
        if reason := self._objection(Path(path)):
            self.log.error(
                "Not listed: %s: %s; nbgrader collect stores what it can",
                ascii(Path(path).name), reason,
            )  # fmt: skip
        return not reason

    def _objection(self, path: Path) -> str:
        """Why a folder of the exchange cannot be listed, "" if it can."""
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
                secret = read_file(path / SECRET, _LONGEST).data.decode()
                return "" if secret else f"its {SECRET} is empty"
        except (OSError, UnicodeDecodeError, RefusedError):
            return "it cannot be read"
        return ""


def _names(folder: Path) -> list[str]:
    """What a folder holds. Raises OSError: it is none, or has too many files."""
    if folder.is_symlink():
        raise NotADirectoryError
    with os.scandir(folder) as scan:
        names = [entry.name for entry in islice(scan, SizeLimits.files + 1)]
    if len(names) > SizeLimits.files:
        raise OSError
    return names


def _is_ordinary(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_size <= SizeLimits.saved
