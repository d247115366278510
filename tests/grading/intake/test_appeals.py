"""A student asks for a regrade in a cell, and hands in nothing else that is new."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.grading.intake.appeals import only_appeals, read_appeals
from tests.grading.intake.released import released
from tests.tiny_course import data, solve_release


def folder(tmp_path, name: str, *added, files=(), **solutions):
    notebook = solve_release(released(), **solutions)
    notebook.cells += added
    path = tmp_path / name
    path.mkdir()
    (path / f"{name}.ipynb").write_bytes(data(notebook))
    for file, text in files:
        (path / file).write_text(text)
    return path


ASKS = new_markdown_cell("Regrade 2.3: my mask is right.")


@pytest.mark.parametrize(
    ("source", "exercise", "reason"),
    [
        ("Regrade 2.3: why?", "2.3", "why?"),
        ("**regrade softmax:**\n\nTwo\nlines", "softmax", "Two\nlines"),
        ("# Regrade 2.3 : it is 4.", "2.3", "it is 4."),
    ],
)
def test_a_cell_says_which_exercise_and_why(tmp_path, source, exercise, reason):
    asks = folder(tmp_path, "a", new_markdown_cell(source))
    assert read_appeals(asks) == {exercise: reason}


@pytest.mark.parametrize(
    "source", ["Regrade 2.3:", "Regrade: why?", "I regrade 2.3: x"]
)
def test_other_cells_ask_nothing(tmp_path, source):
    assert read_appeals(folder(tmp_path, "a", new_markdown_cell(source))) == {}


def test_an_exercise_is_asked_about_once(tmp_path):
    again = new_markdown_cell("Regrade 2.3: and once more.")
    asks = folder(tmp_path, "a", ASKS, again)
    assert read_appeals(asks) == {"2.3": "my mask is right."}


def test_the_same_work_with_an_appeal_is_only_an_appeal(tmp_path):
    earlier = folder(tmp_path, "a", files=[("timestamp.txt", "1"), ("x.csv", "1")])
    asks = folder(tmp_path, "b", ASKS, files=[("timestamp.txt", "2"), ("x.csv", "1")])
    assert only_appeals(earlier, asks)
    assert not only_appeals(earlier, earlier), "nobody asks"


@pytest.mark.parametrize(
    "changed",
    [
        {"double": "def double(x):\n    return 2 * x + 0"},
        {"words": "another answer"},
        {"files": [("x.csv", "1")]},
    ],
)
def test_other_work_with_an_appeal_is_a_new_hand_in(tmp_path, changed):
    earlier = folder(tmp_path, "a")
    assert not only_appeals(earlier, folder(tmp_path, "b", ASKS, **changed))
    more = folder(tmp_path, "c", ASKS, new_code_cell("x = 1"))
    assert not only_appeals(earlier, more)


def test_what_cannot_be_read_asks_nothing(tmp_path):
    earlier = folder(tmp_path, "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "b.ipynb").write_text("no notebook")
    (tmp_path / "link").symlink_to(earlier)
    for path in (tmp_path / "b", tmp_path / "link", tmp_path / "none"):
        assert read_appeals(path) == {} and not only_appeals(earlier, path)
