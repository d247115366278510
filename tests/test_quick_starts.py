"""The first commands of README and docs, run as they stand there, in a clean clone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course import ROOT, find_unit
from tests.accounts import checkout

UNIT = find_unit("attention")


def lines(document: str, heading: str) -> list[str]:
    """The commands in the first block below a heading."""
    text = (ROOT / document).read_text(encoding="utf-8")
    part = text.split(f"\n{heading}\n")[1]
    return re.search(r"^```\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)[
        1
    ].splitlines()


def run(command: str, folder: Path) -> str:
    """Run a command with the environment's programs on the PATH and no others."""
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        text=True,
        check=False,
        env={
            "PATH": str(Path(sys.executable).parent),
            "HOME": str(folder.parent),
            "PYTHONPATH": str(folder),
            "OMP_NUM_THREADS": "1",
            "LANG": "C.UTF-8",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def hand_in(clone: Path, student: str) -> None:
    folder = clone / "submitted" / student / UNIT.label
    folder.mkdir(parents=True)
    (folder / UNIT.release.name).write_bytes(UNIT.release.read_bytes())


@pytest.mark.slow
def test_the_instructor_grades_a_clone_at_once(tmp_path):
    clone = checkout(tmp_path / "course")
    hand_in(clone, "ada")
    commands = lines("docs/instructor.md", "## Run a unit")
    assert len(commands) == 2
    said = [run(command, clone) for command in commands]
    assert "1 graded" in said[0]
    assert (clone / "feedback" / "ada" / UNIT.label / f"{UNIT.label}.html").is_file()
    assert not (clone / "release.part").exists()


def test_the_readme_asks_for_nothing_else():
    """What comes before is the environment; the last line is the instructor's first."""
    commands = lines("README.md", "## For instructors")
    assert commands[0].startswith("git clone ") and "-m venv" in commands[1]
    assert commands[2].startswith("pip install ") and os.path.exists(
        ROOT / re.search(r"--constraint (\S+)", commands[2])[1]
    )
    assert commands[3:] == lines("docs/instructor.md", "## Run a unit")[:1]
