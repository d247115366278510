"""A student's checks in JupyterLab: a slip, a loop that never ends, and a restart."""

import json
import shutil

import pytest

from autograder.authoring.notebook import read, without_markers
from autograder.checks.words import PROGRESS
from autograder.classroom import lab
from autograder.course import find_unit
from tests.browser import desk
from tests.browser.conftest import jupyter

UNIT = find_unit("attention")
CHECK, STUB = '"attention/by_hand"', "def attend"


@pytest.fixture
def answer() -> str:
    (text,) = (
        cell.text
        for cell in read(UNIT)
        if cell.role == "exercise" and cell.name == "attention/by_hand"
    )
    return without_markers(text)


@pytest.fixture
def folder(tmp_path):
    """The student's folder of one unit, with its notebook."""
    student_folder = tmp_path / "student" / UNIT.label
    student_folder.mkdir(parents=True)
    shutil.copy(UNIT.release, student_folder)
    return student_folder


@pytest.mark.long
@pytest.mark.slow
def test_a_check_behaves_like_a_teaching_assistant(tmp_path, folder, answer, page):
    environment = lab.environment(tmp_path)
    with jupyter(folder.parent, environment, tmp_path / "own") as address:
        page.goto(address.format(f"lab/tree/{UNIT.label}/{UNIT.release.name}"))
        desk.when_started(page)
        desk.run_at(page, desk.FINDER)
        desk.run_setup(page, "import math")

        desk.go_to(page, "Exercise 2.1")
        check = desk.run_cell(page, CHECK)
        check.get_by_text("Run the cell above first").wait_for()

        desk.answer(page, STUB, endless(answer))
        desk.run_cell(page, CHECK)
        check.get_by_text("still running: case 1 of").wait_for()
        desk.choose(page, "Kernel", "Interrupt Kernel")
        check.get_by_text("while True:").wait_for()
        assert "Traceback" not in check.inner_text()

        desk.answer(page, STUB, answer)
        desk.run_cell(page, CHECK)
        check.get_by_text("Next: Exercise 2.2").wait_for()
        desk.answer(page, STUB, f"{answer}\n(")
        desk.run_cell(page, CHECK)
        check.get_by_text("What your earlier version gives").wait_for()

        desk.restart(page)
        desk.go_to(page, "2 · Attention")
        desk.run_at(page, desk.FINDER)
        desk.run_setup(page, "import math")
        desk.go_to(page, "Where you stand")
        summary = desk.run_cell(page, "check.summary()")
        summary.get_by_text("passed earlier").wait_for()
        assert "10 of 96 points by checks" in summary.inner_text()
        summary.get_by_role("link", name="2.1", exact=True).click()
        desk.cell(page, "Code", STUB).wait_for()

    stored = json.loads((folder / PROGRESS).read_text())["exercises"]
    assert stored["attention/by_hand"]["passed"] is True


def endless(answer: str) -> str:
    """The answer, which never comes to its last line."""
    before, last = answer.rstrip().rsplit("\n", 1)
    return f"{before}\n    while True:\n        pass\n{last}"
