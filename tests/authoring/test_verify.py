"""Mutation testing of the checks, as ``autograder validity`` reports it."""

from collections.abc import Iterable, Iterator

import pytest

from autograder.authoring.answers import mistaken_answers, mistaken_objects
from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object
from autograder.checks.compare import compare
from autograder.checks.exercise import Case, CaseResult, Exercise
from autograder.checks.interactor import Interactor
from autograder.checks.observe import observe
from autograder.checks.points import credits
from autograder.checks.probes import find
from autograder.checks.references import load
from autograder.cli import main
from autograder.course import units
from tests.authoring.convincing import convincing
from tests.conftest import mostly_slow

# Sentences for which a wrong search loses the best beam are rare: drawing them would
# take 13 seconds for each hand-in.
LEFT_TO_CHANCE = ("text_recovery/beam_search",)


@pytest.mark.parametrize("unit", mostly_slow())
def test_mutants_are_caught_and_named_and_accepted_solutions_accepted(unit):
    convincing(specifications(unit.name))


@pytest.mark.long(seconds=60)
@pytest.mark.slow
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_a_mistake_costs_the_same_whatever_is_drawn(unit):
    """Two students with the same mistake should lose the same points."""
    visible = load(unit.name)
    for exercise in specifications(unit.name):
        if exercise.name not in LEFT_TO_CHANCE:
            assert list(_uneven(exercise, visible[exercise.name], draws=8)) == []


def _uneven(
    specification: Specification, visible: Exercise, draws: int
) -> Iterator[str]:
    """Mutants that lose other points in some fresh drawings than in others, by case.

    They are written as a specification's ``tells`` states them. What the visible
    drawing takes is lost anyway; shares of measured cases always differ.
    """
    drawings = [fresh_cases(specification, f"draw {n}") for n in range(draws)]
    for variant in (
        variant for mutant in specification.mutants for variant in mutant.variants
    ):
        program = build_object(specification, variant)
        visible_results = _results(specification, program, visible.cases)
        shares = list(credits(visible_results).values())
        names = {name for credited in shares for name in credited}
        lost = {
            name for name in names if not any(credited.get(name) for credited in shares)
        }
        first, *later_shares = (
            credits([*visible_results, *_results(specification, program, fresh, lost)])
            for fresh in drawings
        )
        own_aspects = {case.name: case.aspect for case in drawings[0]}
        for aspect, credited in first.items():
            for name, share in credited.items():
                if any(later[aspect].get(name, 1.0) != share for later in later_shares):
                    suffix = "" if aspect == own_aspects[name] else f"/{aspect}"
                    yield f'{specification.name}: "{name}": "{variant.name}{suffix}"'


def _results(
    specification: Specification, program: object, cases: Iterable[Case],
    lost: set[str] = frozenset(),
) -> list[CaseResult]:  # fmt: skip
    probe = find(specification.name)
    return [
        compare(case, observe(probe, program, dict(case.inputs)))
        for case in cases
        if not case.measure and case.name not in lost
    ]


@pytest.mark.slow
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_a_mistake_that_passes_a_played_case_does_so_in_each_drawing(unit):
    """Grading does not run it there to name it (`grading/judge/naming.py`)."""
    visible = load(unit.name)
    for exercise in specifications(unit.name):
        if exercise.interactor_class is Interactor:
            continue
        mistakes = mistaken_objects(exercise)
        visible_cases = {case.name: case for case in visible[exercise.name].cases}
        for case in fresh_cases(exercise, "draw 0"):
            if case.measure or case.name not in visible_cases:
                continue
            before = visible_cases[case.name]
            mistakes_before = before.mistakes.items()
            right = {
                n: mistakes[n]
                for n, earlier_answers in mistakes_before
                if compare(before, earlier_answers).passed
            }
            for name, drawn_answers in mistaken_answers(
                exercise, right, case.inputs
            ).items():
                assert compare(case, drawn_answers).passed, f"{case.name}, {name}"


def test_the_command_prints_a_row_an_exercise_and_a_total(capsys, monkeypatch):
    """Of two exercises: all of them are measured above."""
    two = list(specifications("attention"))[:2]
    monkeypatch.setattr(
        "autograder.authoring.catalogue.specifications", lambda unit: two
    )
    assert main(["validity", "attention"]) == 0
    printed = capsys.readouterr().out.splitlines()
    lines = [line for line in printed if not line.startswith(" ")]  # unnamed mutants
    assert ["mutants caught" in line for line in lines] == [True, True, True]
    assert lines[0].startswith("attention/") and lines[-1].startswith("total")


def test_an_unknown_unit_is_a_plain_error(capsys):
    assert main(["validity", "no_such_unit"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "there are 01_positional_encoding" in error
