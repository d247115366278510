"""Students read in the notebook when it is due."""

import datetime
import time

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading import due_line

DUE = datetime.datetime(2026, 11, 30, 22, 59)


@pytest.fixture(autouse=True)
def berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_deadline_is_said_in_local_time_with_its_zone():
    assert due_line.describe(DUE) == "Monday, 30 November 2026, 23:59 CET"


def test_the_line_stands_below_the_title_alone():
    cells = [new_code_cell("# no title"), new_markdown_cell("# 2 Attention\n\nText.")]
    notebook = new_notebook(cells=[*cells, new_markdown_cell("# More")])
    due_line.add_due_line(notebook, DUE)
    sources = [cell.source for cell in notebook.cells]
    line = "**Due Monday, 30 November 2026, 23:59 CET**"
    assert sources == ["# no title", f"# 2 Attention\n\n{line}\n\nText.", "# More"]


def test_a_notebook_without_a_title_stays_as_it_is():
    notebook = new_notebook(cells=[new_markdown_cell("Text.")])
    due_line.add_due_line(notebook, DUE)
    assert notebook.cells[0].source == "Text."
