"""References are drawn for every check, and kept while they say the same."""

import re
from dataclasses import replace

import pytest
import torch

from autograder.authoring import cases, notebook, references
from autograder.authoring.notation import edit
from autograder.authoring.specification import Specification
from autograder.checks.exercise import Exercise
from autograder.checks.naming import PATTERN
from autograder.checks.sketches import Sketch, sketch_tensor
from autograder.course.errors import CourseError
from tests.tiny_course import as_text


def test_an_exercise_without_cases_is_refused(tmp_path, monkeypatch):
    unit = as_text(tmp_path)
    monkeypatch.setattr(references, "specifications", lambda name: ())
    with pytest.raises(CourseError, match=r"99_tiny.py:17: tiny/double has no cases"):
        references.build(unit, notebook.read(unit))


def test_a_build_that_rounds_otherwise_keeps_the_committed_file(tiny_exercise):
    exercise = draw_exercise(tiny_exercise)
    stored = {exercise.name: exercise}
    assert not references.difference(stored, [with_case(exercise, expected=1e-7)])
    assert not references.difference(stored, [with_case(exercise, mistakes=5e-6)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"expected": 3e-4},
            r'reference "twice" differs in 3 of 3 entries, by .* 0.0003',
        ),
        ({"inputs": 3e-4}, r'input "x" differs in 3 of 3 entries, by at most'),
        ({"mistakes": 1e-3}, r'mistake tripled "twice" differs in 3 of 3 entries'),
    ],
)
def test_a_value_that_changed_is_named_with_its_case_and_by_how_much(
    tiny_exercise, change, message
):
    exercise = draw_exercise(tiny_exercise)
    reason = references.difference(
        {exercise.name: exercise}, [with_case(exercise, **change)]
    )
    assert re.match(f"tiny/double, case plain: {message}", reason)


def test_cases_or_exercises_that_changed_are_named(tiny_exercise):
    exercise = draw_exercise(tiny_exercise)
    emptied = replace(exercise, cases=())
    assert difference(exercise, emptied) == "tiny/double: other cases"
    assert (
        references.difference({"tiny/other": emptied}, [exercise]) == "other exercises"
    )
    assert "no earlier file" in references.difference({}, [exercise])


def test_integers_types_and_shapes_are_compared_exactly(tiny_exercise):
    exercise = draw_exercise(tiny_exercise)
    integers = with_expected(exercise, torch.tensor([10_000_000, 2, 3]))
    changed = with_expected(exercise, torch.tensor([10_000_001, 2, 3]))
    assert "in 1 of 3 entries, by at most 1" in difference(integers, changed)
    short = with_expected(exercise, torch.tensor([10_000_000, 2]))
    assert "was int64 (3,) and is int64 (2,)" in difference(integers, short)
    floats = with_expected(exercise, torch.tensor([1e7, 2, 3]))
    assert "was int64 (3,) and is float32 (3,)" in difference(integers, floats)


def test_a_tensor_is_equal_to_the_sketch_that_is_stored_of_it(tiny_exercise):
    exercise, tensor = draw_exercise(tiny_exercise), torch.arange(30.0)
    stored = with_mistaken(exercise, sketch_tensor(tensor))
    assert not difference(stored, with_mistaken(exercise, tensor))
    reason = difference(stored, with_mistaken(exercise, tensor + 1))
    assert reason.endswith('mistake tripled "twice" changed')


def test_of_a_mistake_that_rounding_decides_only_what_is_wrong_is_kept(tiny_exercise):
    (mutant,) = tiny_exercise.mutants
    steady = draw_exercise(tiny_exercise).cases[0].mistakes["tripled"]
    assert set(steady) == {"twice"}
    amplified = replace(mutant, variants=[edit("2 * x", "(1e9 * x).sin()")])
    unsteady = draw_exercise(replace(tiny_exercise, mutants=[amplified])).cases[0]
    assert unsteady.mistakes["tripled"] == {PATTERN: "x"}


def test_of_a_changed_unit_the_values_that_are_equal_are_kept(tiny_exercise):
    exercise = draw_exercise(tiny_exercise)
    rounded = with_case(exercise, expected=1e-7, inputs=3e-4)
    merged = references.keep_equal({exercise.name: exercise}, rounded).cases[0]
    assert merged.expected["twice"] is exercise.cases[0].expected["twice"]
    assert merged.inputs["x"] is rounded.cases[0].inputs["x"]


def draw_exercise(specification: Specification) -> Exercise:
    return cases.exercise(specification, 10.0, "public", hidden=False)


def difference(old: Exercise, new: Exercise) -> str:
    return references.difference({old.name: old}, [new])


def with_expected(exercise: Exercise, value: torch.Tensor) -> Exercise:
    case = replace(exercise.cases[0], expected={"twice": value})
    return replace(exercise, cases=(case,))


def with_mistaken(exercise: Exercise, value: torch.Tensor | Sketch) -> Exercise:
    case = replace(exercise.cases[0], mistakes={"tripled": {"twice": value}})
    return replace(exercise, cases=(case,))


def with_case(exercise: Exercise, **nudged: float) -> Exercise:
    """The exercise, with floats of its case so much larger."""
    (case,) = exercise.cases
    parts = {}
    for name, by in nudged.items():
        answers = getattr(case, name)
        if name == "mistakes":
            parts[name] = {
                m: {n: v + by for n, v in a.items()} for m, a in answers.items()
            }
        else:
            parts[name] = {n: v + by for n, v in answers.items()}
    return replace(exercise, cases=(replace(case, **parts),))
