"""Written answers: read on one page, graded in a table, recorded in the gradebook."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom import gradebook
from autograder.course import units
from autograder.course.errors import CourseError
from autograder.extras.written import written
from autograder.extras.written.written import Answer
from tests.classroom.conftest import WHOLE
from tests.tiny_course import UNIT, WORDS

NAME = "numbers-why"
STUB = "**Your answer**\n\nYOUR ANSWER HERE"


@pytest.fixture
def question_table(graded) -> Path:
    """The table of the course's one question, to be filled in."""
    assert cli.main(["written", "01", "--course", str(graded)]) == 0
    return graded / "reports" / f"{UNIT}-{NAME}.csv"


def test_the_page_has_no_box_whose_tick_is_lost(question_table):
    page = question_table.with_name(f"{UNIT}-written.html").read_text()
    assert "<input" not in page and f"autograder written {UNIT} --from" in page


def fill(path: Path, student: str, **cells: str) -> None:
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    for row in rows:
        if row["student"] == student:
            row.update(cells)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def score(root, student: str) -> float | None:
    book = gradebook.read(UNIT, root)
    (submission,) = (s for s in book.submissions if s.student.id == student)
    return submission.points[NAME]


def test_a_page_has_the_answers_and_who_left_it_blank(graded, question_table):
    page = (graded / "reports" / f"{UNIT}-written.html").read_text()
    assert WORDS in page and "Ada Lovelace" in page and "<script" not in page
    # The work of "cut" was refused: whether it has an answer, nobody knows.
    assert "cut" not in page.partition("Left blank:")[2]
    assert "\ncut," not in question_table.read_text()


@pytest.mark.parametrize("text", ["", "*Your answer here*", STUB])
def test_the_release_s_own_words_are_no_answer(text):
    assert Answer("ada", "Ada", text, None, "").blank
    assert not Answer("ada", "Ada", f"{text}\n\nBoth are `nan`.", None, "").blank


def test_points_and_comments_go_into_the_gradebook(graded, question_table):
    fill(question_table, WHOLE, points="3,5", comment="Nicely put.")
    option = ["--course", str(graded)]
    assert cli.main(["written", "01", "--from", str(question_table), *option]) == 0
    assert score(graded, WHOLE) == 3.5
    (question,) = written.questions(UNIT, graded)
    answers = {a.student: a for a in written.answers(UNIT, graded, question)}
    assert answers[WHOLE].comment == "Nicely put."
    assert answers["bob"].points is None, "nobody filled it in"


@pytest.mark.parametrize("points", ["5", "-1", "much"])
def test_points_that_cannot_be_leave_everything_as_it_was(
    graded, question_table, points
):
    fill(question_table, WHOLE, points="3")
    fill(question_table, "bob", points=points)
    with pytest.raises(CourseError, match="not between 0 and 4"):
        written.take_list(UNIT, graded, question_table)
    assert score(graded, WHOLE) is None


def test_a_student_who_stands_there_twice_leaves_everything_as_it_was(
    graded, question_table
):
    fill(question_table, WHOLE, points="3")
    titles, *rows = question_table.read_text().splitlines(keepends=True)
    (row_of_student,) = [row for row in rows if row.startswith(WHOLE)]
    question_table.write_text("".join([titles, *rows, row_of_student]))
    assert written.take_list(UNIT, graded, question_table) == 1, "the same, twice"
    question_table.write_text(
        "".join([titles, *rows, row_of_student.replace("3", "1")])
    )
    with pytest.raises(CourseError, match=f"two rows of {WHOLE} contradict each other"):
        written.take_list(UNIT, graded, question_table)
    assert score(graded, WHOLE) == 3


def test_ticked_items_of_the_rubric_add_up(graded, question_table, monkeypatch):
    items = (("both results", 2.0), ("which is noticed", 1.0), ("a remedy", 1.0))
    rubric = written.EssayPrompt(NAME, "Why", 4.0, items)
    monkeypatch.setattr(written, "questions", lambda *_: [rubric])
    written.write_list(UNIT, graded, question_table.parent)
    first, _, last = rubric.columns
    fill(question_table, WHOLE, **{first: "x", last: "x"})
    assert written.take_list(UNIT, graded, question_table) == 1
    assert score(graded, WHOLE) == 3


