"""Grade quizzes about students' own code by reading their letters; no code is run.

All quizzes of a unit form one assignment, but the questions are in each
student's own notebook. ``.autograder/quizzes.json`` contains the correct
letters of every quiz, so that an older one can still be graded.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from autograder.course import files, grade_ids
from autograder.course.errors import CourseError
from autograder.extras.questions.question import LETTERS
from autograder.grading.judge.verdict import CaseVerdict, Verdict
from autograder.grading.metadata import as_output

EXERCISE = "quiz/questions"
CHECK, ANSWER = grade_ids.of_check(EXERCISE), grade_ids.of_answer(EXERCISE)

Keys = Mapping[str, str]  # for one student: the correct letters by a quiz's name

_KEYS = Path(".autograder", "quizzes.json")
_LONGEST = 10_000  # characters of an answer cell; a normal one has some dozens
_UNREAD = (
    "No quiz was found in the cell with `quiz` and `answers`; it has to look as it did "
    "when you got it, with a letter for each question."
)
_STRANGE = 'No quiz "{name}" was made for you: answer the one that you were given.'


def read_keys(root: Path, assignment: str) -> Mapping[str, Keys]:
    """Map each student's id to the correct letters of their quizzes, by a quiz's name.

    Raises:
        CourseError: the file of keys is unreadable, or lacks the assignment.
    """
    student_keys: Mapping[str, Keys]
    student_keys = files.read_json_state(root / _KEYS).get(assignment, {})
    if not student_keys:
        raise CourseError(
            "no quiz has a key in .autograder/quizzes.json: restore that file, or make "
            "the same quizzes once more with autograder questions UNIT --quiz"
        )
    return student_keys


def keep(root: Path, assignment: str, new_keys: Mapping[str, Keys]) -> None:
    """Store the correct letters of new quizzes beside those of earlier quizzes.

    Args:
        new_keys: by student, the correct letters, like "BADC", by a quiz's name.

    Raises:
        CourseError: the file of keys cannot be read or written.
    """
    with files.changing_json_state(root / _KEYS, private=True) as state:
        by_student = state.setdefault(assignment, {})
        for student, quizzes in new_keys.items():
            by_student[student] = by_student.get(student, {}) | quizzes


def judge(notebook: NotebookNode, key: Keys, points: float) -> Verdict:
    """Grade the quiz in a student's notebook by the letters in its answer cell.

    ``key`` has the correct letters of all the student's quizzes, by a quiz's name.
    """
    answer = next(c.source for c in notebook.cells if _grade_id(c) == ANSWER)
    return verdict_on(answer, key, points)


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def verdict_on(answer: str, student_keys: Keys, points: float) -> Verdict:
    """Grade an answer cell by the key of the quiz that it names.

    ``student_keys`` has the correct letters of all the student's quizzes, by name.
    """
    name, letters = read(answer)
    if name not in student_keys:
        note = _STRANGE.format(name=name[:20]) if name else _UNREAD
        return Verdict(EXERCISE, 0.0, points, note=note)
    key = dict(enumerate(student_keys[name], 1))
    cases = tuple(_case(n, letters.get(n, ""), right) for n, right in key.items())
    solved = sum(not case.problem for case in cases)
    return Verdict(EXERCISE, round(points * solved / len(key), 2), points, cases=cases)


def _case(number: int, letter: str, right: str) -> CaseVerdict:
    label = letter if letter in [*LETTERS] else "no letter from A to D"
    title = f"Question {number}: {label}"
    if letter == right:
        return CaseVerdict(str(number), title, "", hidden=False)
    return CaseVerdict(str(number), f"{title}; {right} is correct", "values", False)


def read(answer: str) -> tuple[str, dict[int, str]]:
    """Read a quiz's name and the letters, by question, from an answer cell.

    The name is "" and the letters are {} if there are none. Nothing is run.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            body = ast.parse(answer if len(answer) < _LONGEST else "").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    name, letters = "", dict[int, str]()
    for statement in body:
        match statement:
            case ast.Assign([ast.Name("quiz")], ast.Constant(str(text))):
                name = text
        for key, value in _entries(statement):
            match key, value:
                case ast.Constant(int(number)), ast.Constant(str(letter)):
                    letters[number] = letter.strip().upper()
    return name, letters


def _entries(statement: ast.stmt) -> Iterator[tuple[ast.expr | None, ast.expr]]:
    """Yield the key and value node of each item a statement puts in ``answers``."""
    match statement:
        case ast.Assign([ast.Name("answers")], ast.Dict(keys, values)):
            yield from zip(keys, values, strict=True)
        case ast.Assign([ast.Subscript(ast.Name("answers"), key)], value):
            yield key, value


def show(verdict: Verdict) -> NotebookNode:
    """A notebook output that shows the verdict, in the form of a check's panel."""
    from autograder.checks.boxes import BLUE, ORANGE, boxed, mark
    from autograder.checks.rows import inline

    lines = [mark(not case.problem) + inline(case.title) for case in verdict.cases]
    body = "".join(f"<div>{line}</div>" for line in lines) or inline(verdict.note)
    colour = BLUE if verdict.points >= verdict.max_points else ORANGE
    return as_output(verdict.points, boxed(colour, body))
