"""What is true of every exercise in the bank."""

import shutil
import sys
from types import ModuleType

import pytest

from autograder.authoring import catalogue
from autograder.authoring.cases import all_kinds
from autograder.authoring.catalogue import specifications
from autograder.authoring.notebook import read
from autograder.authoring.specification import Specification
from autograder.checks.references import load
from autograder.checks.wire import Limits, packed
from autograder.course import ROOT, find_unit, units


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_names_are_distinct_and_mistakes_have_something_to_say(unit):
    for exercise in specifications(unit.name):
        variants = [
            variant.name for mutant in exercise.mutants for variant in mutant.variants
        ]
        names = [*variants, *(solution.name for solution in exercise.accepted)]
        assert len(set(names)) == len(names), exercise.name
        for mutant in exercise.mutants:
            assert mutant.says and mutant.asks, mutant.name
        tells = " ".join(exercise.tells.values()).split()
        assert {tell.partition("/")[0] for tell in tells} <= set(variants), (
            exercise.name
        )
        kinds = {kind.name for kind in all_kinds(exercise)} if exercise.tells else set()
        assert exercise.tells.keys() <= kinds, exercise.name


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_what_a_case_shows_and_expects_fits_into_a_message(unit):
    """With room for what another drawing, and a wrong answer, make longer."""
    for kind in ("public", "hidden"):
        for name, exercise in load(unit.name, kind).items():
            for case in exercise.cases:
                for values in (case.inputs, case.expected):
                    message = packed(values)
                    assert len(message.entries) < Limits.header / 3, name
                    assert len(message.data) < Limits.data / 3, name
                    assert len(values) < Limits.entries / 3, name


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_exercises_come_in_the_order_of_the_notebook(unit):
    checks = [cell.name for cell in read(unit) if cell.role == "check"]
    assert [exercise.name for exercise in specifications(unit.name)] == checks


def test_an_exercise_that_the_notebook_lacks_comes_last(tmp_path, monkeypatch):
    folder = tmp_path / "attention" / "exercises"
    shutil.copytree(find_unit("attention").folder / "exercises", folder)
    (folder / "again.py").touch()
    module = ModuleType("transformer_course.attention.exercises.again")
    module.EXERCISE = Specification(cases=[])
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(catalogue, "CONTENT", tmp_path)
    assert [exercise.target for exercise in specifications("attention")][-1] == "again"


def test_every_file_is_found_and_named_like_its_exercise():
    files = (ROOT / "transformer_course").glob("*/exercises/[!_]*.py")
    named = {f"{path.parts[-3]}/{path.stem}" for path in files}
    listed = (specifications(unit.name) for unit in units())
    assert named == {exercise.name for unit in listed for exercise in unit}
