"""The provenance of a grade: the course, the programs and the machine."""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib.metadata
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder import __version__
from autograder.course import ROOT

_ORDER = ("time", "course", "build", "Python", "PyTorch", "autograder", "processor")
_SECONDS = 10.0  # for git, on a busy machine


def course_version(depends: Sequence[str], root: Path = ROOT) -> dict[str, str]:
    """Return the version of the course: "build" is a digest of ``depends``.

    "course" is the git commit, which is missing if there is none.
    """
    build = hashlib.sha256("\0".join(depends).encode()).hexdigest()[:12]
    commit = _commit(root) if (root / ".git").exists() else ""
    return ({"course": commit} if commit else {}) | {"build": build}


def _commit(root: Path) -> str:
    """The commit, with "-dirty" if files differ from it; "" where git cannot tell."""
    command = ("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    try:
        run = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip()


@functools.cache
def machine_version() -> Mapping[str, str]:
    """The versions of the programs that grade here, and the processor, by name."""
    return {
        "Python": platform.python_version(),
        "PyTorch": importlib.metadata.version("torch"),
        "autograder": __version__,
        "processor": _processor(),
    }


def _processor() -> str:
    """The model name of the processor, or the machine's architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return next(names, "").strip() or platform.machine()


def now() -> str:
    """The time in UTC, to the second."""
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"


def describe(provenance: Mapping[str, str]) -> str:
    """Describe the provenance of a grade in a line; "" if nothing was recorded."""
    return ", ".join(
        provenance[name] if name == "time" else f"{name} {provenance[name]}"
        for name in _ORDER
        if name in provenance
    )


def describe_differences(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Describe how two provenances differ: "PyTorch 2.12 is 2.13 now".

    The time of grading is not compared, nor is anything that only one of them names.
    """
    names = [name for name in _ORDER[1:] if name in before and name in after]
    return ", ".join(
        f"{name} {before[name]} is {after[name]} now"
        for name in names
        if before[name] != after[name]
    )
