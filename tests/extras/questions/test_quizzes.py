"""From a sheet to a quiz, and from the quiz that comes back to the gradebook."""

from __future__ import annotations

import random
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.classroom import collection_log, gradebook
from autograder.classroom.classbook import Student
from autograder.extras.questions import assignments, quizzes
from autograder.extras.questions.question import shuffled
from autograder.extras.questions.sheets import QuestionSheet, SheetPart
from autograder.grading import converter, extra_cells
from autograder.grading.metadata import GradingMetadata
from tests.tiny_course import RunHere, data, run_nbgrader

UNIT, QUIZ = "02_attention", "quiz-02"
STAGES = [
    RunHere, "autograder.grading.extra_cells.ExtraVerdicts",
    "autograder.grading.scores.SaveVerdicts",
]  # fmt: skip
CODE = ' 1  def f(x):\n 2      return "```"'


def sheet(name: str, seed: int = 0) -> QuestionSheet:
    draw, wrong = random.Random(f"{name}{seed}"), ["`(3,)`", "`(2,)`", "`(3, 2)`"]
    questions = tuple(
        shuffled("shape", f"Shape {n} of {seed}?", "`(2, 3)`", wrong, about=[str(n)],
                 worth=1.0, draw=draw)
        for n in range(4)
    )  # fmt: skip
    return QuestionSheet(Student(name), (SheetPart("F", CODE, "`f(x)`", questions),))


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(gradebook, "students", lambda root: [])
    monkeypatch.setattr(collection_log, "read", lambda root, unit: {})
    monkeypatch.setattr(quizzes, "pack", lambda *_: ())
    assert converter.install()
    write_quizzes(tmp_path, sheet("ada"), sheet("bob"))
    result = run_nbgrader(tmp_path, "generate_assignment", QUIZ)
    assert result["success"], result
    return tmp_path


def write_quizzes(root: Path, *sheets: QuestionSheet) -> list[Path]:
    return list(quizzes.write(UNIT, root, sheets))


def handed_out(root: Path, student: str) -> NotebookNode:
    path = root / "reports" / f"{UNIT}-questions" / f"{student}.ipynb"
    return nbformat.read(path, as_version=4)


def answered(book: NotebookNode, letters: str) -> NotebookNode:
    for number, letter in enumerate(letters, 1):
        book.cells[-2].source = book.cells[-2].source.replace(
            f'{number}: ""', f'{number}: "{letter}"'
        )
    return book


def key(sheet: QuestionSheet) -> str:
    return "".join(question.letter for _, question in sheet.key)


def graded(root: Path, **books: NotebookNode | bytes) -> dict[str, float | None]:
    """Everybody's points, after nbgrader's command."""
    for student, book in books.items():
        folder = root / "submitted" / student / QUIZ
        folder.mkdir(parents=True, exist_ok=True)
        content = book if isinstance(book, bytes) else data(book)
        (folder / f"{QUIZ}.ipynb").write_bytes(content)
    config = Config()
    config.Autograde.autograde_preprocessors = STAGES
    run_nbgrader(root, "autograde", QUIZ, "*", config=config)
    with Gradebook(f"sqlite:///{root}/gradebook.db", "tiny") as book:
        return {s.student_id: s.score for s in book.assignment_submissions(QUIZ)}


def test_a_quiz_that_was_handed_out_comes_to_a_grade(course):
    ada, bob = handed_out(course, "ada"), handed_out(course, "bob")
    right = key(sheet("bob"))
    half = right[:2] + "".join("B" if letter == "A" else "A" for letter in right[2:])
    points = graded(
        course, ada=answered(ada, key(sheet("ada"))), bob=answered(bob, half)
    )
    assert points == {"ada": 6.0, "bob": 3.0}
    path = course / "autograded" / "bob" / QUIZ / f"{QUIZ}.ipynb"
    book = nbformat.read(path, as_version=4)
    assert "Shape 3 of 0?" in "".join(cell.source for cell in book.cells)
    assert "is correct" in book.cells[-1].outputs[0].data["text/html"]
    verdict = GradingMetadata.of(book).checks[assignments.CHECK]
    assert [bool(case.problem) for case in verdict.cases] == [False, False, True, True]


def test_no_key_travels_and_no_fence_breaks_out(course):
    book = handed_out(course, "ada")
    assert key(sheet("ada")) not in nbformat.writes(book)
    assert book.cells[1].source.count("    ") >= 2
    assert "\n```" not in book.cells[1].source
    source = (course / "source" / QUIZ / f"{QUIZ}.ipynb").read_text()
    assert "Shape" not in source


def test_the_keys_are_readable_by_their_owner_only(course):
    path = course / ".autograder" / "quizzes.json"
    assert path.stat().st_mode & 0o777 == 0o600


def test_another_student_s_quiz_and_a_foreign_file_earn_nothing(course):
    ada = answered(handed_out(course, "ada"), key(sheet("ada")))
    points = graded(course, ada=ada, bob=ada, eve=b"{}")
    assert points == {"ada": 6.0, "bob": 0.0, "eve": 0.0}


def test_a_quiz_that_is_made_anew_takes_nothing_from_the_one_before(course):
    before = answered(handed_out(course, "ada"), key(sheet("ada")))
    source = course / "source" / QUIZ / f"{QUIZ}.ipynb"
    edited = source.read_text().replace('"points": 6.0', '"points": 5.0')
    source.write_text(edited)
    write_quizzes(course, sheet("ada", seed=1))
    assert source.read_text() == edited  # with the instructor's points
    source.write_text(edited.replace('"points": 5.0', '"points": 6.0'))
    after = answered(handed_out(course, "ada"), key(sheet("ada", seed=1)))
    assert before.cells[-2].source != after.cells[-2].source
    assert graded(course, ada=before) == {"ada": 6.0}
    assert graded(course, ada=after) == {"ada": 6.0}


def test_the_same_sheet_makes_the_same_quiz(course):
    before = nbformat.writes(handed_out(course, "ada"))
    write_quizzes(course, sheet("ada"))
    assert nbformat.writes(handed_out(course, "ada")) == before


def test_without_any_key_nothing_is_graded_again(course):
    ada = answered(handed_out(course, "ada"), key(sheet("ada")))
    assert graded(course, ada=ada) == {"ada": 6.0}
    (course / ".autograder" / "quizzes.json").unlink()
    assert graded(course) == {"ada": 6.0}


def test_no_quiz_is_graded_as_asserts_when_its_extra_is_gone(course, monkeypatch):
    monkeypatch.setattr(extra_cells, "_handlers", dict)
    book = answered(handed_out(course, "ada"), "AAAA")
    assert graded(course, ada=book) == {}
    assert not (course / "autograded" / "ada").exists()
