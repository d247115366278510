"""``autograder written``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, flag, option
from autograder.course.errors import UsageError

COMMANDS = CommandSet("teaching assistant")


@COMMANDS.graded(
    "written", "list written answers, or record their marks",
    option("--from", "record the points and comments of this table", "CSV",
           dest="tables", action="append", default=[], type=Path),
    flag("--replace", "with --from: also what somebody else has marked meanwhile"),
    flag("--blind", "list without names, under pseudonyms"),
    option("--part", "list a part only, like 1/2; equal answers stay together", "K/N",
           default=""),
)  # fmt: skip
def _grade_written(unit: str, root: Path, options: Namespace) -> int:
    """Write the list of written answers, or record the points of filled-in lists."""
    from autograder.extras.written import division, marks, written

    if options.tables and (options.blind or options.part):
        raise UsageError("--blind and --part are for the list; leave them out here")
    if options.replace and not options.tables:
        raise UsageError("--replace needs --from TABLE.csv")
    for path in options.tables:
        count = marks.take_list(unit, root, path, options.replace)
        print(f"{path}: points for {count}")
    if not options.tables:
        part = division.parse_part(options.part) if options.part else None
        folder = root / "reports"
        paths = written.write_list(unit, root, folder, options.blind, part)
        print(*paths, sep="\n")
    return 0
