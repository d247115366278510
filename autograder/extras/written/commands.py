"""``autograder written``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, option

COMMANDS = CommandSet("teaching assistant")


@COMMANDS.graded(
    "written", "list written answers, or record their marks",
    option("--from", "record the points and comments of this table", "CSV",
           dest="tables", action="append", default=[], type=Path),
)  # fmt: skip
def _grade_written(unit: str, root: Path, options: Namespace) -> int:
    from autograder.extras.written import written

    for path in options.tables:
        count = written.take_list(unit, root, path)
        print(f"{path}: points for {count}")
    if not options.tables:
        print(*written.write_list(unit, root, root / "reports"), sep="\n")
    return 0
