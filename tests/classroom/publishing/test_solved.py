"""Solutions are handed out when nobody may hand in any more, and nothing hidden is."""

from __future__ import annotations

import datetime
import re

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom.publishing import solved
from autograder.course import find_unit, units
from autograder.course.errors import CourseError

UNIT = find_unit("attention")


def test_it_has_the_solutions_and_no_hidden_test():
    for unit in units():
        notebook = nbformat.reads(solved.notebook_with_solutions(unit), as_version=4)
        text = "\n".join(cell.source for cell in notebook.cells)
        assert not re.search(r"check\.hidden|### (BEGIN|END) ", text)
        assert "raise NotImplementedError  # your code here" not in text
        assert not any("nbgrader" in cell.metadata for cell in notebook.cells)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                compile(cell.source, unit.label, "exec")


def test_not_before_the_last_deadline():
    today = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    with pytest.raises(CourseError, match="write the solutions at once, add --now"):
        solved.refuse_early(UNIT.label, today + datetime.timedelta(hours=1))
    solved.refuse_early(UNIT.label, today - datetime.timedelta(hours=1))


def test_without_a_deadline_only_if_it_is_asked_for(tmp_path, capsys):
    (tmp_path / "source" / UNIT.label).mkdir(parents=True)
    (tmp_path / "source" / UNIT.label / UNIT.source.name).write_text("{}")
    option = ["--course", str(tmp_path)]
    assert cli.main(["solutions", "02", *option]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{UNIT.label} has no deadline" in line and "--now" in line
    assert not (tmp_path / "solutions").exists()
    assert cli.main(["solutions", "02", "--now", *option]) == 0
    assert (tmp_path / "solutions" / f"{UNIT.label}.ipynb").is_file()


def test_an_extension_counts(tmp_path, capsys):
    root = tmp_path / "course"
    (root / "source" / UNIT.label).mkdir(parents=True)
    (root / "source" / UNIT.label / UNIT.source.name).write_text("{}")
    option = ["--course", str(root)]
    today = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    due = today - datetime.timedelta(days=1)
    with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
        book.add_assignment(UNIT.label, duedate=due)
    assert cli.main(["solutions", "02", *option]) == 0
    assert (root / "solutions" / f"{UNIT.label}.ipynb").is_file()
    cli.main(["extend", "02", "bob", "--days", "900", *option])
    assert cli.main(["solutions", "02", *option]) == 1
    assert "students may hand in until" in capsys.readouterr().err
    assert cli.main(["solutions", "02", "--now", *option]) == 0
