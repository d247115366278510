"""The parts of the host that a sandbox may see: interpreter, packages, student kit."""

from __future__ import annotations

import functools
import glob
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from autograder.root import CONTENT, ENGINE, FILE, ROOT, VARIABLE

# What ships to students, by package: the only list, for sandboxes and for the student
# kit. What else a unit needs there (solutions of earlier units, a trained model) is
# added to it.
_OF_ENGINE = ("__init__.py", "aliases.py", "root.py", "checks", "figures")
_OF_COURSE = (
    *("__init__.py", "drawings", "library", "measures"),
    *("references/public", "references/contents"),
)


def _list_shipped(course: Path) -> tuple[str, ...]:
    """The paths that a course ships to students, relative to its package."""
    folders = (course.glob(f"*/{name}") for name in ("probes", "library"))
    paths = sorted(path.relative_to(course).as_posix() for path in chain(*folders))
    return (*_OF_COURSE, *paths)


KIT = {ENGINE: _OF_ENGINE, CONTENT: _list_shipped(CONTENT)}

# Where packages are installed, below the prefix of an interpreter.
_FOLDERS = ("site-packages", "dist-packages", "lib-dynload")
_SITES = ("lib*/python*/*-packages", "envs/*/lib/python*/*-packages")

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/alternatives"),
    "/sys/devices/system/cpu",
)


def shipped() -> list[tuple[Path, Path]]:
    """List what students get: pairs of a package's folder and a path in that folder."""
    return [(package, package / name) for package in KIT for name in KIT[package]]


def packages() -> dict[Path, tuple[str, ...]]:
    """Map the folders of engine and courses to the paths in them a sandbox may see."""
    return KIT | {p: names for p, names in find_courses().items() if p not in KIT}


@functools.cache
def find_courses() -> dict[Path, tuple[str, ...]]:
    """Find installed courses and engines; map each to what sandboxes may see of it.

    The keys are folders, the values paths in them. Everything else there is hidden.
    """
    prefixes = (sys.prefix, sys.base_prefix, "/usr", "/usr/local")
    sites = [site for p in prefixes for name in _SITES for site in Path(p).glob(name)]
    sites += [Path(path) for path in sys.path if os.path.basename(path) in _FOLDERS]
    shipping = {}
    for site in {site.resolve() for site in sites}:
        # A course is known by its units: a unit.toml, or exercises and solutions.
        units = f"{glob.escape(str(site))}/*/*"
        courses = {Path(file).parents[1] for file in glob.glob(f"{units}/unit.toml")}
        for folder in glob.glob(f"{units}/exercises"):
            course = Path(folder).parents[1]
            courses |= {course} if (course / "solutions").is_dir() else set()
        for course in {site / CONTENT.name, *courses}:
            shipping[course] = _list_shipped(course)
        shipping[site / ENGINE.name] = _OF_ENGINE
    return {path.resolve(): names for path, names in shipping.items() if path.is_dir()}


def list_hidden() -> tuple[str, ...]:
    """The course's folder and all packages, of which only `kit_paths` are visible."""
    return (str(ROOT), *map(str, packages()))


def kit_paths() -> tuple[str, ...]:
    """Absolute paths of the files and folders that a sandbox may see of `packages`."""
    paths = [package / name for package, names in packages().items() for name in names]
    return tuple(str(path) for path in (*paths, ROOT / FILE) if path.exists())


def environment(*folders: str) -> dict[str, str]:
    """Environment variables by which Python finds engine, course and `folders`."""
    packages = dict.fromkeys(str(package.parent) for package in KIT)
    path = os.pathsep.join([*packages, *folders])
    return {"PYTHONPATH": path, VARIABLE: str(ROOT)}


def modules(broken: Callable[[str], object]) -> Iterator[str]:
    """Yield the names of packages that ship to students, and of all modules in them.

    `broken` is called with the name of each package that cannot be imported.
    """
    for package, path in shipped():
        if (path / "__init__.py").is_file():
            name = ".".join((package.name, *path.relative_to(package).parts))
            yield name
            for module in pkgutil.walk_packages([str(path)], f"{name}.", broken):
                yield module.name


@functools.cache
def interpreter_paths() -> tuple[str, ...]:
    """List the host's paths that Python needs: interpreter, packages and libraries."""
    paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, *SYSTEM]
    paths += [os.path.dirname(sys.executable)]
    paths += [p for p in sys.path if os.path.basename(p) in _FOLDERS]
    paths += [os.path.realpath(p) for p in paths]
    roots: list[str] = []
    for path in sorted({os.path.abspath(p) for p in paths}, key=len):
        if os.path.lexists(path) and not any(_shows(root, path) for root in roots):
            roots.append(path)
    return tuple(roots)


def _shows(root: str, path: str) -> bool:
    """Whether `path` is below `root`, and not below a course's folder in there."""
    is_masked = ROOT.is_relative_to(root) and Path(path).is_relative_to(ROOT)
    return path.startswith(root.rstrip("/") + "/") and not is_masked
