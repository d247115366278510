"""Create a new course: a repository with some of this course's units.

The files of other units are not copied, nor are tests and benchmarks that
depend on them. README and docs/ are generated anew.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from autograder.authoring.solutions import builds_on
from autograder.course import Unit, units
from autograder.course.errors import CourseError
from autograder.root import PACKAGE

_EXAMPLES = ("tests/", "benchmarks/")  # whose files may name any unit
_LEFT_OUT = "tests/left_out.txt"
_REASONS = f"{PACKAGE}/authoring/survivors.json"


def create(chosen: Iterable[Unit], root: Path, folder: Path) -> list[str]:
    """Copy the course with some of its units.

    Args:
        root: the folder of the course to copy, which is a Git checkout.
        folder: the new course's folder, which must not exist, or be empty.

    Returns:
        The paths of tests and benchmarks left out, as they need other units.
    """
    chosen_units = list(chosen)
    labels = {unit.label for unit in chosen_units}
    for unit in chosen_units:
        if missing := [label for label in builds_on(unit) if label not in labels]:
            raise CourseError(
                f"{unit.label} builds on {missing[0]}: add {missing[0][:2]} to --units"
            )
    if folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; name a new folder")
    dropped = [unit for unit in units(root) if unit.label not in labels]
    names = [name for name in _list_files(root) if not _is_part_of(name, dropped)]
    left_out = find_affected(root, names, [unit.name for unit in dropped])
    for name in names:
        if name in left_out:
            continue
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, place, follow_symlinks=False)
    _drop_reasons(folder / _REASONS, dropped)
    (folder / _LEFT_OUT).write_text("".join(f"{name}\n" for name in sorted(left_out)))
    # Write anew what README and docs/ say about the units.
    _run(folder, sys.executable, "-m", "tests.derived")
    commit(folder, f"Start a course of {', '.join(sorted(labels))}\n\n{origin(root)}")
    return sorted(left_out)


def origin(root: Path) -> str:
    """Say where a course comes from, for the first commit of its copy."""
    state = _run(root, "git", "describe", "--always", "--dirty", "--abbrev=40",
                 "--exclude=*")  # fmt: skip
    place = _ask_git(root, "remote", "get-url", "origin")
    return f"Copied from commit {state.strip()} of {place.strip() or root}"


def commit(folder: Path, message: str) -> None:
    """Make a folder a Git repository, and commit all that is in it."""
    _run(folder, "git", "init", "-q")
    _run(folder, "git", "add", "--all")
    default = ["-c", "user.name=new-course", "-c", "user.email=new-course@localhost"]
    identity = [] if _ask_git(folder, "config", "user.email").strip() else default
    _run(folder, "git", *identity, "commit", "-q", "--no-gpg-sign", "-m", message)


def _run(folder: Path, *command: str) -> str:
    """Run a command in a folder and return what it prints; raise if it fails."""
    completed = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    if completed.returncode:
        reason = (completed.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise CourseError(f"{folder} is incomplete: {' '.join(command[:3])}: {reason}")
    return completed.stdout


def _ask_git(folder: Path, *arguments: str) -> str:
    """What Git prints in a folder; "" if it fails."""
    return subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
    ).stdout


def _list_files(root: Path) -> list[str]:
    """The files of a checkout that Git tracks, relative to it. Raises CourseError."""
    try:
        listing = _ask_git(root, "ls-files", "-z")
    except OSError:  # there is no Git
        listing = ""
    if not listing:
        raise CourseError(f"{root} is not a Git checkout of the course")
    return [name for name in listing.split("\0") if name and (root / name).is_file()]


def _is_part_of(name: str, dropped: Collection[Unit]) -> bool:
    """Whether a file is part of a unit that is left out."""
    words = {part for part in re.split(r"[/.]", name) if part}
    return any(words & {unit.name, unit.label} for unit in dropped)


def is_named(unit: str, text: str) -> bool:
    """Return whether code refers to a unit by its name.

    A single word, which may occur by chance, counts only in an import or after one of
    ``/ . _ ' "``.
    """
    if "_" in unit:
        return unit in text
    code = rf"""[/."'_]{unit}(?![a-z])|import (\([^)]*|[^\n]*)\b{unit}\b"""
    return re.search(code, text) is not None


def find_affected(
    root: Path, names: Iterable[str], dropped: Collection[str]
) -> set[str]:
    """Find the tests and benchmarks that depend on units which are left out.

    Args:
        names: the paths of the course's files, relative to ``root``.
        dropped: the names of the units that are left out.
    """
    texts = {
        name: (root / name).read_text(encoding="utf-8", errors="replace")
        for name in names
        if name.startswith(_EXAMPLES) and name.endswith(".py")
    }
    affected = {
        name
        for name, text in texts.items()
        if any(is_named(unit, text) for unit in dropped)
    }
    imports = {name: _imports(text) for name, text in texts.items()}
    # Also what imports an affected file, or shares a folder with its conftest.
    while importing := {
        name
        for name in texts
        if name not in affected
        if imports[name] & {_module(file) for file in affected}
        or f"{name.rpartition('/')[0]}/conftest.py" in affected
    }:
        affected |= importing
    return affected


def _module(name: str) -> str:
    """The module that a file, "tests/x.py", defines: "tests.x"."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(text: str) -> set[str]:
    """Find the names of modules in the unindented imports of a Python file.

    For ``from a import b``, both "a" and "a.b" are included, as b may be a module.
    """
    modules = set[str]()
    for node in ast.parse(text).body:
        match node:
            case ast.Import(names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(str(module), names):
                modules |= {module, *(f"{module}.{alias.name}" for alias in names)}
    return modules


def _drop_reasons(path: Path, dropped: Collection[Unit]) -> None:
    """Remove the entries of left-out units from ``survivors.json``, at ``path``.

    The file says why some mutants are equivalent to the solution of their exercise.
    """
    reasons = json.loads(path.read_text(encoding="utf-8"))
    names = {unit.name for unit in dropped}
    remaining = {
        n: reason for n, reason in reasons.items() if n.partition("/")[0] not in names
    }
    path.write_text(json.dumps(remaining, indent=1, ensure_ascii=False) + "\n")
