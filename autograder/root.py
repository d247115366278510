"""Find the course that the engine works on: its folder, settings and package.

The folder is ``$AUTOGRADER_COURSE``, or else the nearest one with a
``course.toml``, upward from the working directory, or else that of the
installed course.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

FILE = "course.toml"
VARIABLE = "AUTOGRADER_COURSE"
ENGINE = Path(__file__).resolve().parent  # this package
# Placeholder for the student kit's address, until a course names one.
NOWHERE = {
    "placeholder": True, "owner": "nobody", "repository": "student", "branch": "main"
}  # fmt: skip


def _find_root() -> Path:
    # The one that is named; else the nearest one upward with a course.toml.
    if named := os.environ.get(VARIABLE):
        return Path(named).resolve()
    here = Path.cwd()
    # An installed course lies beside the engine.
    for folder in (here, *here.parents, ENGINE.parent):
        if (folder / FILE).is_file():
            return folder
    # There is no course, so that all settings have their defaults.
    return ENGINE


def _find_package(name: str) -> Path:
    """Find the folder of the course's package, in the course's folder or installed.

    In the first case, the course's folder is put on `sys.path`.
    """
    folder = ROOT / name
    if folder.is_dir():
        if str(ROOT) not in sys.path:
            sys.path.insert(0, str(ROOT))
        return folder
    spec = importlib.util.find_spec(name)
    places = list(spec.submodule_search_locations or ()) if spec else []
    # A sandbox hides no path through a link: links above the package are resolved.
    return Path(places[0]).parent.resolve() / name if places else folder


def read_settings(root: Path) -> dict[str, Any]:
    """Return the settings in ``course.toml``, with defaults for the course's names.

    Raises:
        SystemExit: the file is not valid TOML in UTF-8.
    """
    path, stated = root / FILE, dict[str, Any]()
    if path.is_file():
        try:
            stated = tomllib.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:  # no TOML, or no UTF-8
            raise SystemExit(f"autograder: {path}: {error}; mend this file") from None
    package = str(stated.get("package", "course"))
    names = {"package": package, "title": package, "course_id": package, "about": ""}
    return {**names, "distribution": f"{package}-student", "colab": NOWHERE, **stated}


ROOT = _find_root()
_SETTINGS = read_settings(ROOT)
# Names that notebooks of an earlier version import, and those of today.
ALIASES: dict[str, str] = _SETTINGS.get("aliases", {})
PACKAGE = str(_SETTINGS["package"])
CONTENT = _find_package(PACKAGE)
REFERENCES = CONTENT / "references"