HOSTILE = ["a\rbob,,4,", "\r\nbob", "x" * 190_000, "=cmd|'/C calc'!A0", "＝1+1", '"\r"']


@pytest.mark.parametrize("text", HOSTILE)
def test_an_answer_adds_no_row_and_no_formula_to_the_table(
    graded, question_table, monkeypatch, text
):
    before = [row["student"] for row in csv.DictReader(question_table.open())]
    monkeypatch.setattr(written, "_text", lambda *_: text)
    written.write_list(UNIT, graded, question_table.parent)
    rows = list(csv.DictReader(io.StringIO(question_table.read_text(), newline=None)))
    assert sorted(row["student"] for row in rows) == sorted(before)
    assert not any(row["answer"].startswith(("=", "＝")) for row in rows)
    fill(question_table, WHOLE, points="3", comment="well done")
    assert written.take_list(UNIT, graded, question_table) == 1
    assert score(graded, WHOLE) == 3


@pytest.mark.parametrize("letter", ["x", "ü", "\U0001f642", "\n=", ";=", "'"])
def test_no_answer_is_longer_than_a_cell_of_excel(
    graded, question_table, monkeypatch, letter
):
    monkeypatch.setattr(written, "_text", lambda *_: letter * 190_000)
    written.write_list(UNIT, graded, question_table.parent)
    for row in csv.DictReader(io.StringIO(question_table.read_text(), newline=None)):
        assert 19_000 < len(row["answer"].encode("utf-16-le")) / 2 < 32_767


def test_a_comment_comes_back_as_it_was_written(graded, question_table):
    for _ in range(2):
        fill(question_table, WHOLE, points="3", comment="'- see the page")
        assert written.take_list(UNIT, graded, question_table) == 1
        written.write_list(UNIT, graded, question_table.parent)
        assert "'- see the page" in question_table.read_text()
    (question,) = written.questions(UNIT, graded)
    answers = {a.student: a for a in written.answers(UNIT, graded, question)}
    assert answers[WHOLE].comment == "- see the page"


@pytest.mark.parametrize("unit", units()[:5], ids=lambda unit: unit.label)
def test_the_rubrics_of_the_course_are_read_and_add_up(unit):
    for question in written.questions(unit.label, unit.root):
        total = sum(points for _, points in question.items)
        assert total == question.max_points, question


def test_equal_answers_are_read_once_and_graded_together(graded, question_table):
    page = (graded / "reports" / f"{UNIT}-written.html").read_text()
    assert page.count(WORDS) == 1 and "Bob Ross (bob); Ada Lovelace" in page
    fill(question_table, "bob", points="3", comment="Short and right.")
    rows = list(csv.DictReader(io.StringIO(question_table.read_text())))
    with question_table.open("w", newline="") as file:  # as a spreadsheet sorts them
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(reversed(rows))
    assert (
        cli.main(
            ["written", "01", "--from", str(question_table), "--course", str(graded)]
        )
        == 0
    )
    assert score(graded, "bob") == score(graded, WHOLE) == 3
    assert score(graded, "silent") in (None, 0), "who wrote nothing"


def test_a_comment_that_was_kept_is_said_by_its_key(graded, question_table):
    option = ["--course", str(graded)]
    fill(
        question_table, "bob", points="1", comment="a+ Which number is added to which?"
    )
    fill(question_table, WHOLE, points="2", comment="Good.")
    assert cli.main(["written", "01", "--from", str(question_table), *option]) == 0
    assert cli.main(["written", "01", *option]) == 0
    page = (graded / "reports" / f"{UNIT}-written.html").read_text()
    assert "<strong>a1</strong> Which number is added to which?" in page
    fill(question_table, WHOLE, comment="a1")
    assert cli.main(["written", "01", "--from", str(question_table), *option]) == 0
    comments = [a.comment for q in written.questions(UNIT, graded)
            for a in written.answers(UNIT, graded, q)]  # fmt: skip
    assert comments.count("Which number is added to which?") == 2


def test_a_key_of_no_comment_changes_nothing_and_is_one_line(
    graded, question_table, capsys
):
    fill(question_table, "bob", points="1", comment="a7")
    status = cli.main(
        ["written", "01", "--from", str(question_table), "--course", str(graded)]
    )
    assert status == 1 and score(graded, "bob") is None
    (line,) = capsys.readouterr().err.splitlines()
    assert 'bob: no comment "a7" is kept; there are none' in line
