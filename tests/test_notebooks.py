"""Every notebook runs from top to bottom: solved, and as a student first meets it."""

import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.checks.references import load
from autograder.course import Unit, manifest, units
from tests.authoring import touched
from tests.conftest import by_cost, start_kernels_with


def run(path, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    start_kernels_with(monkeypatch, "local-provisioner")
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, resources=resources).execute()
    return notebook


def shown(notebook, exercise):
    """The outputs under an exercise's check: (points, panel)."""
    grade_id = exercise.replace("/", "-")
    cell = next(
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )
    panel = [output for output in cell.outputs if not is_bar(output)]
    assert [o.output_type for o in panel] == ["execute_result"], panel
    data = panel[0].data
    return float(data["text/plain"]), data["text/html"]


def is_bar(output) -> bool:
    """Whether it is a progress bar: checks that train for seconds show one."""
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


def grades_training(unit: Unit) -> bool:
    """Whether a unit's checks look at what its cells have trained."""
    return "timeout" in manifest.read(unit).limits


def shortened(path: Path, folder: Path) -> Path:
    """A notebook whose training runs, which its checks do not look at, take no time."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = re.sub(
                r"\bsteps(: int)?( ?= ?)\d+", r"steps\1\g<2>3", cell.source
            )
    nbformat.write(notebook, folder / path.name)
    return folder / path.name


CHANGED = touched.changed_files(touched.base())
OFTEN = by_cost("03", [unit for unit in units() if unit.text in CHANGED])


@pytest.mark.parametrize("unit", [u for u in OFTEN if not grades_training(u.values[0])])
def test_with_solutions_it_runs_and_gets_all_points(unit, tmp_path, monkeypatch):
    solved(run(shortened(unit.source, tmp_path), tmp_path, monkeypatch), unit)


@pytest.mark.slow
@pytest.mark.long(seconds=200)
@pytest.mark.parametrize("unit", units()[3:], ids=lambda unit: unit.label)
def test_so_it_does_with_all_training_runs(unit, tmp_path, monkeypatch):
    solved(run(unit.source, tmp_path, monkeypatch), unit)


def solved(notebook, unit: Unit) -> None:
    """See that every check of a notebook has all points, and no demonstration waits."""
    for name, exercise in load(unit.name).items():
        assert shown(notebook, name)[0] == exercise.points, name
    printed = [o.get("text", "") for c in notebook.cells for o in c.get("outputs", [])]
    assert not [text for text in printed if " waits: " in text]  # a demonstration


@pytest.mark.parametrize("unit", OFTEN)
def test_blank_it_runs_without_a_traceback_and_gets_no_point(
    unit, tmp_path, monkeypatch
):
    notebook = run(unit.release, tmp_path, monkeypatch)
    for name in load(unit.name):
        points, panel = shown(notebook, name)
        assert points == 0 and "Not solved yet" in panel, name
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]
    assert not [o for o in outputs if o.get("name") == "stderr"]


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_figure_has_a_text_alternative(unit):
    notebook = nbformat.read(unit.release, as_version=4)
    shows = [
        node
        for cell in notebook.cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "show"
    ]
    assert len(shows) >= 3
    for node in shows:
        assert "alt" in [keyword.arg for keyword in node.keywords], ast.unparse(node)
    assert not any("plt.show(" in cell.source for cell in notebook.cells)


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_exercise_has_three_hints_and_a_budget(unit):
    notebook = nbformat.read(unit.release, as_version=4)
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    exercises = len(load(unit.name))
    assert prose.count("<summary>Hint 1") >= exercises
    assert prose.count("<summary>Hint 3") >= exercises
    assert prose.count("difficulty") >= exercises and prose.count(" min") >= exercises
