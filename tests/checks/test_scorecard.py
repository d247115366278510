"""What was solved is known after a restart, and what has changed since is said."""

import builtins
import json
from dataclasses import replace

import pytest

from autograder.checks import references
from autograder.checks.check import Check
from autograder.checks.next_step import Link
from autograder.checks.scorecard import ExerciseScore, next_step
from autograder.checks.words import PROGRESS
from tests.checks.notebook import Notebook
from transformer_course.solutions import attention

SOLVED, OTHER = "attention/masks", "attention/softmax"
MASKS = (
    "import torch\n\ndef padding_mask(ids, pad_id=0):\n"
    "    return (ids != pad_id).unsqueeze(1)\n\n"
    "def causal_mask(n):\n"
    "    return torch.ones(n, n, dtype=torch.bool).tril()\n\n"
    "def combine_masks(one, other):\n"
    "    return one if other is None else other if one is None else one & other\n"
)


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return Notebook(monkeypatch)


def row(check: Check, name: str = SOLVED):
    number = {SOLVED: "2.3", OTHER: "2.2"}[name]
    (matching,) = (row for row in check.summary().rows if row.number == number)
    return matching


def masks(notebook) -> list[object]:
    return list(map(notebook.get, ("padding_mask", "causal_mask", "combine_masks")))


def solve_masks(notebook) -> Check:
    notebook.run(MASKS)
    check = Check()
    assert check(SOLVED, *masks(notebook)).passed
    return check


def after_restart(monkeypatch) -> tuple[Notebook, Check]:
    monkeypatch.setattr("autograder.checks.installed.asked_for", 2)
    return Notebook(monkeypatch), Check()


def test_a_passed_check_is_remembered_over_a_restart(notebook, monkeypatch):
    before = row(solve_masks(notebook))
    restarted, check = after_restart(monkeypatch)
    row_after = row(check)
    assert row_after.passed and row_after.points == 16.0
    assert row_after.cases == before.cases and before.remark == ""
    assert row_after.remark == "passed earlier"
    restarted.run(MASKS)
    assert row(check).remark == "passed earlier", "the same cell as it was then"
    assert check(SOLVED, *masks(restarted)).passed and row(check).remark == ""


def test_a_cell_that_was_changed_since_its_check_is_said_to_be(notebook, monkeypatch):
    check = solve_masks(notebook)
    notebook.run(MASKS.replace("tril", "triu"))
    assert row(check).remark == "changed since: run its check again"
    restarted, check = after_restart(monkeypatch)
    restarted.run(MASKS.replace("tril", "triu"))
    assert row(check).remark.startswith("passed earlier, changed since")
    assert row(check).passed is None
    check(SOLVED, *masks(restarted))
    assert row(check).passed is False


def test_a_stub_takes_nothing_away(notebook, monkeypatch):
    solve_masks(notebook)
    _, check = after_restart(monkeypatch)

    def stub(*_):
        raise NotImplementedError

    assert check(SOLVED, stub, stub, stub).unsolved
    assert after_restart(monkeypatch) and row(Check()).remark == "passed earlier"


def test_what_comes_next_is_open_and_on_the_short_path(notebook):
    verdict = solve_masks(notebook)(SOLVED, *masks(notebook))
    assert verdict.next_step.place.text == "Exercise 2.4"
    assert "Next: Exercise 2.4." in str(verdict)
    check = Check()
    assert check.summary().rows == ()
    last = check("attention/who_sees_whom", attention.who_sees_whom)
    assert last.next_step.place.text == "Exercise 2.4", "and round again from the top"


def test_after_its_last_exercise_the_short_path_is_said_to_be_done():
    path = ExerciseScore("a", 1.0, 1.0, True, on_path=True)
    beyond = ExerciseScore("b", 0.0, 1.0, place=Link("Exercise 2.9"))
    rows = {"u/a": path, "u/b": beyond}
    message = "The short path is done. Beyond it: Exercise 2.9."
    assert str(next_step(rows)) == str(next_step(rows, "u/a")) == message
    assert str(next_step(rows, "u/b")) == "Next: Exercise 2.9.", "said often enough"
    open_path = {**rows, "u/a": replace(path, passed=None, place=Link("Exercise 2.1"))}
    assert str(next_step(open_path)) == "Next: Exercise 2.1."
    without = {**rows, "u/a": replace(path, on_path=False)}
    assert str(next_step(without)) == "Next: Exercise 2.9.", "the unit has no path"


def test_beyond_the_short_path_the_next_exercise_and_the_path_are_both_named():
    def row(number: int, passed: bool | None = None, on_path: bool = False):
        place = Link(f"Exercise 2.{number}")
        return ExerciseScore("a", 0.0, 1.0, passed, place=place, on_path=on_path)

    rows = {"u/a": row(1, True), "u/b": row(2), "u/c": row(3, on_path=True)}
    message = "Next: Exercise 2.2; on the short path: Exercise 2.3."
    assert str(next_step(rows, "u/a")) == message
    assert str(next_step(rows | {"u/b": row(2, True)}, "u/b")) == "Next: Exercise 2.3."
    without = {name: replace(row, on_path=False) for name, row in rows.items()}
    assert str(next_step(without, "u/a")) == "Next: Exercise 2.2.", "there is no path"


def test_a_broken_file_is_one_line_and_the_check_goes_on(notebook, tmp_path, capsys):
    (tmp_path / PROGRESS).write_text("{")
    check = solve_masks(notebook)
    check(OTHER, attention.stable_softmax)
    assert capsys.readouterr().out.count("does not hold your progress") == 1
    assert (tmp_path / PROGRESS).read_text() == "{" and row(check).passed
    assert "check.reset()" in check.summary()._repr_html_()


@pytest.mark.parametrize(("answer", "remaining"), [("yes", 0), ("no", 1), ("", 1)])
def test_reset_asks_first(notebook, tmp_path, monkeypatch, capsys, answer, remaining):
    check, questions = solve_masks(notebook), []
    monkeypatch.setattr(
        builtins, "input", lambda text: questions.append(text) or answer
    )
    check.reset()
    assert str(tmp_path / PROGRESS) in questions[0]
    assert len(json.loads((tmp_path / PROGRESS).read_text())["exercises"]) == remaining


def test_where_nobody_sits_nothing_is_written(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Notebook(monkeypatch, attended=False)
    assert Check()(OTHER, attention.stable_softmax).passed
    assert not list(tmp_path.iterdir())


def test_what_an_edition_gives_is_neither_listed_nor_next(notebook, monkeypatch):
    points = references.points("attention") | {"attention/scaled_dot_product": 0.0}
    monkeypatch.setattr(references, "points", lambda unit: points)
    check = solve_masks(notebook)
    verdict = check(SOLVED, *masks(notebook))
    assert verdict.next_step.place.text == "Exercise 2.5"
    assert "2.4" not in [row.number for row in check.summary().rows]
