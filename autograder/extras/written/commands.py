"""The command ``autograder written``, with which people grade written answers."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, flag, option
from autograder.course.errors import UsageError
from autograder.course.printable import format_count

COMMANDS = CommandSet("teaching assistant")


@COMMANDS.graded(
    "written", "list written answers, or record their marks",
    option("--from", "record the points and comments of this table", "CSV",
           dest="tables", action="append", default=[], type=Path),
    flag("--replace", "with --from: also what somebody else has marked meanwhile"),
    flag("--blind", "list without names, under pseudonyms"),
    option("--part", "list a part only, like 1/2; equal answers stay together", "K/N",
           default=""),
    option("--section", "list only the students of this section of the roster", "NAME",
           default=""),
)  # fmt: skip
def _grade_written(unit: str, root: Path, options: Namespace) -> int:
    """Write the list of written answers, or record the points of filled-in lists."""
    from autograder.classroom import gradebook
    from autograder.classroom.lms import stored_roster
    from autograder.course import graded_notebooks
    from autograder.extras.written import division, marks, written

    if options.tables and (options.blind or options.part or options.section):
        raise UsageError(
            "--blind, --part and --section are for the list; leave them out here"
        )
    if options.replace and not options.tables:
        raise UsageError("--replace needs --from TABLE.csv")
    gradebook.read(unit, root)  # refuses marks out of other points than are recorded
    for path in options.tables:
        count = marks.take_list(unit, root, path, options.replace)
        print(f"{path}: points for {count}")
    if not options.tables:
        part = division.parse_part(options.part) if options.part else None
        folder = root / "reports"
        name = options.section
        section = division.find_section(root, name) if name else None
        paths = written.write_list(unit, root, folder, options.blind, part, section)
        print(*paths, sep="\n")
        if section:
            graded = graded_notebooks(unit, root)
            unassigned = sorted(graded.keys() - stored_roster.sections(root).keys())
            if unassigned:
                print(
                    f"{format_count(len(unassigned), 'student')} in no section: "
                    f"{', '.join(unassigned)}; the list without --section has them"
                )
    return 0
