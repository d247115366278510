"""A course's settings for its LMSs: addresses, numbers and secrets.

They are in the course's ``.autograder/lms.toml``, which only its owner may read. A
secret may come from the environment instead. Secrets are never printed.
"""

from __future__ import annotations

import os
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from autograder.course.errors import CourseError

FILE = Path(".autograder") / "lms.toml"
_HERE = ("localhost", "127.0.0.1", "::1")
_PAGE = "docs/lms.md"


@dataclass(frozen=True)
class LmsSettings:
    """An LMS's settings: table ``name``, like ``[canvas]``, of the file ``path``."""

    path: Path
    name: str
    values: dict[str, Any]

    def text(self, key: str, default: str | None = None) -> str:
        """Read the setting ``key`` as text.

        Raises:
            CourseError: it is missing, and there is no default.
        """
        value = self.values.get(key, default)
        if value is None or isinstance(value, dict | list):
            raise CourseError(f"{self.path}: [{self.name}] has no {key}; see {_PAGE}")
        return str(value).strip()

    def address(self, key: str, default: str | None = None) -> str:
        """Read a setting that is a URL; a "/" at its end is removed.

        Raises:
            CourseError: it is missing, or neither https nor on this machine.
        """
        text = self.text(key, default).rstrip("/")
        parts = urlsplit(text)
        if not text or (parts.scheme == "http" and parts.hostname in _HERE):
            return text
        if parts.scheme != "https" or not parts.hostname:
            raise CourseError(
                f"{self.path}: {key} of [{self.name}] must start with https://"
            )
        return text

    def of_unit(self, key: str, unit: str, default: str | None = None) -> str:
        """Read a unit's entry in the table ``key``, such as ``[canvas.assignments]``.

        Raises:
            CourseError: it is missing, and there is no default.
        """
        table = self.values.get(key, {})
        if not isinstance(table, dict):
            raise CourseError(
                f"{self.path}: {key} of [{self.name}] must be a table with a line for "
                f"each unit; see {_PAGE}"
            )
        inner = LmsSettings(self.path, f"{self.name}.{key}", table)
        return inner.text(unit, default)

    def secret(self, key: str) -> str:
        """Find a secret, such as ``token`` of ``[canvas]``.

        The environment (here ``AUTOGRADER_CANVAS_TOKEN``) takes precedence over the
        file.

        Raises:
            CourseError: there is none.
        """
        variable = f"AUTOGRADER_{self.name}_{key}".upper()
        value = os.environ.get(variable, "").strip() or self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise CourseError(
                f"no {key} for {self.name}: set {variable}, or {key} in {self.path}"
            )
        return value.strip()


def read(root: Path, name: str) -> LmsSettings:
    """Read the settings of an LMS in a course.

    Raises:
        CourseError: they are missing or damaged, or others may read them.
    """
    path = root / FILE
    try:
        tables = tomllib.loads(read_private(path))
    except FileNotFoundError:
        raise CourseError(
            f"there is no {path} yet; {_PAGE} says how to write it"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # The error's text may quote the line, which may contain a secret.
        where = getattr(error, "lineno", "")
        line = f", line {where}" if where else ""
        raise CourseError(f"{path}{line} is no TOML; see {_PAGE}") from None
    values = tables.get(name)
    if not isinstance(values, dict):
        raise CourseError(f"{path} has no table [{name}]; {_PAGE} says what is in it")
    return LmsSettings(path, name, values)


def read_private(path: Path) -> str:
    """Read a file with a secret.

    Raises:
        FileNotFoundError: there is none.
        CourseError: others may access the file, or it cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if stat.S_IMODE(status.st_mode) & 0o177:
                raise CourseError(
                    f"{path} has secrets, and others may read it (mode "
                    f"{stat.S_IMODE(status.st_mode):o}); run: chmod 600 {path}"
                )
            return file.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from None
