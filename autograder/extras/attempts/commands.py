"""The command ``autograder attempts``: how a class got on with each exercise."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, option
from autograder.course.errors import CourseError

COMMANDS = CommandSet("instructor")


@COMMANDS.graded(
    "attempts", "show attempts, if the course records them",
    option("--live", 'read students\' own files, like "/home/*/02_attention"',
           "PATTERN", default=""),
)  # fmt: skip
def _attempts(unit: str, root: Path, options: Namespace) -> int:
    """Print the class's attempts at each exercise, and write them as a page."""
    from autograder.classroom import page
    from autograder.extras.attempts import TEMPLATES, tries

    logs = tries.read(unit, root, options.live)
    attempts = {name: log.attempts for name, log in logs.items() if log.attempts}
    if unreadable := tries.describe_unreadable(logs):
        print(unreadable, file=sys.stderr)
    if not attempts:
        source = options.live or f"the submissions of {unit}"
        raise CourseError(
            f"no record of attempts in {source}; attempts = true in course.toml "
            "has students' notebooks keep one"
        )
    rows, path = tries.table(unit, attempts), root / "reports" / f"{unit}-attempts.html"
    print(tries.as_text(rows))
    print(page.write(
        path, "tries.html.j2", unit, folder=TEMPLATES, rows=rows, students=len(attempts)
    ))  # fmt: skip
    return 0
