"""Written answers: read on one page, with a table for each question."""

from __future__ import annotations

import csv
import io

import pytest

from autograder import cli
from autograder.course import units
from autograder.extras.written import division, marks, written
from autograder.extras.written.written import Answer
from tests.classroom.conftest import WHOLE
from tests.extras.written.conftest import NAME, fill, score
from tests.tiny_course import UNIT, WORDS

STUB = "**Your answer**\n\nYOUR ANSWER HERE"


def test_the_page_has_no_box_whose_tick_is_lost(question_table):
    page = question_table.with_name(f"{UNIT}-written.html").read_text()
    assert "<input" not in page and f"autograder written {UNIT} --from" in page


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
    assert marks.take_list(UNIT, graded, question_table) == 1
    assert score(graded, WHOLE) == 3


@pytest.mark.parametrize("letter", ["x", "ü", "\U0001f642", "\n=", ";=", "'"])
def test_no_answer_is_longer_than_a_cell_of_excel(
    graded, question_table, monkeypatch, letter
):
    monkeypatch.setattr(written, "_text", lambda *_: letter * 190_000)
    written.write_list(UNIT, graded, question_table.parent)
    for row in csv.DictReader(io.StringIO(question_table.read_text(), newline=None)):
        assert 19_000 < len(row["answer"].encode("utf-16-le")) / 2 < 32_767


@pytest.mark.parametrize("unit", units()[:5], ids=lambda unit: unit.label)
def test_the_rubrics_of_the_course_are_read_and_add_up(unit):
    for question in written.questions(unit.label, unit.root):
        total = sum(points for _, points in question.items)
        assert total == question.max_points, question


def test_a_blind_list_names_nobody_and_gives_no_order_away(graded):
    assert cli.main(["written", "01", "--blind", "--course", str(graded)]) == 0
    texts = [path.read_text() for path in (graded / "reports").iterdir()]
    for name in (WHOLE, "Ada", "Lovelace", "bob", "Ross", "silent"):
        assert not any(name in text for text in texts), name
    (question,) = written.questions(UNIT, graded)
    students = [a.student for a in written.answers(UNIT, graded, question, True)]
    assert len(set(students)) == 3
    assert students[:2] == sorted(students[:2]), "equal answers, by pseudonym"


def test_the_parts_have_all_answers_once_and_equal_ones_together(graded):
    (question,) = written.questions(UNIT, graded)
    rows = {}
    for number in (1, 2):
        part = division.Part(number, 2)
        _, table = written.write_list(UNIT, graded, graded / "reports", part=part)
        rows[number] = {row["student"] for row in csv.DictReader(table.open())}
        page = (graded / "reports" / f"{UNIT}-written-{number}of2.html").read_text()
        assert f"part {number} of 2" in page
    everybody = {a.student for a in written.answers(UNIT, graded, question)}
    assert rows[1] | rows[2] == everybody and not rows[1] & rows[2]
    assert {WHOLE, "bob"} <= rows[1] or {WHOLE, "bob"} <= rows[2]


def list_section(root, name: str, *options: str) -> int:
    return cli.main(
        ["written", "01", "--section", name, *options, "--course", str(root)]
    )


def store_sections(root, **by_student: str) -> None:
    lines = [f"{student},{section}" for student, section in by_student.items()]
    (root / "roster.csv").write_text("\n".join(["id,section", *lines]))
    roster = ["--roster", str(root / "roster.csv"), "--course", str(root)]
    assert cli.main(["collect", "01", *roster]) == 0


def test_a_section_s_list_has_its_students_only(graded, capsys):
    store_sections(graded, bob="Monday 10", silent="Tuesday")
    capsys.readouterr()
    assert list_section(graded, "Monday 10") == 0
    output = capsys.readouterr().out
    assert f"students in no section: cut, {WHOLE}; the list without" in output
    stem = graded / "reports" / f"{UNIT}-{NAME}-Monday_10.csv"
    assert [row["student"] for row in csv.DictReader(stem.open())] == ["bob"]
    page = graded / "reports" / f"{UNIT}-written-Monday_10.html"
    assert ", section Monday 10</h1>" in page.read_text()
    fill(stem, "bob", points="2")
    assert marks.take_list(UNIT, graded, stem) == 1 and score(graded, "bob") == 2


def test_a_section_can_be_blind_and_divided(graded):
    store_sections(graded, bob="A", **{WHOLE: "A"}, silent="B")
    for part in ("1/2", "2/2"):
        assert list_section(graded, "A", "--blind", "--part", part) == 0
    texts = [
        (graded / "reports" / f"{UNIT}-{NAME}-A-{part}of2.csv").read_text()
        for part in (1, 2)
    ]
    names = division.pseudonyms(graded, UNIT, [WHOLE, "bob", "silent"])
    for student, count in ((WHOLE, 1), ("bob", 1), ("silent", 0)):
        assert sum(f"\n{names[student]}," in text for text in texts) == count


def test_an_unknown_section_and_no_sections_are_said_in_a_line(graded, capsys):
    assert list_section(graded, "A") == 1
    assert "autograder collect UNIT --roster roster.csv" in capsys.readouterr().err
    store_sections(graded, bob="Tue", silent="Mon")
    assert list_section(graded, "A") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert 'no section "A"; there are Mon, Tue' in line
