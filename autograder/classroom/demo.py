"""The main job from end to end: release, sample class, grade, feedback, table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from autograder.build.course import build
from autograder.build.notebook import write
from autograder.classroom import sample, table
from autograder.course import ROOT, Unit
from autograder.errors import CourseError


def run(units: Sequence[Unit], root: Path) -> None:
    """Play a term in the course folder ``root`` and print the class's table.

    Raises:
        CourseError: a step failed; the text says which, and where its output is.
    """
    root.mkdir(exist_ok=True)
    for unit in tqdm(units, "build", unit="unit"):
        build(unit)
        write(root / "source" / unit.label / unit.source.name, unit.source.read_bytes())
    write(root / "nbgrader_config.py", (ROOT / "nbgrader_config.py").read_bytes())
    for unit in tqdm(units, "sample class", unit="unit"):
        sample.hand_in(unit, root)
    for unit in units:
        if not (root / "release" / unit.label).is_dir():
            nbgrader(root, "generate_assignment", unit.label)
        nbgrader(root, "autograde", unit.label)
        nbgrader(root, "generate_feedback", unit.label)
    for unit in units:
        print(f"\n{table.as_text(unit, table.read(unit, root))}")
    print(f"\nfeedback:  {root / 'feedback'}\ngradebook: {root / 'gradebook.db'}")


def nbgrader(root: Path, command: str, assignment: str) -> None:
    """Run a real ``nbgrader`` command in a course folder.

    Raises:
        CourseError: it failed; its output is in the text.
    """
    program = Path(sys.executable).with_name("nbgrader")
    if not program.is_file():
        program = Path(shutil.which("nbgrader") or "nbgrader")
    print(f"nbgrader {command} {assignment}", flush=True)
    log = root / f"{command}.log"
    with log.open("w") as output:
        done = subprocess.run(
            [program, command, assignment], cwd=root, env=os.environ, stdout=output,
            stderr=None if command == "autograde" else output, check=False,
        )  # fmt: skip
    if done.returncode:
        raise CourseError(f"`nbgrader {command} {assignment}` failed; see {log}")
