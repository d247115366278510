"""docs/authoring.md makes examples/convolution, word for word."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course import ROOT
from autograder.root import VARIABLE
from autograder.sandbox.client import SERVER_VARIABLE

PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "convolution"
NOTEBOOK = "notebooks/01_layers.py"
EXERCISES = Path("convolution/layers/exercises")


def list_steps() -> list[tuple[str, str]]:
    """The page's blocks of code in order: "bash" or "python", and the text."""
    return re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def write_files(folder: Path) -> list[str]:
    """Write the notebook and the exercises as the page shows them; their names."""
    cells, names = [], []
    for kind, code in list_steps():
        if kind == "python" and code.startswith('"""'):
            name = re.search(r'check="layers/(\w+)"', cells[-1])[1]
            (folder / EXERCISES).mkdir(parents=True, exist_ok=True)
            (folder / EXERCISES / f"{name}.py").write_text(code, encoding="utf-8")
            names.append(str(EXERCISES / f"{name}.py"))
        elif kind == "python":
            cells.append(code)
    (folder / "notebooks").mkdir(exist_ok=True)
    (folder / NOTEBOOK).write_text("\n".join(cells), encoding="utf-8")
    return [NOTEBOOK, *names]


def run(folder: Path, script: str) -> str:
    """Run shell commands with the engine that runs this test; what they print."""
    removed = (SERVER_VARIABLE, VARIABLE)
    environment = {n: value for n, value in os.environ.items() if n not in removed}
    environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    process = subprocess.run(
        ["bash", "-ec", script], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout
    return process.stdout


def test_the_example_is_what_the_page_shows(tmp_path):
    names = write_files(tmp_path)
    assert len(names) == 4
    for name in names:
        assert (tmp_path / name).read_text() == (EXAMPLE / name).read_text(), name


def test_the_example_is_graded_with_the_settings_that_init_writes():
    name = "nbgrader_config.py"
    assert (EXAMPLE / name).read_text() == (ROOT / name).read_text()


def test_three_exercises_take_at_most_sixty_lines_beside_the_notebook():
    files = [p.read_text() for p in (EXAMPLE / EXERCISES).glob("*.py")]
    assert len(files) == 3 and sum(text.count("\n") for text in files) <= 60


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="sandboxes need Linux")
def test_its_steps_start_build_and_grade_the_course(tmp_path):
    scripts = [code for kind, code in list_steps() if kind == "bash"]
    start, room, _, grade, hand_in = scripts
    assert "15 students, 1 exercise, 100 points" in run(tmp_path, start)
    folder = tmp_path / "convolution"
    run(folder, room)
    write_files(folder)
    output = run(folder, grade)
    assert "total" in output and "mutants caught   4/4   · named   4/4" in output
    assert "15 students, 3 exercises, 100 points" in output
    run(folder, hand_in)
    assert (folder / "feedback/ada/01_layers/01_layers.html").is_file()
