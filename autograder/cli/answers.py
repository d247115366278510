"""Commands about what students wrote: pairs, questions, answers without a name."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from autograder.cli.arguments import CommandSet, flag, option
from autograder.course import find_unit
from autograder.course.errors import CourseError, UsageError
from autograder.course.files import write

COMMANDS = CommandSet()


@COMMANDS.graded("similarity", "list pairs of similar solutions")
def _similarity(unit: str, root: Path, _: Namespace) -> int:
    from autograder.classroom import similarity

    answers = similarity.read(unit, root)
    found = similarity.compare(answers, similarity.released(unit, root))
    path = root / "reports" / f"{unit}-similarity.html"
    write(path, similarity.as_html(unit, found, answers))
    print(similarity.as_text(unit, found), f"side by side: {path}", sep="\n\n")
    return 0


@COMMANDS.graded(
    "questions", "make sheets with questions about each student's own accepted code",
    option("--student", "only this student; can be repeated", "STUDENT",
           action="append", dest="students", default=[]),
    flag("--quiz",
         "also write a notebook for each student, to be graded as quiz-UNIT"),
)  # fmt: skip
def _questions(unit: str, root: Path, options: Namespace) -> int:
    from autograder.classroom import question_quizzes, question_sheets

    sheets, remarks = question_sheets.made(unit, root, options.students)
    said = [*remarks, *question_sheets.write(unit, root, sheets)]
    if options.quiz and sheets:
        said += question_quizzes.write(unit, root, sheets)
        name = question_quizzes.assignment_of(unit)
        said.append(f"to have it graded, run once: nbgrader generate_assignment {name}")
    print(*said, sep="\n")
    return 0 if sheets else 1


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
    from autograder.classroom import unnamed

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
        print(f"{options.table}: for {count} students, with their next feedback:")
        print(f"nbgrader generate_feedback {label} --force")
        return 0
    print(*unnamed.write_list(label, root), sep="\n")
    return 0


@COMMANDS.graded(
    "attempts", "show attempts, if the course records them",
    option("--live", 'read students\' own files, like "/home/*/02_attention"',
           "PATTERN", default=""),
)  # fmt: skip
def _attempts(unit: str, root: Path, options: Namespace) -> int:
    from autograder.classroom import page, tries

    logs = tries.read(unit, root, options.live)
    made = {name: log.attempts for name, log in logs.items() if log.attempts}
    if unreadable := tries.describe_unreadable(logs):
        print(unreadable, file=sys.stderr)
    if not made:
        where = options.live or f"the submissions of {unit}"
        raise CourseError(
            f"no record of attempts in {where}; attempts = true in course.toml "
            "of pyproject.toml has students' notebooks keep one"
        )
    rows, path = tries.table(unit, made), root / "reports" / f"{unit}-attempts.html"
    print(tries.as_text(rows))
    print(page.write(path, "tries.html.j2", unit, rows=rows, students=len(made)))
    return 0
