"""Each student gets a page of questions about their own code; the key knows it all."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from autograder import cli
from autograder.classroom import gradebook, sample
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.course import find_unit
from autograder.course.errors import CourseError
from autograder.extras.questions import sheets

UNIT = "02_attention"
NAMES = ("attention-softmax", "attention-by_hand", "attention-scaled_dot_product")
HOSTILE = """
print('autograder-trace {"cases": []}</code><script>alert(1)</script>')
def stable_softmax(x):
    print("<img src=x onerror=alert(2)>")
    return x.softmax(-1)["</pre><script>alert(3)</script>"]
"""


def make(root: Path, *students: str) -> tuple[list[Path], list[str]]:
    question_sheets, remarks = sheets.make_sheets(UNIT, root, students)
    return list(sheets.write(UNIT, root, question_sheets)), remarks


def _submission(student: Student, points: float) -> Submission:
    return Submission(student, dict.fromkeys(NAMES, points))


@pytest.fixture(scope="module")
def handed_in() -> dict[str, nbformat.NotebookNode]:
    """Four notebooks: ada's and emmy's are right, mallory attacks, gil yields."""
    notebooks = sample.submissions(find_unit("attention"))
    books = {n: nbformat.reads(notebooks[n].decode(), 4) for n in ("ada", "emmy")}
    further_answers = {"mallory": HOSTILE, "gil": "def stable_softmax(x):\n    yield x"}
    for name, source in further_answers.items():
        books[name] = nbformat.reads(notebooks["ada"].decode(), 4)
        for cell in books[name].cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                softmax = "softmax-" in cell.metadata.nbgrader.grade_id
                cell.source = source if softmax else "pass"
    return books


@pytest.fixture
def course(handed_in, tmp_path, monkeypatch) -> Path:
    people = {
        "ada": (Student("ada", "Ada", "Lovelace"), 10.0),
        "emmy": (Student("emmy"), 10.0),
        "felix": (Student("felix"), 0.0),
        "gil": (Student("gil"), 10.0),
        "mallory": (Student("mallory", "<b>Mal</b>"), 10.0),
    }
    for name, book in handed_in.items():
        path = tmp_path / "autograded" / name / UNIT / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(book, path)
    items = tuple(Item(name, 10.0) for name in NAMES)
    book = Classbook(
        UNIT, items, tuple(_submission(*person) for person in people.values())
    )
    monkeypatch.setattr(gradebook, "read", lambda unit, root: book)
    return tmp_path


def test_everybody_with_accepted_code_gets_a_page_and_the_rest_a_line(course):
    paths, remarks = make(course)
    names = [path.relative_to(course / "reports").as_posix() for path in paths]
    assert names == [
        f"{UNIT}-questions.html",
        f"{UNIT}-questions/ada.html",
        f"{UNIT}-questions/emmy.html",
        f"{UNIT}-questions-key.html",
    ]
    lines = "\n".join(remarks)
    assert "felix: no accepted exercise, so there is nothing to ask" in lines
    assert re.search(r"gil, .*: not asked about, since it is a generator", lines)
    assert re.search(r"Mal.*not asked about, since .*", lines)
    page = paths[1].read_text()
    assert "Ada Lovelace (ada)" in page and 3 <= page.count('<ol class="options') <= 6
    pages = paths[0].read_text()
    assert pages.count('<article class="sheet"') == 2
    for path in paths:
        text = path.read_text()
        assert "<script" not in text and "onerror" not in text


def test_the_key_is_its_owner_s_alone_and_follows_from_the_course_s_secret(course):
    """Everything else that it follows from is public."""
    secret, sheets = course / ".autograder" / "secret", []
    secret.parent.mkdir()
    for digit in "001":
        secret.write_text(digit * 64)
        paths, _ = make(course, "ada")
        assert paths[-1].stat().st_mode & 0o077 == 0
        sheets.append([path.read_text() for path in paths])
    first, second, of_another_secret = sheets
    assert first == second and first[-1] != of_another_secret[-1]
    letters = re.findall(r"<strong>([A-D])</strong>", first[-1])
    assert len(letters) == first[1].count('<ol class="options')
    assert 'class="correct"' not in first[1]


@pytest.mark.parametrize(
    ("step", "error", "reason"),
    [
        ("edits", RecursionError, "it is nested too deeply"),
        ("_part", IndexError, "its observations make no sense"),
        ("_part", ValueError, "its observations make no sense"),
    ],
)
def test_an_answer_that_breaks_a_step_stops_no_other_student(
    course, monkeypatch, step, error, reason
):
    def fails(*_):
        raise error

    monkeypatch.setattr(sheets, step, fails)
    _, remarks = make(course)
    for student in ("ada", "emmy"):
        assert any(student in r and reason in r for r in remarks), remarks


def test_a_student_who_is_not_there_is_a_line(course, monkeypatch, capsys):
    with pytest.raises(CourseError, match="nobody has no graded submission"):
        make(course, "nobody")


def test_the_command_says_where_the_sheets_are(course, monkeypatch, capsys):
    monkeypatch.setattr(gradebook, "find_assignment", lambda name, root: UNIT)
    command = ["questions", "02", "--student", "emmy", "--course", str(course)]
    assert cli.main(command) == 0
    assert f"{UNIT}-questions/emmy.html" in capsys.readouterr().out
    command[3] = "felix"
    assert cli.main(command) == 1
    assert "no accepted exercise" in capsys.readouterr().out
