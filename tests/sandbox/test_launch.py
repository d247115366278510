"""How processes start that import much."""

import subprocess
from pathlib import Path

import pytest

from autograder.sandbox.launch import command

MODULE = """
import atexit, gc, sys
from autograder.sandbox.launch import imported

assert not gc.isenabled(), "it rests while there is something to import"
atexit.register(print, "taken apart")

def main():
    imported()
    {body}
"""


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Start a module with that body of ``main``; the process, when it has ended."""
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")

    def start(body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "launched.py").write_text(MODULE.format(body=body))
        line = [*command("launched"), *arguments]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    return start


def test_the_collector_rests_during_imports_and_leaves_them_alone_afterwards(launch):
    ended = launch("print(gc.isenabled(), gc.get_freeze_count() > 1000)")
    assert (ended.stdout, ended.returncode) == ("True True\n", 0), ended.stderr


def test_a_module_finds_its_arguments_and_nothing_is_taken_apart_at_the_end(launch):
    assert launch("print(sys.argv[1:], end='')", "3", "x").stdout == "['3', 'x']"


def test_a_module_that_fails_says_so(launch):
    ended = launch("raise SystemError('no')")
    assert ended.returncode == 1
    assert "SystemError: no" in ended.stderr
