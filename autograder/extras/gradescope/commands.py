"""``autograder gradescope``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.classroom.classbook import Classbook
from autograder.cli.arguments import UNIT, CommandSet, option
from autograder.course import ROOT, find_unit

COMMANDS = CommandSet("instructor")


@COMMANDS.command(
    "gradescope", "write the zip for Gradescope's autograder, in dist/gradescope/",
    UNIT,
    option("--tell", "what students see at once; they see the rest after the deadline",
           choices=("points", "cases", "panels"), default="points"),
)  # fmt: skip
def _gradescope(options: Namespace) -> int:
    from autograder.extras.gradescope import archive

    unit = find_unit(options.unit)
    path = ROOT / "dist" / "gradescope" / f"{unit.label}.zip"
    print(archive.build(unit, path, options.tell))
    return 0


def _write_grades(book: Classbook, folder: Path) -> tuple[str, ...]:
    from autograder.extras.gradescope import grades

    return grades.write(book, folder)


GRADES = {"gradescope": _write_grades}
