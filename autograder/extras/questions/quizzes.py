"""Quizzes: a notebook for each student with their sheet's questions, to hand in."""

from __future__ import annotations

import hashlib
import itertools
import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import compute_checksum

from autograder.classroom.feedback_archive import pack
from autograder.course import files
from autograder.extras.questions import assignments
from autograder.extras.questions.question import LETTERS
from autograder.extras.questions.sheets import QuestionSheet
from autograder.grading.extra_cells import SCORED_BY

POINTS = 6.0  # for a quiz; the instructor may change them in its source
_INTRO = """\
# Questions about your code

Each question has exactly one correct answer. Rows, positions and dimensions count
from 0. Write the letters into the cell below the last question, run that cell and the
next one, and hand in this notebook."""
_STUB = "### BEGIN SOLUTION\n### END SOLUTION"
_CHECK = """\
# Each answer has to be one of the letters A to D.
assert answers, "this notebook has no questions: use the one that you were given"
open_ = [number for number, letter in answers.items() if letter not in [*"ABCD"]]
assert not open_, f"no letter from A to D for the questions {open_}\""""


def assignment_of(unit: str) -> str:
    """The name of a unit's quiz: "quiz-02" for "02_attention"."""
    return f"quiz-{unit.partition('_')[0]}"


def write(unit: str, root: Path, sheets: Sequence[QuestionSheet]) -> Iterator[Path]:
    """Write students' quizzes, their keys, and the source of the quiz assignment.

    Yields the paths: the zips for the LMS, then the source, which is kept if it
    exists.

    Raises:
        CourseError: something cannot be written.
    """
    assignment, reports = assignment_of(unit), root / "reports"
    assignments.keep(root, assignment, {
        sheet.student.id: {
            _name(unit, sheet): "".join(question.letter for _, question in sheet.key)
        }
        for sheet in sheets
    })  # fmt: skip
    paths = {}
    for sheet in sheets:
        path = reports / f"{unit}-questions" / f"{sheet.student.id}.ipynb"
        files.write(path, nbformat.writes(_notebook(_name(unit, sheet), sheet)))
        paths[sheet.student.id] = path
    yield from pack(unit, root, paths, reports / assignment, f"{assignment}.ipynb")
    source = root / "source" / assignment / f"{assignment}.ipynb"
    if not source.is_file():
        files.write(source, nbformat.writes(_notebook()))
    yield source


def _name(unit: str, sheet: QuestionSheet) -> str:
    """A quiz's name: a hash of the unit, the student and the questions."""
    questions = [(question.text, question.options) for _, question in sheet.key]
    text = json.dumps([unit, sheet.student.id, questions])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _notebook(name: str = "", sheet: QuestionSheet | None = None) -> NotebookNode:
    """A student's quiz; without a sheet, the source of the assignment."""
    texts = [_INTRO]
    answers = f'quiz = "{name}"  # leave this line as it is\nanswers = {{}}'
    if sheet:
        texts = [f"{_INTRO}\n\n*{sheet.student.full}*", *_texts(sheet)]
        rows = "".join(f'    {n}: "",\n' for n in range(1, len(sheet.key) + 1))
        answers = answers.replace("{}", f"{{\n{rows}}}")
    cells = [
        *map(new_markdown_cell, texts),
        new_code_cell(answers if sheet else f"{answers}\n{_STUB}"),
        new_code_cell(_CHECK),
    ]
    for number, cell in enumerate(cells):
        cell.id = f"quiz-{number}"
        cell.metadata = {"deletable": False, "editable": False}
    _mark(cells[-2], assignments.ANSWER, locked=False)
    _mark(cells[-1], assignments.CHECK, grade=True, points=POINTS)
    cells[-1].metadata[SCORED_BY] = "questions"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook: NotebookNode = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    return notebook


def _mark(cell: NotebookNode, grade_id: str, **settings: object) -> None:
    """Set a cell's id and nbgrader's metadata; ``settings`` override the defaults."""
    locked = bool(settings.get("locked", True))
    cell.id = grade_id
    cell.metadata = NotebookNode(deletable=False, editable=not locked)
    cell.metadata["nbgrader"] = NotebookNode({
        "grade": False, "grade_id": grade_id, "locked": locked, "schema_version": 3,
        "solution": not locked, "task": False, "cell_type": "code", **settings,
    })  # fmt: skip
    cell.metadata["nbgrader"]["checksum"] = compute_checksum(cell)


def _texts(sheet: QuestionSheet) -> Iterator[str]:
    """The Markdown cells of a quiz: the code of each answer, then its questions."""
    numbers = itertools.count(1)
    for part in sheet.parts:
        code = textwrap.indent(part.code, "    ")
        yield f"## {part.title}\n\n{code}\n\nThe call: {part.call}."
        for question in part.questions:
            options = zip(LETTERS, question.options, strict=False)
            listed = "\n".join(f"- **{letter}** {option}" for letter, option in options)
            yield f"**Question {next(numbers)}.** {question.text}\n\n{listed}"
