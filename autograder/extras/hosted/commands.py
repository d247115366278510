"""The command ``autograder hosted``, which grades one submission for a service."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, flag, option
from autograder.course.errors import UsageError
from autograder.course.files import write

COMMANDS = CommandSet("instructor")


@COMMANDS.graded(
    "hosted", "grade one submission for a hosted service",
    option("--submission", "what a student handed in", "FOLDER",
           type=Path, required=True),
    option("--results", "where to write the result", "FILE", type=Path, required=True),
    option("--format", "gradescope, prairielearn or text", "NAME",
           default="gradescope"),
    option("--tell", "what the student sees: points, cases or panels", "WHAT",
           default="points"),
    flag("--unconfined", "run even if no isolation works, in a temporary container"),
)  # fmt: skip
def _hosted(unit: str, root: Path, options: Namespace) -> int:
    """Grade one submission, and write the result in a service's format."""
    from autograder.extras.hosted import hosted, results

    if options.format not in results.FORMATS:
        raise UsageError(f"--format must be one of {', '.join(results.FORMATS)}")
    if options.tell not in results.TELL:
        raise UsageError(f"--tell must be one of {', '.join(results.TELL)}")
    book = hosted.grade(unit, options.submission, root, options.unconfined)
    (submission,) = book.submissions
    text = results.FORMATS[options.format](book, submission, options.tell)
    write(options.results, text)
    print(
        f"{submission.graded_points:g} of {book.max_points:g} points: {options.results}"
    )
    return 0
