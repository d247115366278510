"""Wrong answers that match no known mistake, in groups that a teacher can name.

The answers of a group fail in the same way. A teacher's sentence about a group
is sent to its students with their next feedback. The group's shortest program
can also be added to the exercise as a known mistake.
"""

from __future__ import annotations

import ast
import contextlib
import re
import textwrap
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring.catalogue import specification
from autograder.authoring.trees import drop_docstrings
from autograder.classroom import answers, gradebook, page
from autograder.classroom.classbook import Classbook, Submission
from autograder.course import Unit, files, grade_ids, sheet
from autograder.course.errors import CourseError
from autograder.extras.unnamed import TEMPLATES
from autograder.grading import sentences
from autograder.grading.titles import title

_LONGEST = 5_000  # characters of a program that are shown


@dataclass(frozen=True)
class AnswerGroup:
    """Answers to one exercise that fail in the same way.

    Attributes:
        key: the group's key; see `sentences.group_of`.
        exercise: the grade id of the exercise's check.
        panel: the check's panel for a student of the group.
        program: the shortest answer, without comments; "" if none can be parsed.
        sentence: the teacher's sentence; "" if there is none yet.
    """

    key: str
    exercise: str
    students: tuple[str, ...]
    panel: str
    program: str
    sentence: str


def groups(unit: str, root: Path) -> list[AnswerGroup]:
    """Return the groups of wrong answers in a graded unit, the largest first.

    A group's answers fail in the same way, so that one sentence can explain all.

    Raises:
        CourseError: nothing is graded yet, or a notebook or table cannot be read.
    """
    members = _members(gradebook.read(unit, root))
    codes, by_key = answers.read(unit, root), sentences.read(root, unit)
    answer_groups = []
    for key, those in members.items():
        first, exercise = those[0]
        students = tuple(submission.student.id for submission, _ in those)
        programs = [_bare(codes.get(name, {}).get(exercise, "")) for name in students]
        shortest = min(filter(None, programs), key=len, default="")
        panel, sentence = first.records[exercise].panel, by_key.get(key, "")
        group = AnswerGroup(key, exercise, students, panel, shortest, sentence)
        answer_groups.append(group)
    return sorted(answer_groups, key=lambda g: (-len(g.students), g.exercise, g.key))


def _members(book: Classbook) -> dict[str, list[tuple[Submission, str]]]:
    """Map the key of each group to its answers.

    An answer is a pair: the submission, and the grade id of the exercise's check.
    """
    members: dict[str, list[tuple[Submission, str]]] = defaultdict(list)
    for submission in book.accepted:
        for exercise, verdict in submission.records.items():
            if key := sentences.group_of(verdict):
                members[key].append((submission, exercise))
    return members


def _bare(code: str) -> str:
    """A program without comments, docstrings and blank lines; "" if it is invalid."""
    try:
        tree = ast.parse(code)
        drop_docstrings(tree)
        return ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def write_list(unit: str, root: Path) -> list[Path]:
    """Write a page that shows all groups, and a table for the teacher's sentences.

    `take_sentences` reads the table when it is filled in. Returns both paths.

    Raises:
        CourseError: as `groups`.
    """
    answer_groups = groups(unit, root)
    rows = [("group", "exercise", "students", "sentence")]
    rows += [
        (g.key, title(unit, g.exercise), str(len(g.students)), g.sentence)
        for g in answer_groups
    ]
    cut_groups = [replace(g, program=g.program[:_LONGEST]) for g in answer_groups]
    html = page.render("unnamed.html.j2", unit, folder=TEMPLATES, groups=cut_groups)
    path = root / "reports" / f"{unit}-unnamed.html"
    return page.write_both(path, html, sheet.as_harmless_text(rows))


def take_sentences(unit: str, root: Path, path: Path) -> int:
    """Store the sentences that a teacher has written into the table of `write_list`.

    Returns:
        The number of students to whom they apply.

    Raises:
        CourseError: nothing is graded yet, or the table is unreadable or outdated.
    """
    members = _members(gradebook.read(unit, root))
    new_sentences = sentences.from_table(path)
    if unknown := sorted(set(new_sentences) - set(members)):
        raise CourseError(
            f"{path}: there is no group {unknown[0]} in {unit}; "
            "write the table again with autograder unnamed"
        )
    sentences.keep(root, unit, new_sentences)
    return len({s.student.id for key in new_sentences for s, _ in members[key]})


def adopt(unit: Unit, root: Path, key: str, name: str, asks: str) -> Path:
    """Add a group's program to its exercise as a known mistake; return the file.

    The program is stored as data, since a student wrote it. ``asks`` is the
    question with which a check points a student to the mistake.

    Raises:
        CourseError: the group, the name or the exercise's file is not suitable.
    """
    by_key = {group.key: group for group in groups(unit.label, root)}
    if key not in by_key:
        raise CourseError(f"there is no group {key} in {unit.label}")
    group = by_key[key]
    if not group.sentence or not group.program:
        missing = "sentence; record one with --from" if group.program else "program"
        raise CourseError(f"group {key} has no {missing}")
    exercise = grade_ids.exercise_of(group.exercise)
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise CourseError(f'"{name}" cannot name a mistake; write it like_this')
    if name in {mutant.name for mutant in specification(exercise).mutants}:
        raise CourseError(f"{exercise} already has a mistake {name}")
    short = exercise.partition("/")[2]
    path = unit.folder / "exercises" / f"{short}.py"
    files.write(path, _with_mistake(path, _mistake(group, name, asks)))
    return path


def _mistake(group: AnswerGroup, name: str, asks: str) -> str:
    """Write a group's program as an entry of an exercise's list MISTAKES."""
    lines = [repr(line) for line in group.program.splitlines(keepends=True)]
    program = textwrap.indent("\n".join(lines), " " * 14)
    return (
        f"    wrong({name!r},\n          {group.sentence!r},\n          {asks!r},\n"
        f"          student_program(\n{program})),\n"
    )


def _with_mistake(path: Path, mistake: str) -> str:
    """Return the text of an exercise's file with a mistake in its list MISTAKES.

    Raises:
        CourseError: the file is not written in the usual form.
    """
    text = path.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        match node:
            case ast.Assign([ast.Name("MISTAKES")], value):
                # Of a sum of lists, the first is meant.
                while isinstance(value, ast.BinOp):
                    value = value.left
                if isinstance(value, ast.List) and value.end_lineno:
                    lines = text.splitlines(keepends=True)
                    lines.insert(value.end_lineno - 1, mistake)
                    changed = _import_word("".join(lines))
                    with contextlib.suppress(SyntaxError):
                        ast.parse(changed)
                        return changed
    raise CourseError(
        f'{path} has no list MISTAKES that ends in a comma and a line with "]"; add '
        f"this by hand:\n{mistake}"
    )


def _import_word(text: str) -> str:
    """Return the text of an exercise's file with an import of ``student_program``.

    Raises:
        CourseError: the file has no import that could be extended.
    """
    match = re.search(r"from autograder\.authoring\.notation import ([\w, ]+)\n", text)
    if match is None:
        raise CourseError("the exercise's file imports nothing from the notation")
    names = re.split(r"[,\s]+", match[1])
    if "student_program" in names:
        return text
    listed = ", ".join(sorted({*names, "student_program"}))
    line = f"from autograder.authoring.notation import {listed}\n"
    return text.replace(match[0], line)
