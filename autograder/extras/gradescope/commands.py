"""The command ``autograder gradescope``, and the format "gradescope" for grades."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.classroom.classbook import Classbook
from autograder.cli.arguments import UNIT, CommandSet, option
from autograder.course import ROOT, find_unit
from autograder.course.files import write

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
    """Write ``<student>/results.json`` for each student; return remarks."""
    from autograder.classroom import exports
    from autograder.extras.hosted import results

    for submission in book.submissions:
        text = results.gradescope(book, submission, "panels")
        write(folder / submission.student.id / "results.json", text)
    return exports.waiting(book)


GRADES = {"gradescope": _write_grades}
