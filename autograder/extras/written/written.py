"""Lists of written answers to grade: a page to read them, and tables to fill in.

A question's rubric, such as "Points: one thing (2), another (1).", becomes columns to
tick; `marks` records a filled-in table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
from autograder.extras.written.division import Part, RosterSection, pseudonyms
from autograder.grading.gradebook import hand_log
from autograder.grading.gradebook.book import cell_name
from autograder.grading.gradebook.hand_log import HandEntry
from autograder.grading.metadata import GradingMetadata
from autograder.grading.titles import title

_RUBRIC = re.compile(r"Points:(?P<items>.*?)(?:\n\s*\n|\Z)", re.DOTALL)
# Bytes of an answer in a table, in UTF-16, which Excel uses. A cell holds 65,534 bytes,
# including the marks against formulas (at most one for every two characters); longer
# text would continue in a new row.
_LONGEST = 40_000
SAME = "same as"  # the column that names who wrote the same
MARKED = "marked by"  # the column that names who marked it last, and when
_POINTS = re.compile(r"\((\d+(?:\.\d+)?)\)[,;.]?")  # after each item


@dataclass(frozen=True)
class EssayPrompt:
    """A question that asks for a written answer.

    Attributes:
        name: the grade id of its cell.
        items: the rubric, as pairs of a criterion and the points for it.
    """

    name: str
    title: str
    max_points: float
    items: tuple[tuple[str, float], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The titles of the table's columns to tick, one for each rubric item."""
        return tuple(f"{text} ({points:g})" for text, points in self.items)


@dataclass(frozen=True)
class Answer:
    """A student's written answer.

    Attributes:
        student, name: the student's id and name, or the pseudonym in place of both.
        points: None until the answer is graded.
        marked: who marked it last, and when; "" if unknown.
        replaced: different points that another person gave before, and who, or "".
    """

    student: str
    name: str
    text: str
    points: float | None
    comment: str
    marked: str = ""
    replaced: str = ""

    @property
    def plain(self) -> str:
        """The text without case and layout, by which equal answers are grouped."""
        return " ".join(self.text.split()).casefold()

    @property
    def blank(self) -> bool:
        """Whether the answer is empty, apart from a placeholder."""
        lines = {line.strip(" *_:").casefold() for line in self.text.splitlines()}
        return lines <= {"", "your answer", "your answer here"}


def questions(unit: str, root: Path) -> list[EssayPrompt]:
    """The written questions of an assignment, in their order.

    Raises:
        CourseError: the assignment has none.
    """
    prompts, text = [], ""
    path = root / "source" / unit / f"{unit}.ipynb"
    for cell in notebooks.read(path).cells:
        if is_grade(cell) and is_solution(cell):
            mark = cell.metadata.nbgrader
            named = title(unit, mark.grade_id)
            items = tuple(_items(text or cell.source))
            prompts.append(EssayPrompt(mark.grade_id, named, float(mark.points), items))
        # The rubric is in the text right above the cell for the answer.
        text = cell.source if cell.cell_type == "markdown" else ""
    if not prompts:
        raise CourseError(f"{unit} has no written questions")
    return prompts


def _items(text: str) -> Iterator[tuple[str, float]]:
    """Yield (criterion, points) for each item of the rubric in a question's text.

    A rubric looks like "Points: one thing (2), another (1).".
    """
    rubric = _RUBRIC.search(text)
    items = _POINTS.split(rubric["items"].strip().strip("*") if rubric else "")
    for criterion, points in zip(items[::2], items[1::2], strict=False):
        yield " ".join(criterion.split()), float(points)


