"""What verdicts depend on besides a submission."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.course import ROOT, Unit, manifest, units

# The engine: what runs an answer, asks and compares.
_ENGINE = ("checks", "authoring", "library", "grading/judge", "grading/checks")
_FROM = re.compile(r"from +(autograder[.\w]*) +import +(\([^)]*\)|[^\n]*)")
_DOTTED = re.compile(r"autograder(?:\.\w+)+")  # `importlib` is given texts


def fingerprint(unit: str, root: Path = ROOT) -> str:
    """A digest of all that a unit's verdicts depend on.

    That is the engine, the unit's own files and whatever these import, earlier units'
    solutions for example, with the data beside them.
    """
    digest = hashlib.sha256()
    known = {one.name: one for one in units(root)}
    # A course of one's own may grade a unit that is not built here.
    for path in sorted(_closure(known.get(unit, Unit("", unit, root)))):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _closure(unit: Unit) -> set[Path]:
    package = unit.root / "autograder"
    found = {path for room in _ENGINE for path in _files(package / room)}
    found.update(path for own in _own(unit) for path in _files(own))
    found.update(manifest.read(unit).files)
    waiting = list(found)
    while waiting:
        imported = set(_imports(waiting.pop(), unit.root)) - found
        found |= imported
        waiting += imported
    return found


def _own(unit: Unit) -> tuple[Path, ...]:
    """The files and folders of a unit."""
    package = unit.root / "autograder"
    public = package / "references" / "public"
    return (
        unit.folder,
        package / "solutions" / f"{unit.name}.py",
        public / f"{unit.name}.safetensors",
        public / f"{unit.name}.json",
        public / "sentences" / f"{unit.name}.json",  # in the course's language
        public / "sentences" / "engine.json",
    )


def _files(path: Path) -> Iterator[Path]:
    """A file, or those of a folder, but for what is compiled from or to others."""
    for file in [path] if path.is_file() else path.rglob("*.*"):
        if file.is_file() and file.suffix not in (".pyc", ".po"):
            yield file


def _imports(path: Path, root: Path) -> Iterator[Path]:
    """The modules of this package that a file names."""
    if path.suffix != ".py":
        return
    text = path.read_text(encoding="utf-8")
    names = set(_DOTTED.findall(text))
    for package, listed in _FROM.findall(text):
        names.update(f"{package}.{name}" for name in re.findall(r"\w+", listed))
    for name in names:
        file = root.joinpath(*name.split("."))
        for module in (file.with_suffix(".py"), file / "__init__.py"):
            if module.is_file():
                yield module
