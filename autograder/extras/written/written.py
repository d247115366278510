"""Written answers as a work list: a page to read them all, and tables to fill in.

A question's rubric, "What a full answer has: one thing (2), another (1).", becomes
columns to tick. What is filled in goes into the gradebook, as if the formgrader had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbgrader import api
from nbgrader.utils import is_grade, is_solution

from autograder.classroom import gradebook, page
from autograder.course import graded_notebooks, notebooks, sheet
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.extras.written import TEMPLATES, comment_bank
from autograder.grading.gradebook.book import Gradebook
from autograder.grading.metadata import GradingMetadata
from autograder.grading.titles import title

_RUBRIC = re.compile(r"What a full answer has:(?P<items>.*?)(?:\n\s*\n|\Z)", re.DOTALL)
# Bytes of an answer in a table, as Excel counts: two for a character, four for a rare
# one. It takes 65,534 in a cell, marks against formulas included (one for each two
# characters at most); what is beyond begins another row.
_LONGEST = 40_000
SAME = "same as"  # the column that names who wrote the same
_NOTHING = (None, "")  # of a row in which nothing is filled in
_POINTS = re.compile(r"\((\d+(?:\.\d+)?)\)[,;.]?")  # behind each item


@dataclass(frozen=True)
class EssayPrompt:
    """A written answer that is asked for; ``items`` of its rubric with their points."""

    name: str
    title: str
    max_points: float
    items: tuple[tuple[str, float], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The titles of the columns to tick."""
        return tuple(f"{text} ({points:g})" for text, points in self.items)


@dataclass(frozen=True)
class Answer:
    """What a student wrote; ``points`` None as long as nobody has graded it."""

    student: str
    name: str
    text: str
    points: float | None
    comment: str

    @property
    def plain(self) -> str:
        """The words alone: answers that are equal in these are graded together."""
        return " ".join(self.text.split()).casefold()

    @property
    def blank(self) -> bool:
        """Whether there is nothing to read."""
        lines = {line.strip(" *_:").casefold() for line in self.text.splitlines()}
        return lines <= {"", "your answer", "your answer here"}


def questions(unit: str, root: Path) -> list[EssayPrompt]:
    """The questions of an assignment, in their order.

    Raises:
        CourseError: it has none.
    """
    prompts, text = [], ""
    path = root / "source" / unit / f"{unit}.ipynb"
    for cell in notebooks.read(path).cells:
        if is_grade(cell) and is_solution(cell):
            mark = cell.metadata.nbgrader
            named = title(unit, mark.grade_id)
            items = tuple(_items(text or cell.source))
            prompts.append(EssayPrompt(mark.grade_id, named, float(mark.points), items))
        text = cell.source if cell.cell_type == "markdown" else ""
    if not prompts:
        raise CourseError(f"{unit} has no written questions")
    return prompts


def _items(text: str) -> Iterator[tuple[str, float]]:
    rubric = _RUBRIC.search(text)
    items = _POINTS.split(rubric["items"].strip().strip("*") if rubric else "")
    for criterion, points in zip(items[::2], items[1::2], strict=False):
        yield " ".join(criterion.split()), float(points)


def answers(unit: str, root: Path, question: EssayPrompt) -> list[Answer]:
    """All graded students' answers to a question, equal ones together.

    Those that wait come first. Refused work is left out: nobody has read it.
    """
    student_answers = []
    names = {student.id: student.name for student in gradebook.students(root)}
    with gradebook.open_gradebook(root) as book:
        for student, path in graded_notebooks(unit, root).items():
            notebook = notebooks.read(path)
            if GradingMetadata.of(notebook).refused:
                continue
            key = question.name, unit, unit, student
            text = _text(notebook, question.name)
            grade, comment = book.find_grade(*key), book.find_comment(*key)
            student_answers.append(Answer(
                student, names.get(student, student), text, grade.manual_score,
                comment.manual_comment or "",
            ))  # fmt: skip
    waiting = {a.plain for a in student_answers if a.points is None}
    first = {a.plain: a.student for a in reversed(student_answers)}

    def order(a: Answer) -> tuple[object, ...]:
        return a.plain not in waiting, a.blank, first[a.plain], a.student

    return sorted(student_answers, key=order)


def grouped(student_answers: Sequence[Answer]) -> list[list[Answer]]:
    """Group the answers that say the same; blank ones are left out."""
    groups: dict[str, list[Answer]] = {}
    for answer in student_answers:
        if not answer.blank:
            groups.setdefault(answer.plain, []).append(answer)
    return list(groups.values())


def _text(notebook: NotebookNode, grade_id: str) -> str:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id:
            return str(cell.source)
    return ""