def answers(
    unit: str, root: Path, question: EssayPrompt, blind: bool = False,
    section: RosterSection | None = None,
) -> list[Answer]:  # fmt: skip
    """Return the answers to a question, with equal ones next to each other.

    Those to be graded come first. If ``blind``, pseudonyms replace names.
    """
    student_answers = []
    names = {student.id: student.name for student in gradebook.students(root)}
    graded = graded_notebooks(unit, root)
    shown = pseudonyms(root, unit, graded) if blind else {s: s for s in graded}
    with gradebook.open_gradebook(root) as book:
        histories = read_marks(book, unit, question)
        for student, path in graded.items():
            notebook = notebooks.read(path)
            if GradingMetadata.of(notebook).refused:
                continue
            if section and student not in section.students:
                continue
            key = question.name, unit, unit, student
            text = _text(notebook, question.name)
            grade, comment = book.find_grade(*key), book.find_comment(*key)
            name = shown[student] if blind else names.get(student, student)
            history = histories.get(student, [])
            student_answers.append(Answer(
                shown[student], name, text, grade.manual_score,
                comment.manual_comment or "",
                last_mark(history), replaced_mark(history),
            ))  # fmt: skip
    waiting = {a.plain for a in student_answers if a.points is None}
    # Reversed, so that of equal answers the first one counts.
    first = {a.plain: a.student for a in reversed(student_answers)}

    def order(a: Answer) -> tuple[object, ...]:
        return a.plain not in waiting, a.blank, first[a.plain], a.student

    return sorted(student_answers, key=order)


def read_marks(
    book: api.Gradebook, unit: str, question: EssayPrompt
) -> dict[str, list[HandEntry]]:
    """Map each student to the log of marks for a question, the oldest first."""
    histories: dict[str, list[HandEntry]] = {}
    for entry in hand_log.read(book, unit):
        if entry.cell == cell_name(unit, unit, question.name):
            histories.setdefault(entry.student, []).append(entry)
    return histories


def last_mark(history: Sequence[HandEntry]) -> str:
    """Who marked an answer last, and when; "" if it was not a person."""
    return signed(history[-1]) if history and not history[-1].why else ""


def replaced_mark(history: Sequence[HandEntry]) -> str:
    """Describe another grader's last points, if they were changed since; else ""."""
    for entry in reversed(history):
        if entry.why:
            break
        if entry.who != history[-1].who and entry.by_hand is not None:
            is_other = entry.by_hand != history[-1].by_hand
            return f"{entry.by_hand:g} points by {signed(entry)}" if is_other else ""
    return ""


def signed(entry: HandEntry) -> str:
    """Who made an entry, and when."""
    return f"{entry.who} {entry.time}"


def grouped(student_answers: Sequence[Answer]) -> list[list[Answer]]:
    """Group the answers that are equal apart from case and white space.

    Blank answers are left out.
    """
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


def write_list(
    unit: str, root: Path, folder: Path, blind: bool = False,
    part: Part | None = None, section: RosterSection | None = None,
) -> list[Path]:  # fmt: skip
    """Write a page with all written answers, and for each question a table to fill in.

    If ``blind``, pseudonyms replace names; ``part`` and ``section`` limit whose
    answers are written. Returns the paths, that of the page first.
    """
    limits = [limit for limit in (section, part) if limit]
    suffix = "".join(limit.suffix for limit in limits)
    paths = [folder / f"{unit}-written{suffix}.html"]
    sections = []
    for question in questions(unit, root):
        student_answers = [
            answer
            for answer in answers(unit, root, question, blind, section)
            if part is None or part.contains(answer.plain)
        ]
        bank = comment_bank.read(comment_bank.place(root, unit, question.name))
        sections.append((question, student_answers, grouped(student_answers), bank))
    html = page.render(
        "written.html.j2", unit, folder=TEMPLATES, sections=sections, blind=blind,
        limits=limits,
    )  # fmt: skip
    write(paths[0], html)
    for question, student_answers, groups, _ in sections:
        originals = {a.student: group[0].student for group in groups for a in group[1:]}
        rows = [
            ("student", "name", SAME, "answer", *question.columns, "points", "comment",
             MARKED),
            *(
                (a.student, a.name, originals.get(a.student, ""), _shorten(a.text),
                 *("" for _ in question.items),
                 sheet.format_points(a.points), a.comment, a.marked)
                for a in student_answers
            ),
        ]  # fmt: skip
        text = sheet.as_harmless_text(rows)
        paths.append(folder / f"{unit}-{question.name}{suffix}.csv")
        write(paths[-1], text)
    return paths


def _shorten(text: str) -> str:
    """Shorten an answer to fit into a spreadsheet's cell; the page has all of it."""
    data = text.encode("utf-16-le", "replace")
    if len(data) <= _LONGEST:
        return text
    return f"{data[:_LONGEST].decode('utf-16-le', 'ignore')} [...]"
