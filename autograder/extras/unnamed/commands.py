"""The command ``autograder unnamed``, which groups unexplained wrong answers."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, option
from autograder.course import find_unit
from autograder.course.errors import UsageError
from autograder.course.printable import format_count

COMMANDS = CommandSet("instructor")


@COMMANDS.graded(
    "unnamed", "group wrong answers that no mistake names",
    option("--from", "keep the sentences of this table for the next feedback", "CSV",
           dest="table", type=Path),
    option("--adopt",
           "make a group's program a mistake of its exercise, with this name",
           ("GROUP", "NAME"), nargs=2),
    option("--asks", "the question of that mistake", "QUESTION", default=""),
)  # fmt: skip
def _unnamed(label: str, root: Path, options: Namespace) -> int:
    """List the groups of unexplained answers, or act on them.

    Acting means to store a teacher's sentences, or to adopt a group as a mistake.
    """
    from autograder.extras.unnamed import unnamed

    if options.adopt:
        if not options.asks:
            raise UsageError("give the mistake's question with --asks")
        unit = find_unit(label.partition("_")[2])
        key, name = options.adopt
        path = unnamed.adopt(unit, root, key, name, options.asks)
        print(f"{path}: read it; a student wrote its program. Then run:")
        print(f"make build UNIT={unit.number} && make validity UNIT={unit.number}")
        return 0
    if options.table:
        count = unnamed.take_sentences(label, root, options.table)
        students = format_count(count, "student")
        print(f"{options.table}: for {students}, with their next feedback:")
        print(f"nbgrader generate_feedback {label} --force")
        return 0
    print(*unnamed.write_list(label, root), sep="\n")
    return 0
