"""A clone of the course, as people have one, and commands that run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.course import ROOT
from autograder.sandbox.client import SERVER_VARIABLE


def checkout(folder: Path) -> Path:
    """A copy of the course as an instructor clones it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def run(clone: Path, *command: str) -> str:
    """Run a module of Python's with the clone's own code; what it prints."""
    environment = {k: v for k, v in os.environ.items() if k != SERVER_VARIABLE}
    process = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=clone,
        text=True,
        check=False,
        env=environment | {"PYTHONPATH": str(clone)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.returncode == 0, process.stdout
    return process.stdout
