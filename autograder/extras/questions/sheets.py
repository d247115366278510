"""Make sheets of questions about students' own accepted code, and an answer key.

Code is accepted if its exercise has full points. A student's sheet fits on one
page and has a few multiple-choice questions about each of up to three answers.
"""

from __future__ import annotations

import hmac
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.checks.references import titles
from autograder.classroom import gradebook, page
from autograder.classroom.classbook import Student, Submission
from autograder.course import files, find_unit, grade_ids, graded_notebooks, notebooks
from autograder.extras.questions import TEMPLATES
from autograder.extras.questions.asking import questions
from autograder.extras.questions.calls import call_of
from autograder.extras.questions.edits import ProposedEdit, edits
from autograder.extras.questions.listing import CodeListing, NotListedError, listing
from autograder.extras.questions.notes import NotedPlace, insert_notes
from autograder.extras.questions.observations import (
    NothingObservedError,
    Observation,
    read,
)
from autograder.extras.questions.observing import ObservationRequest, observe_answers
from autograder.extras.questions.question import ChoiceQuestion, chosen
from autograder.grading.secret import course_secret

_TRIED = 6  # the most answers of a student that are observed
_PARTS, _EACH = 3, 3  # the most answers on a sheet, and questions about each
# Lines of a short answer; the most questions about it, and the fewest about any answer.
_SHORT, _OF_SHORT = 2, 2
_IN_ALL = 6  # the most questions on a sheet
_SHAPES = 2  # the most questions on a sheet that ask for a shape
_GOOD = 3.0  # the smallest worth of a question, unless a sheet has too few
_PAGE = 54.0  # lines of questions that fit on a page below its head
_WIDE = 110  # characters in a printed line
_FEWEST = 3  # the fewest questions of a sheet


@dataclass(frozen=True)
class SheetPart:
    """An answer on a sheet, with the questions about it.

    Attributes:
        title: the title of the exercise.
        code: the student's answer, with a number before each line.
        call: a description of the call that the questions are about.
    """

    title: str
    code: str
    call: str
    questions: tuple[ChoiceQuestion, ...]


@dataclass(frozen=True)
class QuestionSheet:
    """The questions for one student, about up to three answers."""

    student: Student
    parts: tuple[SheetPart, ...]

    @property
    def key(self) -> list[tuple[str, ChoiceQuestion]]:
        """The questions, each after its exercise's title, for the answer key."""
        return [(part.title, q) for part in self.parts for q in part.questions]


@dataclass(frozen=True)
class _Answer:
    """A student's answer to ask about, before it is run to observe what it does.

    Attributes:
        listing: its code as the sheet shows it.
        places: where values are recorded that a question may ask for.
        edits: small changes to the code; a question may ask what one would change.
        request: what to run: the recording code and each changed version.
    """

    title: str
    listing: CodeListing
    places: Sequence[NotedPlace]
    edits: Sequence[ProposedEdit]
    request: ObservationRequest


def make_sheets(
    unit: str, root: Path, students: Sequence[str]
) -> tuple[list[QuestionSheet], list[str]]:
    """Make the question sheets of an assignment.

    If ``students`` is empty, all who handed in get one. Also returned is a line for
    each student or answer without questions.

    Raises:
        CourseError: nothing is graded, a student is unknown, or sandboxes fail.
    """
    book = gradebook.read(unit, root)
    chosen = [book.of(name) for name in students] or book.submissions
    most = {e.name: e.max_points for e in book.exercises if not e.written}
    exercises = {e.name: e for e in specifications(find_unit(unit).name)}
    secret = course_secret(root)
    paths = graded_notebooks(unit, root)
    sheets, remarks = [], []
    for submission in chosen:
        student = submission.student.id
        # Reproducible, but unpredictable.
        seed = hmac.digest(secret, f"questions/{unit}/{student}".encode(), "sha256")
        draw, path = random.Random(seed), paths.get(student)
        sheet, sheet_remarks = _sheet(unit, submission, path, draw, most, exercises)
        remarks += sheet_remarks
        sheets += [sheet] if sheet else []
    return sheets, remarks


def write(unit: str, root: Path, sheets: Sequence[QuestionSheet]) -> Iterator[Path]:
    """Write the pages with the questions, and the page with their correct answers.

    Yields the paths, that of the answers last.
    """
    if not sheets:
        return
    folder = root / "reports"
    pages = {f"{unit}-questions.html": list(sheets)}
    pages |= {f"{unit}-questions/{sheet.student.id}.html": [sheet] for sheet in sheets}
    for name, page_sheets in pages.items():
        template = "questions.html.j2"
        yield page.write(
            folder / name, template, unit, folder=TEMPLATES, sheets=page_sheets
        )
    path = folder / f"{unit}-questions-key.html"
    key = page.render("questions_key.html.j2", unit, folder=TEMPLATES, sheets=sheets)
    files.write(path, key, private=True)
    yield path


