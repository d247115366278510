"""End a command if nbgrader_config.py has an error: nothing is safe without it.

Otherwise, nbgrader would continue without the course's settings, and run
students' code without a sandbox.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_path
from traitlets.config import Application

from autograder.course.errors import CourseError

_NAME = "nbgrader_config"
_warned: list[bool] = []  # not empty once `warn` has printed its warning


def refuse() -> None:
    """Let an error in an nbgrader_config.py end the command, and name its line.

    This affects only files that are read afterwards.
    """
    # All commands of nbgrader read their settings by this method of traitlets.
    original = Application._load_config_files
    # An earlier call has replaced it already.
    if getattr(original, "refuses", False):
        return
    read = original.__func__  # type: ignore[attr-defined]

    def load(
        cls: type[Application], basefilename: str, *arguments: Any, **options: Any
    ) -> Iterator[Any]:
        is_ours = Path(basefilename).name.removesuffix(".py") == _NAME
        if is_ours:
            options["raise_config_file_errors"] = True
        try:
            yield from read(cls, basefilename, *arguments, **options)
        except Exception as error:
            if not is_ours or isinstance(error, CourseError):
                raise
            raise CourseError(_describe(error)) from error

    load.refuses = True  # type: ignore[attr-defined]
    Application._load_config_files = classmethod(load)  # type: ignore[assignment]


def warn(ours: Path) -> None:
    """Warn once if nbgrader finds no configuration but ``ours``, the environment's.

    Without the course's own, it has no sandbox for students' code.
    """
    folders = [Path.cwd(), *map(Path, jupyter_config_path())]
    paths = [folder / f"{_NAME}.py" for folder in folders]
    existing = [path for path in paths if path.is_file()]
    if _warned or any(path.read_bytes() != ours.read_bytes() for path in existing):
        return
    _warned.append(True)
    print(
        f"nbgrader: there is no {_NAME}.py in {Path.cwd()}. Without the course's, this "
        "is plain nbgrader, which has no sandboxes",
        file=sys.stderr,
    )


def _describe(error: Exception) -> str:
    """Say which line of the configuration raised an error, and what to do about it."""
    stack = traceback.extract_tb(error.__traceback__)
    frames = [p for p in stack if Path(p.filename).stem == _NAME][-1:]
    file, line = (frames[0].filename, frames[0].lineno) if frames else (_NAME, None)
    message = str(error)
    if isinstance(error, SyntaxError):
        file, line, message = error.filename or file, error.lineno, error.msg
    place = f"{file}, line {line}" if line else file
    return (
        f"{place}: {type(error).__name__}: {message}. Nothing was done, since it would "
        "be without any of these settings: mend that line, and run the same command "
        "again"
    )
