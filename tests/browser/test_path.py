"""A student walks a unit's short path in JupyterLab, with a restart on the way."""

import re
import shutil

import nbformat
import pytest

from autograder.authoring.notebook import read, without_markers
from autograder.checks import references
from autograder.checks.contents import contents_of
from autograder.classroom import lab
from autograder.course import find_unit, manifest
from autograder.course.grade_ids import check_of, exercise_of
from tests.browser import desk
from tests.browser.conftest import jupyter

UNIT = find_unit("encoder_decoder")
PATH = manifest.path_of(UNIT)
HALF = len(PATH) // 2
CELLS = nbformat.read(UNIT.release, as_version=4).cells
SKIPPED = "(not on the short path)"


@pytest.fixture
def answers() -> dict[str, str]:
    """The right code of the exercises on the path, by name."""
    cells = [cell for cell in read(UNIT) if cell.role == "exercise"]
    return {c.name: without_markers(c.text) for c in cells if c.name in PATH}


@pytest.mark.timeout(600)
@pytest.mark.long(seconds=120)
@pytest.mark.slow
def test_the_short_path_leads_from_the_first_cell_to_the_last(tmp_path, answers, page):
    folder, positions = tmp_path / "student", dict[str, int]()
    folder.mkdir()
    shutil.copy(UNIT.release, folder)
    with jupyter(folder, lab.environment(tmp_path), tmp_path / "own") as address:
        page.goto(address.format(f"lab/tree/{UNIT.release.name}"))
        desk.when_started(page)
        for position, cell in enumerate(CELLS):
            mark = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and not mark:
                desk.run_at(page, position)
            elif mark.get("solution") and cell.cell_type == "code":
                name = exercise_of(check_of(mark.grade_id))
                desk.run_at(page, position, answers.get(name, ""))
            elif mark and cell.cell_type == "code":
                name = exercise_of(mark.grade_id)
                positions[name] = position
                desk.run_at(page, position)
                if name == PATH[HALF]:
                    restart_before(page, position + 1)
        panels = {name: desk.read_output(page, at) for name, at in positions.items()}
        outputs = [desk.read_output(page, position) for position in range(len(CELLS))]

    assert not [text for text in outputs if "Traceback" in text]
    places = contents_of(UNIT.name).places
    assert set(panels) == set(places), "all checks ran"
    for name, panel in panels.items():
        assert ("cases pass." in panel) == (name in PATH), name
        assert (SKIPPED in panel) == (name not in PATH), name
    assert f"Next: {places[PATH[-1]].label}." in panels[PATH[-2]]
    # A check leads to the next exercise below, and the summary to the first one.
    names = list(places)
    ahead = names[names.index(PATH[-1]) + 1 :]
    for order, text in ((ahead, panels[PATH[-1]]), (names, outputs[-1])):
        beyond = next(places[name].label for name in order if name not in PATH)
        assert f"The short path is done. Beyond it: {beyond}." in text
    points = references.points(UNIT.name)
    earned = sum(points[name] for name in PATH)
    assert f"{earned:g} of {sum(points.values()):g} points by checks" in outputs[-1]

    waiting = {
        name.replace("_", " "): text
        for cell, text in zip(CELLS, outputs, strict=True)
        for name in re.findall(r"^@demo\ndef (\w+)", cell.source, re.MULTILINE)
        if " waits: " in text
    }
    assert set(waiting) == {n.replace("_", " ") for n in manifest.read(UNIT).beyond}
    assert all(SKIPPED in text for text in waiting.values())


def restart_before(page, position: int) -> None:
    """See what a new kernel remembers; then run all cells before a position again."""
    desk.restart(page)
    desk.run_at(page, desk.FINDER)
    desk.run_setup(page, "import math")
    last = len(CELLS) - 1
    desk.run_at(page, last)
    assert desk.read_output(page, last).count("passed earlier") == HALF + 1
    desk.select(page, position)
    desk.run_all_above(page)
    desk.when_done(page)
