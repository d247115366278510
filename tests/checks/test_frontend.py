"""Where a check runs: only a notebook that somebody runs is attended."""

import pytest

from autograder.checks.frontend import find_shell, is_attended, notebook_name
from autograder.checks.words import CHANNEL, LEFT_OUT
from tests.checks.notebook import Notebook


def test_a_script_has_no_shell_and_nobody_attends_it():
    assert find_shell() is None and not is_attended()


def test_a_request_says_whether_somebody_could_answer(monkeypatch):
    assert Notebook(monkeypatch).shell is find_shell() and is_attended()
    assert find_shell() is not None
    Notebook(monkeypatch, attended=False)
    assert not is_attended()


@pytest.mark.parametrize("name", [LEFT_OUT, "NBGRADER_VALIDATING", CHANNEL])
def test_grading_and_validating_are_never_attended(monkeypatch, name):
    Notebook(monkeypatch)
    monkeypatch.setenv(name, "1")
    assert not is_attended()


def test_jupyter_says_which_notebook_runs(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/02 mine.ipynb")
    assert notebook_name() == "02 mine.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ada/Untitled")
    assert notebook_name() == ""
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert notebook_name() == ""
