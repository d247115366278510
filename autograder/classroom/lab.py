"""Open JupyterLab as students see it: without instructors' tools, ready to hand in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from autograder.classroom import gradebook
from autograder.course import Unit, child, notebooks
from autograder.course.errors import CourseError
from autograder.course.files import write

# An administrator also copies this to /etc/jupyter, where only students log in.
STUDENT_JUPYTER = Path(__file__).parent / "student_jupyter"

_NBGRADER = """\
c = get_config()  # noqa: F821
c.CourseDirectory.course_id = {course!r}
c.Exchange.root = {exchange!r}
c.ExchangeSubmit.strict = True  # a renamed notebook is refused, with its name
"""


def prepare(units: Sequence[Unit], root: Path) -> Path:
    """Set up the folder ``root`` for a student; return the student's working folder.

    The folder gets Jupyter's settings, and an exchange to which work is handed in.

    Raises:
        CourseError: a release is damaged, or nbgrader cannot release it.
    """
    exchange = root / "exchange"
    course = gradebook.database_of(units[0].root)[1]
    config = _NBGRADER.format(exchange=str(exchange), course=course)
    # For JupyterLab, wherever it is started, and for `nbgrader` in a terminal there.
    write(root / "jupyter" / "nbgrader_config.py", config)
    write(root / "student" / "nbgrader_config.py", config)
    for unit in tqdm(units, "release", unit="unit"):
        copy = root / "student" / unit.label / unit.release.name
        # A copy that is there already may hold a student's work.
        if not copy.exists():
            write(copy, notebooks.read_valid_text(unit.release))
        _release(unit, exchange)
    return root / "student"


def environment(root: Path) -> dict[str, str]:
    """The environment variables that give Jupyter a student's settings in ``root``."""
    before = os.environ.get("JUPYTER_CONFIG_PATH", "")
    paths = [str(root / "jupyter"), str(STUDENT_JUPYTER), *filter(None, [before])]
    return {**os.environ, "JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}


def run(root: Path) -> int:
    """Open JupyterLab in the student's folder, and return its exit status."""
    flags = ["--allow-root"] if os.geteuid() == 0 else []
    command, folder = ["jupyter", "lab", *flags], root / "student"
    process = subprocess.run(command, cwd=folder, env=environment(root), check=False)
    return process.returncode


def _release(unit: Unit, exchange: Path) -> None:
    """Put a unit's release into the exchange, unless the same is there already."""
    released = unit.release.read_bytes()
    copies = exchange.glob(f"*/outbound/{unit.label}/{unit.release.name}")
    if any(path.read_bytes() == released for path in copies):
        return
    process = child.nbgrader(
        unit.root, "release_assignment", unit.label, "--force",
        f"--CourseDirectory.root={unit.root}", f"--Exchange.root={exchange}",
        capture_output=True,
    )  # fmt: skip
    if process.returncode:
        raise CourseError(f"cannot release {unit.label}:\n{process.stderr}")
