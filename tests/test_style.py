"""The house rules that a machine can check."""

import ast
import shlex
import subprocess
import sys

import pytest
import yaml

from autograder.course import ROOT

CODE = sorted((ROOT / "autograder").rglob("*.py"))


def imports(path) -> set[str]:
    """The modules of this package that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("autograder.")}


ALLOWED = {  # one direction: a room may import these, and itself
    "student": {"solutions"},
    "course": {"errors"},
    "kernel": set(),
    "bank": {"student", "solutions", "errors"},
    "build": {"student", "bank", "course", "errors", "__version__"},
    "grading": {"student", "bank", "kernel", "course", "errors", "__version__"},
    "classroom": {"bank", "build", "grading", "course", "errors"},
    "collect": {"classroom", "grading", "errors"},
    "publishing": {"build", "grading", "kernel", "course", "errors", "__version__"},
}


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_go_one_way(room):
    for path in (ROOT / "autograder" / room).rglob("*.py"):
        rooms = {name.split(".")[1] for name in imports(path)}
        assert rooms <= ALLOWED[room] | {room}, path


HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]


@pytest.mark.parametrize("hook", HOOKS["hooks"], ids=lambda hook: hook["id"])
def test_what_runs_before_a_commit_finds_nothing(hook):
    python, *arguments = shlex.split(hook["entry"])
    assert python == "python"
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", CODE, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_is_ever_unpickled(path):
    """What students hand in is data; torch.load and pickle would run it."""
    text = path.read_text(encoding="utf-8")
    assert "import pickle" not in text and "torch.load(" not in text
