"""Mutation testing of the checks, as ``autograder validity`` reports it."""

import pytest

from autograder.authoring.answers import mistaken_answers, mistaken_objects
from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specifications
from autograder.authoring.verify import uneven
from autograder.checks.compare import compare
from autograder.checks.interactor import Interactor
from autograder.checks.references import load
from autograder.cli import main
from autograder.course import units
from tests.authoring.convincing import convincing
from tests.conftest import mostly_slow


@pytest.mark.parametrize("unit", mostly_slow())
def test_mutants_are_caught_and_named_and_accepted_solutions_accepted(unit):
    convincing(specifications(unit.name))


@pytest.mark.long(seconds=60)
@pytest.mark.slow
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_a_mistake_costs_the_same_whatever_is_drawn(unit):
    visible = load(unit.name)
    for exercise in specifications(unit.name):
        assert list(uneven(exercise, visible[exercise.name], draws=6)) == []


@pytest.mark.slow
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_a_mistake_that_passes_a_played_case_does_so_in_each_drawing(unit):
    """Grading does not run it there to name it (`grading/judge/naming.py`)."""
    visible = load(unit.name)
    for exercise in specifications(unit.name):
        if exercise.side is Interactor:
            continue
        mistakes = mistaken_objects(exercise)
        shown = {case.name: case for case in visible[exercise.name].cases}
        for case in fresh_cases(exercise, "draw 0"):
            if case.measure or case.name not in shown:
                continue
            before = shown[case.name]
            known = before.mistakes.items()
            right = {n: mistakes[n] for n, own in known if compare(before, own).passed}
            for name, given in mistaken_answers(exercise, right, case.inputs).items():
                assert compare(case, given).passed, f"{case.name}, {name}"


def test_the_command_prints_a_row_an_exercise_and_a_total(capsys, monkeypatch):
    """Of two exercises: all of them are measured above."""
    two = list(specifications("attention"))[:2]
    monkeypatch.setattr(
        "autograder.authoring.catalogue.specifications", lambda unit: two
    )
    assert main(["validity", "attention"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert ["mutants caught" in line for line in lines] == [True, True, True]
    assert lines[0].startswith("attention/") and lines[-1].startswith("total")


def test_an_unknown_unit_is_a_plain_error(capsys):
    assert main(["validity", "no_such_unit"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "there are 01_positional_encoding" in error
