"""What of the host a sandbox may see: interpreter, packages, the student's kit."""

from __future__ import annotations

import functools
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.root import CONTENT, ENGINE, FILE, ROOT, VARIABLE

# What ships to students, by the package that it is in: the one list, for a sandbox and
# for the student kit. What else a unit needs there (solutions of those before, a
# trained model) comes on top.
_OF_UNITS = sorted(
    path.relative_to(CONTENT).as_posix()
    for room in ("probes", "library")
    for path in CONTENT.glob(f"*/{room}")
)
KIT = {
    ENGINE: ("__init__.py", "aliases.py", "root.py", "checks", "figures"),
    CONTENT: (
        *("__init__.py", "drawings", "library", "measures"),
        *("references/public", "references/contents", *_OF_UNITS),
    ),
}

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/alternatives"),
    "/sys/devices/system/cpu",
)


def shipped() -> list[tuple[Path, Path]]:
    """The files and folders that ship, each after the package that it is in."""
    return [(package, package / name) for package in KIT for name in KIT[package]]


def kit_paths() -> tuple[str, ...]:
    """Absolute paths of the files and folders that ship to students and exist."""
    paths = (*(path for _, path in shipped()), ROOT / FILE)
    return tuple(str(path) for path in paths if path.exists())


def environment(*folders: str) -> dict[str, str]:
    """The variables by which a sandbox finds engine, course and further folders."""
    packages = dict.fromkeys(str(package.parent) for package in KIT)
    path = os.pathsep.join([*packages, *folders])
    return {"PYTHONPATH": path, VARIABLE: str(ROOT)}


def modules(broken: Callable[[str], object]) -> Iterator[str]:
    """Yield the names of all modules that ship; report packages that do not import."""
    for package, path in shipped():
        if (path / "__init__.py").is_file():
            name = ".".join((package.name, *path.relative_to(package).parts))
            yield name
            for module in pkgutil.walk_packages([str(path)], f"{name}.", broken):
                yield module.name


@functools.cache
def interpreter_paths() -> tuple[str, ...]:
    """The running interpreter, its environment and the packages on its path.

    Paths below another are left out; a path through a link comes in both forms.
    """
    packages = ("site-packages", "dist-packages", "lib-dynload")
    paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, *SYSTEM]
    paths += [p for p in sys.path if os.path.basename(p) in packages]
    paths += [os.path.realpath(p) for p in paths]
    roots: list[str] = []
    for path in sorted({os.path.abspath(p) for p in paths}, key=len):
        inside = any(path.startswith(root.rstrip("/") + "/") for root in roots)
        if os.path.lexists(path) and not inside:
            roots.append(path)
    return tuple(roots)