def _sheet(
    unit: str, submission: Submission, path: Path | None, draw: random.Random,
    most: Mapping[str, float], exercises: Mapping[str, Specification],
) -> tuple[QuestionSheet | None, list[str]]:  # fmt: skip
    """Make the question sheet of one student.

    ``most`` maps the grade ids of checks to the maximum points of their exercises.

    Returns:
        The sheet, or None if there is too little to ask about; and remarks on
        answers without questions.
    """
    student = submission.student
    accepted = [
        grade_ids.exercise_of(name)
        for name, points in most.items()
        if (submission.points.get(name) or 0.0) >= points > 0
    ]
    if not accepted or not path:
        reason = "no accepted exercise, so there is nothing to ask"
        return None, [f"{student.full}: {reason}"]
    cells = _cells(path)
    answers, reasons = _answers(accepted, cells, exercises, draw)
    plain = [source for _, source in cells]
    requests = [answer.request for answer in answers]
    printed = observe_answers(unit, plain, requests) if answers else []
    parts = []
    for answer, text in zip(answers, printed, strict=True):
        try:
            parts.append(_part(answer, read(text), draw))
        except NothingObservedError as error:
            reasons.append(_not_asked(answer.title, error))
        except (LookupError, ValueError, TypeError, ArithmeticError):
            # Student code runs in the process that observes it, and can print anything.
            reasons.append(_not_asked(answer.title, "its observations make no sense"))
    remarks = [f"{student.full}, {line}" for line in reasons]
    sheet = QuestionSheet(student, _fit_page(parts))
    if len(sheet.key) < _FEWEST:
        return None, [*remarks, f"{student.full}: too few questions for a sheet"]
    return sheet, remarks


def _not_asked(title: str, reason: Exception | str) -> str:
    return f"{title}: not asked about, since {reason}"


def _fit_page(parts: Sequence[SheetPart]) -> tuple[SheetPart, ...]:
    """Choose the answers and their most worthwhile questions that fit on a page."""
    # If the sheet has too few questions, the limits are relaxed, one after the other.
    for of_short, least in ((_OF_SHORT, _GOOD), (_EACH, _GOOD), (_EACH, -math.inf)):
        fitted = list[SheetPart]()
        for part in sorted(parts, key=lambda part: -_worth(part)):
            before = [q for fitted_part in fitted for q in fitted_part.questions]
            most = of_short if _lines(part) <= _SHORT else _EACH
            about = [subject for q in before for subject in q.about]
            # Of the questions on shapes, only so many as the sheet still has room for.
            plain = [q for q in part.questions if q.kind == "shape"]
            room = _SHAPES - sum(q.kind == "shape" for q in before)
            good = [q for q in part.questions if q.worth >= least]
            candidates = [q for q in good if q not in plain[room:]]
            picked = chosen(candidates, min(most, _IN_ALL - len(before)), about)
            trimmed = replace(part, questions=tuple(picked))
            fits = sum(map(_height, (*fitted, trimmed))) <= _PAGE
            if len(fitted) < _PARTS and fits and len(picked) >= _OF_SHORT:
                fitted.append(trimmed)
        if sum(len(part.questions) for part in fitted) >= _FEWEST:
            break
    return tuple(fitted)


def _lines(part: SheetPart) -> int:
    return part.code.count("\n") + 1


def _height(part: SheetPart) -> float:
    """Estimate how many lines of the printed page an answer and its questions take."""
    call = 3 + len(part.call) // _WIDE + 0.85 * _lines(part)  # code is in small print
    return call + sum(map(_rows, part.questions))


def _rows(question: ChoiceQuestion) -> float:
    """Estimate how many printed lines a question takes: text, options and a gap."""
    longest = max(map(len, question.options))
    # Short options share a line.
    options = 1 if longest < 24 else 2 if longest < 56 else 4
    wraps = sum(len(text) // _WIDE for text in (question.text, *question.options))
    return 1.8 + options + wraps


def _worth(part: SheetPart) -> float:
    return sum(question.worth for question in chosen(part.questions, _EACH))


def _cells(path: Path) -> list[tuple[str, str]]:
    """Read the code cells of a graded notebook, except its check cells.

    Returns:
        Pairs: the exercise that the cell answers, or "", and the cell's code.
    """
    cells = []
    for cell in notebooks.read(path).cells:
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or (mark.get("grade") and not mark.get("solution")):
            continue
        check = grade_ids.check_of(mark["grade_id"]) if mark.get("solution") else ""
        cells.append((grade_ids.exercise_of(check) if check else "", cell.source))
    return cells


def _answers(
    accepted: Sequence[str], cells: Sequence[tuple[str, str]],
    exercises: Mapping[str, Specification], draw: random.Random,
) -> tuple[list[_Answer], list[str]]:  # fmt: skip
    """Choose some of the solved exercises at random, and prepare their answers.

    ``accepted`` are the exercises' names, ``cells`` is a result of `_cells`.

    Returns:
        The answers, and a line for each answer that cannot be used.
    """
    sources = {exercise: source for exercise, source in cells if exercise}
    names = [name for name in accepted if name in exercises and name in sources]
    draw.shuffle(names)
    answers, reasons = list[_Answer](), []
    for name in names:
        if len(answers) == _TRIED:
            break
        title = titles(name.split("/")[0])[name]
        try:
            excerpt = listing(sources[name], exercises[name].target)
            code, places = insert_notes(excerpt)
            tried = edits(excerpt)
        except NotListedError as error:
            reasons.append(_not_asked(title, error))
            continue
        except RecursionError:
            reasons.append(_not_asked(title, "it is nested too deeply"))
            continue
        edited = tuple(edit.code for edit in tried)
        request = ObservationRequest(name, excerpt.target, excerpt.method, code, edited)
        answers.append(_Answer(title, excerpt, places, tried, request))
    return answers, reasons


def _part(
    answer: _Answer, observations: list[Observation], draw: random.Random
) -> SheetPart:
    """Make the part of a sheet on one answer, with all candidates for its questions."""
    candidates = questions(
        answer.listing, answer.places, answer.edits, observations, draw
    )
    lines = enumerate(answer.listing.text.splitlines(), 1)
    code = "\n".join(f"{number:2}  {line}" for number, line in lines)
    call = call_of(answer.listing, observations[0])
    return SheetPart(answer.title, code, call, tuple(candidates))
