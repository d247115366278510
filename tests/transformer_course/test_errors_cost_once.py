"""Whoever leaves an exercise blank loses none of the points that build on it.

Each pair of an exercise and one that builds on it, in this process: the notebook runs
with the earlier one blank, and is asked with the course's version in its place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import nbformat
import pytest

from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.authoring.verify import judge_drawings
from autograder.checks import references
from autograder.checks.agent import in_place
from autograder.checks.panel import as_text
from autograder.checks.words import LEFT_OUT
from autograder.course import Unit, find_unit, grade_ids, units
from autograder.grading.checks import reference_metadata
from autograder.grading.checks.check_cell import check_cell
from autograder.grading.checks.error_carried_forward import (
    find_answers,
    find_prerequisites,
    find_uses,
)
from autograder.grading.judge.reference_substitution import solutions_code

Names = dict[str, Any]
FAST = ("attention/scaled_dot_product", "since_2017/attention_layer")


def earlier_ones() -> Iterator[Any]:
    """The exercises on which others build; all but two take their time."""
    for unit in units():
        entries = reference_metadata.entries(unit.name)  # quick to read
        earlier = {name for entry in entries.values() for name in entry["builds_on"]}
        for name in filter(earlier.__contains__, entries):
            marks = [] if name in FAST else [pytest.mark.slow]
            yield pytest.param(unit, name, marks=marks, id=name)


@pytest.fixture(autouse=True)
def without_demonstrations(monkeypatch):
    monkeypatch.setenv(LEFT_OUT, "1")


def read_solved_cells(unit: Unit) -> list[nbformat.NotebookNode]:
    """The cells of a unit's notebook, with all its solutions."""
    return nbformat.read(unit.source, as_version=4).cells


def replace_answer(
    cells: list[nbformat.NotebookNode], exercise: str, code: str
) -> None:
    """Have another answer in an exercise's cell."""
    for cell in cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("grade_id") == grade_ids.of_answer(exercise):
            cell.source = code


def blank(unit: Unit, exercise: str) -> str:
    """The stub of an exercise, as it is released."""
    (stub,) = (
        cell.source
        for cell in nbformat.read(unit.release, as_version=4).cells
        if cell.metadata.get("nbgrader", {}).get("grade_id")
        == grade_ids.of_answer(exercise)
    )
    return stub


def lost(
    unit: Unit, cells: list[nbformat.NotebookNode], earlier: str, names_asked: set[str]
) -> dict[str, str]:
    """The exercises of those asked that lose points, with what their panels say."""
    tasks = {task.name: task for task in specifications(unit.name)}
    uses = find_uses(cells)
    names: Names = {"__name__": "__main__"}
    panels = {}
    for index, cell in enumerate(cells):
        if check := check_cell(cell):
            if earlier in find_prerequisites(check.exercise, [earlier], uses) and (
                check.exercise in names_asked
            ):
                so_far = cells[: index + 1]
                answers = find_answers(so_far, check.exercise, [earlier], uses)
                with in_place(solutions_code([earlier]), names, answers):
                    panels |= _panel(tasks[check.exercise], names[check.expression])
        elif cell.cell_type == "code":
            with contextlib.suppress(Exception):  # the notebook goes on, too
                exec(cell.source, names)
    return {name: panel for name, panel in panels.items() if panel}


def _panel(exercise: Specification, answer: object) -> Mapping[str, str]:
    """What the panel says, "" where all points are earned."""
    drawings = [_load_drawing(exercise, kind) for kind in ("public", "hidden")]
    result = judge_drawings(exercise, answer, drawings)
    return {exercise.name: "" if result.passed else as_text(result)}


def _load_drawing(exercise: Specification, kind: str) -> Any:
    unit = exercise.name.split("/")[0]
    return references.load(unit, kind, exercise.name)[exercise.name]


def untrained(unit: Unit) -> set[str]:
    """The exercises of a unit, without those for which a model is trained."""
    return {
        exercise.name
        for exercise in specifications(unit.name)
        if not any(kind.measure for kind in exercise.cases)
    }


@pytest.mark.parametrize(("unit", "earlier"), [*earlier_ones()])
def test_a_blank_exercise_costs_none_of_those_that_build_on_it(unit, earlier):
    cells = read_solved_cells(unit)
    replace_answer(cells, earlier, blank(unit, earlier))
    assert lost(unit, cells, earlier, untrained(unit) - {earlier}) == {}


def test_renamed_attributes_of_a_layer_cost_none_of_the_points_of_a_model_of_it():
    unit = find_unit("since_2017")
    cells = read_solved_cells(unit)
    earlier, later = "since_2017/attention_layer", "since_2017/language_model"
    (code,) = (c.source for c in cells if "class CausalAttention(" in c.source)
    replace_answer(cells, earlier, code.replace("self.w_", "self.my_"))
    assert lost(unit, cells, earlier, {later}) == {}