def write_list(unit: str, root: Path, folder: Path) -> list[Path]:
    """Write the page, and a table to fill in for each question; returns the paths."""
    by_question = [(q, answers(unit, root, q)) for q in questions(unit, root)]
    paths = [folder / f"{unit}-written.html"]
    sections = []
    for question, student_answers in by_question:
        bank = comment_bank.read(comment_bank.place(root, unit, question.name))
        sections.append((question, student_answers, grouped(student_answers), bank))
    html = page.render("written.html.j2", unit, folder=TEMPLATES, sections=sections)
    write(paths[0], html)
    for question, student_answers, groups, _ in sections:
        originals = {a.student: group[0].student for group in groups for a in group[1:]}
        rows = [
            ("student", "name", SAME, "answer", *question.columns, "points", "comment"),
            *(
                (a.student, a.name, originals.get(a.student, ""), _shorten(a.text),
                 *("" for _ in question.items),
                 sheet.number(a.points), a.comment)
                for a in student_answers
            ),
        ]  # fmt: skip
        text = sheet.as_harmless_text(rows)
        paths.append(folder / f"{unit}-{question.name}.csv")
        write(paths[-1], text)
    return paths


def _shorten(text: str) -> str:
    """Shorten an answer to what a spreadsheet holds; the page has all of it."""
    data = text.encode("utf-16-le", "replace")
    if len(data) <= _LONGEST:
        return text
    return f"{data[:_LONGEST].decode('utf-16-le', 'ignore')} [...]"


def take_list(unit: str, root: Path, path: Path) -> int:
    """Record a filled-in table in the gradebook; returns for how many students.

    "points" counts where it is filled in, else the ticked items; a row in which nothing
    is filled in counts like the row that its "same as" names, or changes nothing.
    All of a table counts, or, after an error, none of it.

    Raises:
        CourseError: the table is of no question, or has points that cannot be.
    """
    table = sheet.read(path)
    stem = path.stem.removeprefix(f"{unit}-")
    matches = [q for q in questions(unit, root) if q.name == stem]
    if not matches:
        raise CourseError(f"{path}: its name matches no question of {unit}")
    question = matches[0]
    marks: dict[str, tuple[float | None, str]] = {}
    bank_path = comment_bank.place(root, unit, question.name)
    bank = before = comment_bank.read(bank_path)
    lines = [text for text, _ in question.items]
    for row in table.rows:
        student = sheet.as_meant(table.cell(row, "student"))
        try:
            typed = sheet.as_meant(table.cell(row, "comment"))
            comment, bank = comment_bank.expand_comment(typed, bank, lines)
        except CourseError as error:
            raise CourseError(f"{path}: {student}: {error}") from None
        mark = _points(question, table, row, path), comment
        if marks.setdefault(student, mark) != mark:
            raise CourseError(f"{path}: two rows of {student} contradict each other")
    for row in table.rows:
        student, original = (
            sheet.as_meant(table.cell(row, t)) for t in ("student", SAME)
        )
        if marks[student] == _NOTHING and original in marks:
            marks[student] = marks[original]
    count = _record(unit, root, question, marks)
    if bank != before:
        comment_bank.write(bank_path, bank)
    return count


def _points(
    question: EssayPrompt, table: sheet.Sheet, row: Sequence[str], path: Path
) -> float | None:
    text = table.cell(row, "points")
    ticked = [
        points
        for column, (_, points) in zip(question.columns, question.items, strict=True)
        if table.cell(row, column)
    ]
    if not text and not ticked:
        return None
    try:
        points = float(text.replace(",", ".")) if text else sum(ticked)
    except ValueError:
        points = -1.0
    if not 0 <= points <= question.max_points:
        student = table.cell(row, "student")
        raise CourseError(
            f'{path}: "{text}" for {student} is not between 0 and '
            f"{question.max_points:g}"
        )
    return points


def _record(
    unit: str, root: Path, question: EssayPrompt,
    marks: Mapping[str, tuple[float | None, str]],
) -> int:  # fmt: skip
    def write_marks(book: Gradebook) -> int:
        count = 0
        for student, (points, comment) in marks.items():
            try:
                grade = book.find_grade(question.name, unit, unit, student)
            except api.MissingEntry:
                raise CourseError(f"{student} has no graded submission") from None
            if points is not None:
                grade.manual_score, grade.needs_manual_grade = points, False
                count += 1
            if comment:
                stored_comment = book.find_comment(question.name, unit, unit, student)
                stored_comment.manual_comment = comment
        book.finish()
        return count

    return gradebook.change(root, write_marks)
