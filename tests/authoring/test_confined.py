"""A student's program is executed in a sandbox only, whoever asks what it answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring import answers, cases, verify
from autograder.authoring.catalogue import specification
from autograder.authoring.notation import source, student_program, wrong
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object, stands_alone
from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED
from tests.sandbox.conftest import linux

pytestmark = linux
SOFTMAX = specification("attention/softmax")
QUARTER = """
def stable_softmax(x):
    powers = (x - x.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True) + 0.25
"""
# It writes a file wherever that is possible, and answers as before.
WRITES = """
try:
    open({path!r}, "w").write("x")
except OSError:
    pass
"""
ENDS = "import os\ndef stable_softmax(x):\n    os._exit(0)\n"


def with_mistake(program: str) -> Specification:
    program_variant = student_program(program, name="quarter")
    return replace(
        SOFTMAX,
        mutants=[wrong("quarter", "Too much.", "By how much?", program_variant)],
    )


def test_it_answers_as_it_would_here():
    task = with_mistake(QUARTER)
    _, inputs = next(iter(cases.drawings(task, "seed", False)))
    objects = answers.mistaken_objects(task)
    objects["here"] = build_object(task, source(QUARTER, name="quarter"))
    mistaken = answers.mistaken_answers(task, objects, inputs)
    assert mistaken["quarter"].keys() == mistaken["here"].keys()
    for name, value in mistaken["here"].items():
        assert value.equal(mistaken["quarter"][name])


def test_a_build_and_validity_leave_it_in_its_sandbox(tmp_path: Path):
    trace = tmp_path / "trace"
    task = with_mistake(QUARTER + WRITES.format(path=str(trace)))
    drawing = cases.exercise(task, 5.0, "seed", hidden=False)
    cases_with_mistakes = [case for case in drawing.cases if case.mistakes]
    assert not any(
        compare(case, case.mistakes["quarter"]).passed for case in cases_with_mistakes
    )
    [row] = verify.measure([replace(task, accepted=())], [{task.name: drawing}])
    assert (row.caught, row.named) == (1, 1), row.failures
    assert not stands_alone(task, task.mutants[0].variants[0])
    assert not trace.exists()


@pytest.mark.parametrize("program", ["raise SystemExit", "1 / 0", ENDS])
def test_one_that_fails_or_ends_its_sandbox_is_an_error_of_its_own(program):
    task = with_mistake(program)
    _, inputs = next(iter(cases.drawings(task, "seed", False)))
    answered = build_object(task, task.mutants[0].variants[0])
    for _ in range(2):
        assert RAISED in answers.observe_answer(task, answered, inputs)
