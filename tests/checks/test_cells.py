"""Whether the cell of an answer ran, and what stands for one that is not there."""

import pytest

from autograder.checks.cells import Undefined, current, defined_in, digest, source_of
from tests.checks.notebook import Notebook


@pytest.fixture
def notebook(monkeypatch):
    return Notebook(monkeypatch)


def test_the_source_of_an_answer_is_its_whole_cell(notebook):
    text = "import math\n\ndef half(x):\n    return x / 2\n"
    notebook.run(text)
    assert source_of(notebook.get("half")).strip() == text.strip()
    before = digest(current("half"))
    notebook.run(text.replace("2", "3"))
    assert before != digest(current("half")) and len(before) == 16
    notebook.run(text)
    assert before == digest(current("half"))


def test_a_class_has_a_source_and_a_number_has_none(notebook):
    notebook.run("class A:\n    def f(self):\n        pass")
    assert "class A" in source_of(notebook.get("A"))
    assert source_of(7) == digest(7) == digest(current("nothing")) == ""


def test_a_cell_that_cannot_run_is_known_by_what_it_should_define(notebook, capsys):
    notebook.run("def half(x):\n    return x / 2")
    notebook.run("def half(x):\n    return (x / 2")
    assert "a syntax error in line 2" in notebook.cells.why_stopped("half")
    notebook.run("def half(x):\n    return x / 3")
    assert notebook.cells.why_stopped("half") == ""


def test_a_cell_that_stops_before_a_definition_is_known_and_one_after_it_is_none(
    notebook, capsys
):
    notebook.run("def half(x):\n    return x / 2")
    notebook.run("1 / 0\ndef half(x):\n    return x / 3")
    assert notebook.cells.why_stopped("half") == "ZeroDivisionError"
    notebook.run("def half(x):\n    return x / 3\n1 / 0")
    assert notebook.cells.why_stopped("half") == ""


def test_a_check_is_handed_a_word_on_a_name_that_is_not_defined(notebook):
    notebook.run("seen = []\ndef check(name, answer):\n    seen.append(answer)")
    notebook.run('check("u/e", half)')
    assert notebook.get("seen") == [Undefined("half")]
    assert "half" not in notebook.shell.user_ns


@pytest.mark.parametrize("text", ["half", "other('u/e', half)", "check('u/e', half("])
def test_elsewhere_a_name_that_is_not_defined_stays_so(notebook, capsys, text):
    notebook.run(text)
    assert "half" not in notebook.shell.user_ns
    assert "Error" in capsys.readouterr().out


def test_builtins_are_defined(notebook):
    notebook.run("seen = []\ndef check(name, answer):\n    seen.append(answer)")
    notebook.run('check("u/e", sum)')
    assert notebook.get("seen") == [sum]


def test_definitions_are_found_in_what_is_no_python():
    text = "def f(x):\n    y = (\nclass A:\nB = 3\nb == 4\n  c = 5\nasync def g():"
    assert defined_in(text) == {"f", "A", "B", "g"}
