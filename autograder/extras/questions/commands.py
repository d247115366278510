"""The command ``autograder questions``, which asks students about their own code."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, flag, option

COMMANDS = CommandSet("teaching assistant")


@COMMANDS.graded(
    "questions", "make sheets with questions about each student's own accepted code",
    option("--student", "only this student; can be repeated", "STUDENT",
           action="append", dest="students", default=[]),
    flag("--quiz",
         "also write a notebook for each student, to be graded as quiz-UNIT"),
)  # fmt: skip
def _questions(unit: str, root: Path, options: Namespace) -> int:
    from autograder.extras.questions import quizzes
    from autograder.extras.questions.sheets import make_sheets, write

    sheets, remarks = make_sheets(unit, root, options.students)
    lines = [*remarks, *write(unit, root, sheets)]
    if options.quiz and sheets:
        lines += quizzes.write(unit, root, sheets)
        name = quizzes.assignment_of(unit)
        lines.append(
            f"to have it graded, run once: nbgrader generate_assignment {name}"
        )
    print(*lines, sep="\n")
    return 0 if sheets else 1
