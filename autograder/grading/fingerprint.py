"""A digest of the files that verdicts depend on, besides the submission."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Unit, manifest, units
from autograder.root import ENGINE, PACKAGE, ROOT

# Folders of the engine that run answers, ask and compare, and those of all units.
_ENGINE_FOLDERS = ("checks", "authoring", "grading/judge", "grading/checks")
_COMMON_FOLDERS = ("authoring", "library", "measures")
_OURS = rf"(?:autograder|{re.escape(PACKAGE)})"
_FROM = re.compile(rf"from +({_OURS}[.\w]*) +import +(\([^)]*\)|[^\n]*)")
_DOTTED = re.compile(rf"{_OURS}(?:\.\w+)+")  # also in strings, for `importlib`


def fingerprint(unit: str, root: Path = ROOT) -> str:
    """Return a digest of all files that a unit's verdicts depend on.

    If it changes, submissions are graded again.
    """
    digest = hashlib.sha256()
    by_name = {candidate.name: candidate for candidate in units(root)}
    # A custom course may grade a unit that is not built here.
    graded = by_name.get(unit, Unit("", unit, root))
    engine = _engine(graded)
    # Paths are relative to these, so that a moved checkout has the same digest.
    places = {engine: "engine", graded.package: "course", root: "root"}
    for path in sorted(_closure(graded, engine)):
        place = next(folder for folder in places if path.is_relative_to(folder))
        digest.update(f"{places[place]}/{path.relative_to(place)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _engine(unit: Unit) -> Path:
    """The engine's folder: the one in the unit's checkout, or else the running one."""
    folder = unit.root / ENGINE.name
    return folder if folder.is_dir() else ENGINE


def _closure(unit: Unit, engine: Path) -> set[Path]:
    """All files that verdicts on a unit depend on, including what they import."""
    files = {path for name in _ENGINE_FOLDERS for path in _files(engine / name)}
    files |= {path for name in _COMMON_FOLDERS for path in _files(unit.package / name)}
    files.update(path for part in _parts_of(unit) for path in _files(part))
    files.update(manifest.read(unit).files)
    packages = {engine.name: engine, unit.package.name: unit.package}
    waiting = list(files)
    while waiting:
        imported = set(_imports(waiting.pop(), packages)) - files
        files |= imported
        waiting += imported
    return files


def _parts_of(unit: Unit) -> tuple[Path, ...]:
    """The files and folders of a unit."""
    public = unit.package / "references" / "public"
    return (
        unit.folder,
        unit.package / "solutions" / f"{unit.name}.py",
        public / f"{unit.name}.safetensors",
        public / f"{unit.name}.json",
        public / "sentences" / f"{unit.name}.json",  # in the course's language
        public / "sentences" / "engine.json",
    )


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or the files of a folder, without bytecode and translations."""
    for file in [path] if path.is_file() else path.rglob("*.*"):
        if file.is_file() and file.suffix not in (".pyc", ".po"):
            yield file


def _imports(path: Path, packages: dict[str, Path]) -> Iterator[Path]:
    """Yield the files of our own modules that a Python file imports or names.

    Args:
        packages: the folders of the engine's and the course's package, by name.
    """
    if path.suffix != ".py":
        return
    text = path.read_text(encoding="utf-8")
    names = set(_DOTTED.findall(text))
    for package, listed in _FROM.findall(text):
        names.update(f"{package}.{name}" for name in re.findall(r"\w+", listed))
    for name in names:
        first, *inner = name.split(".")
        file = packages[first].joinpath(*inner)
        for module in (file.with_suffix(".py"), file / "__init__.py"):
            if module.is_file():
                yield module
