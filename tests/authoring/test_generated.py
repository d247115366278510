"""Generated mutants are counted; a survivor is equivalent for a reason, or named."""

from fnmatch import fnmatchcase

import pytest

from autograder.authoring import generated
from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specifications
from autograder.authoring.mutations import Mutation, mutations
from autograder.authoring.variants import solution_source
from autograder.course import units

# Models that are handed in, or trained for minutes: their mutants are not counted.
LEFT_OUT = (
    "sequence_reversal/trained_model",
    "text_recovery/model",
    "since_2017/trained_model",
)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_no_generated_mutant_survives_without_a_reason(unit):
    exercises = [e for e in specifications(unit.name) if e.name not in LEFT_OUT]
    counts = [generated.count(exercise) for exercise in exercises]
    assert sum(count.generated for count in counts) >= 30 * len(exercises)
    assert {c.name: c.survivors for c in counts if c.survivors} == {}


@pytest.mark.slow
def test_every_reason_belongs_to_a_mutant():
    for unit in units():
        for exercise in specifications(unit.name):
            reasons = list(generated.read_reasons().get(exercise.name, {}))
            mutants = mutations(solution_source(exercise))
            while reasons and (
                mutation := next(mutants, None)
            ):  # none that nobody needs
                name = generated.describe(mutation)
                reasons = [
                    pattern for pattern in reasons if not fnmatchcase(name, pattern)
                ]
            assert reasons == []


def test_a_mutant_that_never_ends_is_caught(tiny_exercise):
    endless = Mutation("loop", "", "def double(x):\n    while True: pass\n")
    case = fresh_cases(tiny_exercise, "a")
    assert generated.is_caught(tiny_exercise, endless, case)


def test_a_long_change_is_told_by_what_is_new():
    old = "def f(x): " + "a = 1; " * 40
    text = generated.describe(Mutation("remember", f"{old} -> {old} b = 2", ""))
    assert len(text) < 200 and text.startswith("remember: ...")
