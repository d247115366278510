"""The house rules that a machine can check."""

import ast
import shlex
import subprocess
import sys

import pytest
import yaml

from autograder.course import ROOT

CODE = sorted((ROOT / "autograder").rglob("*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
# Lines of a file without docstrings: a longer one has two reasons to change.
LONGEST = {"autograder": 290, "transformer_course": 290, "tests": 395}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
WIDE = ("# |", "# ![")  # rows of tables and pictures, which cannot be broken


HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]


@pytest.mark.parametrize(
    "hook",
    [
        pytest.param(hook, marks=[pytest.mark.slow] * (hook["id"] == "mypy"))
        for hook in HOOKS["hooks"]
    ],
    ids=lambda hook: hook["id"],
)
def test_what_runs_before_a_commit_finds_nothing(hook):
    python, *arguments = shlex.split(hook["entry"])
    assert python == "python"
    process = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_nothing_is_ever_unpickled():
    """What students hand in is data; torch.load and pickle would run it."""
    for path in CODE:
        text = path.read_text(encoding="utf-8")
        assert "import pickle" not in text and "torch.load(" not in text, path


def test_no_test_looks_at_the_clock():
    """How long something takes depends on what else the machine does.

    CPU time (`process_time`), a counter or the order of events say as much.
    """
    clocks = {"monotonic", "perf_counter"}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                names = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
                assert not names & clocks, f"{path}: {node.name}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_read_in_88_columns(path):
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    wide = {n: s for n, s in lines if len(s) > 88 and not s.startswith(WIDE)}
    assert wide == {}


def count_lines_without_docstrings(path):
    text = path.read_text(encoding="utf-8")
    count = len(text.splitlines())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            count -= node.body[0].end_lineno - node.body[0].lineno + 1
    return count


@pytest.mark.parametrize("folder", LONGEST)
def test_files_are_short(folder):
    solutions = ROOT / "transformer_course" / "solutions"  # built from the notebooks
    lengths = {
        path.relative_to(ROOT): count_lines_without_docstrings(path)
        for path in (ROOT / folder).rglob("*.py")
        if not path.is_relative_to(solutions)
    }
    assert {p: n for p, n in lengths.items() if n > LONGEST[folder]} == {}
