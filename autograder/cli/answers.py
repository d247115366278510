"""Commands about what students wrote: pairs, questions, answers without a name."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.cli.arguments import Commands, add_graded
from autograder.course import find_unit
from autograder.course.errors import CourseError
from autograder.course.files import write


def add(commands: Commands) -> None:
    """Add the commands to an argument parser's."""
    add_graded(commands, "similarity", _similarity, "list pairs of similar solutions")
    _add_questions(commands)
    _add_unnamed(commands)
    attempts = add_graded(
        commands, "attempts", _attempts, "show attempts, if the course records them"
    )
    attempts.add_argument(
        "--live", default="", metavar="PATTERN",
        help='read students\' own files, like "/home/*/02_attention"',
    )  # fmt: skip


def _add_questions(commands: Commands) -> None:
    text = "make sheets with questions about each student's own accepted code"
    command = add_graded(commands, "questions", _questions, text)
    command.add_argument(
        "--student", action="append", dest="students", default=[], metavar="STUDENT",
        help="only this student; can be repeated",
    )  # fmt: skip
    command.add_argument(
        "--quiz", action="store_true",
        help="also write a notebook for each student, to be graded as quiz-UNIT",
    )  # fmt: skip


def _add_unnamed(commands: Commands) -> None:
    unnamed = add_graded(
        commands, "unnamed", _unnamed, "group wrong answers that no mistake names"
    )
    unnamed.add_argument(
        "--from", dest="table", type=Path, metavar="CSV",
        help="keep the sentences of this table for the next feedback",
    )  # fmt: skip
    unnamed.add_argument(
        "--adopt", nargs=2, metavar=("GROUP", "NAME"),
        help="make a group's program a mistake of its exercise, with this name",
    )  # fmt: skip
    unnamed.add_argument(
        "--asks", default="", metavar="QUESTION", help="the question of that mistake"
    )


def _similarity(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, page, similarity

    unit = gradebook.find_assignment(options.unit, options.course)
    answers = similarity.read(unit, options.course)
    found = similarity.compare(answers, similarity.released(unit, options.course))
    path = options.course / "reports" / f"{unit}-similarity.html"
    write(path, similarity.as_html(unit, found, answers, page.today()))
    print(similarity.as_text(unit, found), f"side by side: {path}", sep="\n\n")
    return 0


def _questions(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, page, question_quizzes, question_sheets

    root = options.course
    unit = gradebook.find_assignment(options.unit, root)
    sheets, remarks = question_sheets.made(unit, root, options.students)
    said = [*remarks, *question_sheets.write(unit, root, sheets, page.today())]
    if options.quiz and sheets:
        said += question_quizzes.write(unit, root, sheets)
        name = question_quizzes.assignment_of(unit)
        said.append(f"to have it graded, run once: nbgrader generate_assignment {name}")
    print(*said, sep="\n")
    return 0 if sheets else 1


def _unnamed(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, page, unnamed

    label = gradebook.find_assignment(options.unit, options.course)
    if options.adopt:
        if not options.asks:
            raise CourseError("give the mistake's question with --asks")
        unit = find_unit(label.partition("_")[2])
        key, name = options.adopt
        path = unnamed.adopt(unit, options.course, key, name, options.asks)
        print(f"{path}: read it; a student wrote its program. Then run:")
        print(f"make build UNIT={unit.number} && make validity UNIT={unit.number}")
        return 0
    if options.table:
        count = unnamed.take_sentences(label, options.course, options.table)
        print(f"{options.table}: for {count} students, with their next feedback:")
        print(f"nbgrader generate_feedback {label} --force")
        return 0
    print(*unnamed.write_list(label, options.course, page.today()), sep="\n")
    return 0


def _attempts(options: argparse.Namespace) -> int:
    from autograder.classroom import gradebook, page, tries

    unit = gradebook.find_assignment(options.unit, options.course)
    made = tries.read(unit, options.course, options.live)
    if not made:
        where = options.live or f"the submissions of {unit}"
        raise CourseError(
            f"no record of attempts in {where}; attempts = true in [tool.autograder] "
            "of pyproject.toml has students' notebooks keep one"
        )
    print(tries.as_text(tries.table(unit, made)))
    print(tries.write_page(unit, options.course, made, page.today()))
    return 0
