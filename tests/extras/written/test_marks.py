"""Marks of written answers: filled into a table, recorded in the gradebook."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
from types import SimpleNamespace

import pytest

from autograder import cli
from autograder.classroom import gradebook
from autograder.course.errors import CourseError
from autograder.extras.written import division, marks, written
from autograder.grading.gradebook import hand_log
from tests import tiny_course as tiny
from tests.classroom.conftest import WHOLE, autograde
from tests.extras.written.conftest import NAME, fill, score
from tests.tiny_course import UNIT, WORDS, hand_in


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
        marks.take_list(UNIT, graded, question_table)
    assert score(graded, WHOLE) is None


def test_a_student_who_stands_there_twice_leaves_everything_as_it_was(
    graded, question_table
):
    fill(question_table, WHOLE, points="3")
    titles, *rows = question_table.read_text().splitlines(keepends=True)
    (row_of_student,) = [row for row in rows if row.startswith(WHOLE)]
    question_table.write_text("".join([titles, *rows, row_of_student]))
    assert marks.take_list(UNIT, graded, question_table) == 1, "the same, twice"
    question_table.write_text(
        "".join([titles, *rows, row_of_student.replace("3", "1")])
    )
    with pytest.raises(CourseError, match=f"two rows of {WHOLE} contradict each other"):
        marks.take_list(UNIT, graded, question_table)
    assert score(graded, WHOLE) == 3


def test_ticked_items_of_the_rubric_add_up(graded, question_table, monkeypatch):
    items = (
        ("both results", 2.0), ("which is noticed", 1.0), ("a remedy", 1.0),
        ("a proof", 2.0),
    )  # fmt: skip
    rubric = written.EssayPrompt(NAME, "Why", 4.0, items)
    for module in (written, marks):
        monkeypatch.setattr(module, "questions", lambda *_: [rubric])
    written.write_list(UNIT, graded, question_table.parent)
    first, _, third, _ = rubric.columns
    fill(question_table, WHOLE, **{first: "x", third: "x"})
    assert marks.take_list(UNIT, graded, question_table) == 1
    assert score(graded, WHOLE) == 3
    fill(question_table, WHOLE, **dict.fromkeys(rubric.columns, "x"))
    with pytest.raises(CourseError, match="sum of the ticked items, 6, for"):
        marks.take_list(UNIT, graded, question_table)


def test_a_comment_comes_back_as_it_was_written(graded, question_table):
    for _ in range(2):
        fill(question_table, WHOLE, points="3", comment="'- see the page")
        assert marks.take_list(UNIT, graded, question_table) == 1
        written.write_list(UNIT, graded, question_table.parent)
        assert "'- see the page" in question_table.read_text()
    (question,) = written.questions(UNIT, graded)
    answers = {a.student: a for a in written.answers(UNIT, graded, question)}
    assert answers[WHOLE].comment == "- see the page"


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


def record(root, table, *options: str) -> int:
    words = ("written", "01", "--from", str(table), *options, "--course", str(root))
    return cli.main(words)


def test_nobody_overwrites_another_s_mark_unasked(
    graded, question_table, monkeypatch, capsys
):
    fill(question_table, WHOLE, points="2")
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    assert record(graded, question_table) == 0
    monkeypatch.setenv("AUTOGRADER_USER", "theo")
    assert record(graded, question_table) == 0, "the same points again"
    fill(question_table, WHOLE, points="3")
    fill(question_table, "bob", points="4")
    assert record(graded, question_table) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"changed meanwhile: {WHOLE}, 2 points by tina 20" in line
    assert score(graded, WHOLE) == 2 and score(graded, "bob") is None
    assert record(graded, question_table, "--replace") == 0
    assert score(graded, WHOLE) == 3 and score(graded, "bob") == 4


def test_a_mark_that_the_table_knows_or_that_is_ours_may_be_changed(
    graded, question_table, monkeypatch
):
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    for points in ("2", "3"):
        fill(question_table, WHOLE, points=points)
        assert record(graded, question_table) == 0
    written.write_list(UNIT, graded, question_table.parent)
    page = question_table.with_name(f"{UNIT}-written.html").read_text()
    assert "3 points by tina 20" in page
    monkeypatch.setenv("AUTOGRADER_USER", "theo")
    fill(question_table, WHOLE, points="1")
    assert record(graded, question_table) == 0
    assert score(graded, WHOLE) == 1


def test_another_s_comment_is_not_overwritten_either(
    graded, question_table, monkeypatch
):
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    fill(question_table, WHOLE, points="2", comment="Why?")
    assert record(graded, question_table) == 0
    monkeypatch.setenv("AUTOGRADER_USER", "theo")
    fill(question_table, WHOLE, points="", comment="Nice.")
    with pytest.raises(CourseError, match=f"{WHOLE}, 2 points by tina"):
        marks.take_list(UNIT, graded, question_table)


def test_a_blind_table_is_recorded_for_its_students(graded, question_table):
    question_table.unlink()
    assert cli.main(["written", "01", "--blind", "--course", str(graded)]) == 0
    names = division.pseudonyms(graded, UNIT, [WHOLE, "bob"])
    fill(question_table, names[WHOLE], points="3")
    assert record(graded, question_table) == 0
    assert score(graded, WHOLE) == 3, f"{names} wrote the same"


def test_a_part_of_the_table_is_recorded(graded, question_table):
    for part in ("1/2", "2/2"):
        option = ("--part", part, "--course", str(graded))
        assert cli.main(["written", "01", *option]) == 0
        path = question_table.with_stem(
            f"{question_table.stem}-{part.replace('/', 'of')}"
        )
        if WHOLE in path.read_text():
            fill(path, WHOLE, points="3")
        assert record(graded, path) == 0
    assert score(graded, WHOLE) == 3


@pytest.mark.parametrize(
    "options", [["--blind", "--from", "x.csv"], ["--replace"], ["--part", "3/2"]]
)
def test_options_that_do_not_fit_are_refused_in_a_line(graded, options, capsys):
    assert cli.main(["written", "01", *options, "--course", str(graded)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("suffix", ["-1of2", " (1)", "-1of2-tina", ""])
def test_a_table_may_have_something_behind_its_name(graded, question_table, suffix):
    fill(question_table, WHOLE, points="3")
    path = question_table.with_stem(question_table.stem + suffix)
    assert marks.take_list(UNIT, graded, question_table.rename(path)) == 1
    assert score(graded, WHOLE) == 3


def test_a_table_of_another_name_or_without_students_is_refused(graded, question_table):
    text = question_table.read_text()
    other = question_table.with_name(f"{UNIT}-numbers-whyever.csv")
    other.write_text(text)
    with pytest.raises(CourseError, match=f"rename it: there is {UNIT}-{NAME}.csv"):
        marks.take_list(UNIT, graded, other)
    question_table.write_text(text.replace("student,", "who,", 1))
    with pytest.raises(CourseError, match='no column "student"; keep the first line'):
        marks.take_list(UNIT, graded, question_table)


@pytest.fixture
def clock(monkeypatch):
    """A clock that is a second later for each mark, as it is for people."""
    seconds = itertools.count()
    start = datetime.datetime.now(datetime.UTC)

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return start + datetime.timedelta(seconds=next(seconds))

    module = SimpleNamespace(datetime=Clock, UTC=datetime.UTC)
    monkeypatch.setattr(hand_log, "datetime", module)


def mark_in_formgrader(root, who: str, points: float, monkeypatch) -> None:
    """Save points as the formgrader does, which knows nothing of any table."""
    monkeypatch.setenv("AUTOGRADER_USER", who)
    with gradebook.open_gradebook(root) as book:
        grade = book.find_grade(NAME, UNIT, UNIT, WHOLE)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("who", ["tina", "theo"])
def test_a_row_that_nobody_changed_keeps_the_formgrader_s_newer_mark(
    graded, question_table, monkeypatch, capsys, who
):
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    fill(question_table, WHOLE, points="2", comment="Why?")
    assert record(graded, question_table) == 0
    written.write_list(UNIT, graded, question_table.parent)
    mark_in_formgrader(graded, who, 3.0, monkeypatch)
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    fill(question_table, "bob", points="4")
    capsys.readouterr()
    assert record(graded, question_table) == 0
    assert score(graded, WHOLE) == 3 and score(graded, "bob") == 4
    output = capsys.readouterr().out
    assert f"{WHOLE}: not changed, as it has 3 points by {who} 20" in output


@pytest.mark.usefixtures("clock")
def test_whoever_replaces_their_own_newer_mark_is_told(
    graded, question_table, monkeypatch, capsys
):
    mark_in_formgrader(graded, "tina", 3.0, monkeypatch)
    fill(question_table, WHOLE, points="1")
    assert record(graded, question_table) == 0
    line = f"{WHOLE}: now 1 points, before 3 points by tina 20"
    assert line in capsys.readouterr().out and score(graded, WHOLE) == 1


@pytest.mark.usefixtures("clock")
def test_a_mark_of_an_earlier_answer_is_not_given_to_a_new_one(
    graded, question_table, monkeypatch, capsys
):
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    fill(question_table, WHOLE, points="2")
    assert record(graded, question_table) == 0
    written.write_list(UNIT, graded, question_table.parent)
    release = tiny.read(graded, "release")
    answer = tiny.data(tiny.solve_release(release, words="Another one."))
    hand_in(graded, WHOLE, answer)
    assert autograde(graded, WHOLE)["success"]
    assert record(graded, question_table) == 0 and score(graded, WHOLE) is None
    assert f"{WHOLE}: not changed, as it has a new answer" in capsys.readouterr().out
    fill(question_table, WHOLE, points="4")
    assert record(graded, question_table) == 1 and score(graded, WHOLE) is None
    assert f"changed meanwhile: {WHOLE}, a new answer" in capsys.readouterr().err


@pytest.mark.usefixtures("clock")
def test_a_mark_replaced_in_the_formgrader_is_shown_to_everybody(
    graded, question_table, monkeypatch
):
    monkeypatch.setenv("AUTOGRADER_USER", "tina")
    fill(question_table, WHOLE, points="2")
    assert record(graded, question_table) == 0
    mark_in_formgrader(graded, "theo", 3.0, monkeypatch)
    page, _ = written.write_list(UNIT, graded, question_table.parent)
    assert "1 marked by one of you and again by another" in page.read_text()
    assert "before: 2 points by tina 20" in page.read_text()
    mark_in_formgrader(graded, "theo", 2.0, monkeypatch)
    page, _ = written.write_list(UNIT, graded, question_table.parent)
    assert "before:" not in page.read_text(), "they agree"
