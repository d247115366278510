"""Every notebook runs from top to bottom: solved, and as a student first meets it."""

import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.authoring.catalogue import specifications
from autograder.authoring.notebook import read
from autograder.checks.references import load
from autograder.course import Unit, find_unit, manifest, units
from autograder.course.grade_ids import check_of, exercise_of
from tests.authoring import touched
from tests.conftest import mostly_slow, start_kernels_with


def run(path, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    start_kernels_with(monkeypatch, "local-provisioner")
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, resources=resources).execute()
    return notebook


def outputs_of_check(notebook, exercise):
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


# Of given code: steps or tokens of training, or the seconds that it may take. Trained
# on fewer tokens, a model hardly ever writes EOS, and decoding takes long.
STEPS = re.compile(r"\b(steps(?:: int)?|STEPS)( ?= ?)\d+")
TOKENS = re.compile(r"_TOKENS = [\d_]+")
SECONDS = re.compile(r"\bSECONDS = [\d.]+")


def shortened(path: Path, folder: Path, solved: Collection[str] | None = None) -> Path:
    """A notebook whose training runs, which its checks do not look at, take no time.

    Args:
        solved: the exercises whose solutions it gets; None: it has what it has.
    """
    notebook = nbformat.read(path, as_version=4)
    cells = read(find_unit(path.stem))
    answers = {cell.name: cell.text for cell in cells if cell.role == "exercise"}
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution") and solved is not None:
            name = exercise_of(check_of(mark.grade_id))
            cell.source = answers[name] if name in solved else cell.source
        elif cell.cell_type == "code" and not mark:
            cell.source = STEPS.sub(r"\1\g<2>12", cell.source)
            cell.source = TOKENS.sub("_TOKENS = 120_000", cell.source)
            cell.source = SECONDS.sub("SECONDS = 1.0", cell.source)
    nbformat.write(notebook, folder / path.name)
    return folder / path.name


CHANGED = touched.list_changed_files(touched.base())
OFTEN = mostly_slow([unit for unit in units() if unit.text in CHANGED], "02")


@pytest.mark.parametrize("unit", [u for u in OFTEN if not grades_training(u.values[0])])
def test_with_solutions_it_runs_and_gets_all_points(unit, tmp_path, monkeypatch):
    assert_solved(run(shortened(unit.source, tmp_path), tmp_path, monkeypatch), unit)


@pytest.mark.slow
@pytest.mark.long(seconds=200)
@pytest.mark.parametrize("unit", units()[3:], ids=lambda unit: unit.label)
def test_so_it_does_with_all_training_runs(unit, tmp_path, monkeypatch):
    assert_solved(run(unit.source, tmp_path, monkeypatch), unit)


def assert_solved(notebook, unit: Unit) -> None:
    """See that every check of a notebook has all points, and no demonstration waits."""
    for name, exercise in load(unit.name).items():
        assert outputs_of_check(notebook, name)[0] == exercise.points, name
    printed = [o.get("text", "") for c in notebook.cells for o in c.get("outputs", [])]
    assert not [text for text in printed if " waits: " in text]  # a demonstration


def demonstrations(notebook) -> Iterator[tuple[str, bool]]:
    """The demonstrations by the names of their functions, and whether they wait."""
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        printed = [
            o.get("text", "") + o.get("data", {}).get("text/html", "") for o in outputs
        ]
        text = re.sub(r"<[^>]+>", "", "".join(printed))
        for name in re.findall(r"^@demo\ndef (\w+)", cell.source, re.MULTILINE):
            yield name, f"{name.replace('_', ' ')} waits: " in text


@pytest.mark.parametrize("unit", mostly_slow())
def test_whoever_solves_the_short_path_misses_nothing_of_the_story(
    unit, tmp_path, monkeypatch
):
    path = manifest.path_of(unit)
    for name, file in manifest.read(unit).handed_in.items():
        shutil.copyfile(file, tmp_path / name)  # as if its training had taken its time
    measured = {
        exercise.name
        for exercise in specifications(unit.name)
        if any(kind.measure for kind in exercise.cases)
    }
    notebook = run(shortened(unit.release, tmp_path, path), tmp_path, monkeypatch)
    for name, exercise in load(unit.name).items():
        if name in measured and name not in path:
            continue  # its file is here, which nobody has who leaves it out
        points, panel = outputs_of_check(notebook, name)
        assert points == (exercise.points if name in path else 0), name
        assert "builds on" not in panel, name  # what was left out
        assert ("(not on the short path)" in panel) == (name not in path), name
    waits_by_demonstration = dict(demonstrations(notebook))
    waiting = {name for name, waits in waits_by_demonstration.items() if waits}
    assert waiting == set(manifest.read(unit).beyond) and waiting < set(
        waits_by_demonstration
    )


@pytest.mark.parametrize("unit", OFTEN)
def test_blank_it_runs_without_a_traceback_and_gets_no_point(
    unit, tmp_path, monkeypatch
):
    notebook = run(unit.release, tmp_path, monkeypatch)
    for name in load(unit.name):
        points, panel = outputs_of_check(notebook, name)
        assert points == 0 and "Not solved yet" in panel, name
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]
    assert not [o for o in outputs if o.get("name") == "stderr"]


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_exercise_has_three_hints_and_a_budget(unit):
    notebook = nbformat.read(unit.release, as_version=4)
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    exercises, words = len(load(unit.name)), read(unit)[0].words
    assert prose.count(f"<summary>{words.hint} 1") >= exercises
    assert prose.count(f"<summary>{words.hint} 3") >= exercises
    assert prose.count(words.difficulty) >= exercises
    assert len(words.minutes_pattern.findall(prose)) >= exercises
