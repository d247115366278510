"""Start a new course or a new unit, with the minimum of files."""

from __future__ import annotations

import importlib.util
import keyword
import re
import shutil
from importlib.metadata import packages_distributions, version
from pathlib import Path

from autograder.authoring.new_course import commit
from autograder.course import Unit, units
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.root import ENGINE

_TEMPLATES = Path(__file__).parent / "templates" / "course"
_UNIT_NAME = re.compile(r"(?:(\d\d)_)?([a-z][a-z0-9_]*)")


def start(folder: Path, title: str = "") -> list[Path]:
    """Write a new course with one solved exercise; return the files written.

    The course is committed if Git is installed.

    Args:
        folder: a new or empty folder, after which the course's package is named.
        title: the course's title; by default, the folder's name.
    """
    if folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; name a new folder")
    package = _name_package(folder)
    words = {
        "title": title or folder.resolve().name.replace("_", " ").capitalize(),
        "package": package,
        "engine": _describe_engine(),
    }
    files = {
        "course.toml": "course.toml",
        "nbgrader_config.py": "nbgrader_config.py",
        "environment.yml": "environment.yml",
        "README.md": "README.md",
        ".gitignore": "gitignore",
        "notebooks/01_first.py": "first.py",
        f"{package}/first/exercises/double.py": "double.py",
    }
    for name, template in files.items():
        write(folder / name, _fill_template(template, words))
    if shutil.which("git"):
        commit(folder, f"Start the course {words['title']}")
    return [folder / name for name in files]


def _name_package(folder: Path) -> str:
    """Derive the package's name from the folder's, with "_course" if that is taken."""
    name = re.sub(r"\W+", "_", folder.resolve().name.lower()).strip("_")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise CourseError(
            f'no package can be called "{folder.name}"; name a folder that begins '
            "with a letter, like signal_processing"
        )
    return f"{name}_course" if importlib.util.find_spec(name) else name


def _describe_engine() -> str:
    """The requirement that installs this engine: its package and lowest version."""
    names = packages_distributions().get(ENGINE.name, [ENGINE.name])
    return f"{names[0]} >={version(names[0])}"


def start_unit(name: str, root: Path) -> Path:
    """Write the notebook of a new unit, without an exercise yet; return its file.

    Args:
        name: like "05_convolution"; without a number, the unit comes last.
    """
    match = _UNIT_NAME.fullmatch(name)
    if match is None or keyword.iskeyword(match[2]):
        raise CourseError(
            f'"{name}" cannot be the name of a unit: it takes lower-case letters, '
            "digits and underscores, like convolution or 05_convolution"
        )
    present = units(root)
    number = match[1] or f"{max((int(u.number) for u in present), default=0) + 1:02}"
    for unit in present:
        if number == unit.number or match[2] == unit.name:
            raise CourseError(f"there is a unit {unit.label} already")
    unit = Unit(number, match[2], root)
    write(unit.text, _fill_template("notebook.py", {"number": number}))
    return unit.text


def _fill_template(template: str, words: dict[str, str]) -> str:
    text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", value)
    return text
