"""A student's environment, made for one test and thrown away with it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

PIP = (sys.executable, "-m", "pip")


class Student:
    """An empty environment, which a pip from outside installs into, offline."""

    def __init__(self, folder: Path, pip: tuple[str, ...] = PIP):
        venv.create(folder / "venv")
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.folder, self.python, self.pip = folder, programs / "python", pip

    def install(self, *packages: str | Path, at: Path | None = None) -> str:
        """``pip install``, in a folder; what it says."""
        process = self._run(
            *self.pip, "--python", self.python, "install", "--no-index",
            "--disable-pip-version-check", *packages, at=at,
        )  # fmt: skip
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    def says(self, code: str, at: Path | None = None) -> str:
        """What a program prints that runs in a folder."""
        process = self._run(self.python, "-c", code, at=at)
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout.strip()

    def fails(self, code: str, at: Path | None = None) -> str:
        """The last line of the error that a program ends in; "" if it ends in none."""
        process = self._run(self.python, "-c", code, at=at)
        return process.stderr.strip().rpartition("\n")[2] if process.returncode else ""

    def told(self, message: str, at: Path) -> None:
        """Do what a notebook's first cell says, but for what the wheel depends on."""
        (line,) = re.findall("`%pip install (.+)`", message)
        self.install("--no-deps", *line.split(), at=at)

    def _run(self, *command: str | Path, at: Path | None):
        prefixes = ("PYTHON", "PIP_")  # of this machine's own packages, and its pip
        clean = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
        clean["PIP_CONFIG_FILE"] = os.devnull
        return subprocess.run(
            command, cwd=at or self.folder, env=clean, capture_output=True, text=True
        )
