"""An argument of another name is passed by position, and costs little."""

from typing import Any

import torch
from torch import nn

from autograder.checks.compare import compare, judge
from autograder.checks.exercise import RAISED, RENAMED, Answers, Case, Exercise
from autograder.checks.observe import observe
from autograder.checks.points import earned
from autograder.checks.prices import RENAMED_ARGUMENT
from autograder.checks.renamed import adapt, note, report

X = torch.ones(2)
NAMES = {"scale": ("x", "factor"), "Scale.__init__": ("self", "factor")}


def scale(x: torch.Tensor, by: float = 1.0) -> torch.Tensor:
    return x * by


class Scale(nn.Module):
    def __init__(self, by: float = 1.0):
        super().__init__()
        self.by = by

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.by


def by_name(answer: Any, inputs: Answers) -> dict[str, torch.Tensor]:
    return {"y": answer(inputs["x"], factor=2.0)}


def verdict(answer: object, names: dict[str, tuple[str, ...]] = NAMES) -> Any:
    cases = tuple(
        Case(name, name, "", {"x": number * X}, {"y": 2 * number * X})
        for number, name in enumerate("abc", 1)
    )
    exercise = Exercise("u/e", "E", 10.0, cases, arguments=names)
    return judge(exercise, cases, lambda case: observe(by_name, answer, case.inputs))


def test_a_renamed_argument_costs_its_price_and_is_named():
    result = verdict(scale)
    assert result.points == 10 * (1 - RENAMED_ARGUMENT)
    earned_names, possible_names = result.aspects["names"]
    assert earned_names == 0 and abs(possible_names - 0.5) < 1e-9
    says = "Your argument `by` is called `factor` in the task."
    assert result.sure and result.mistake.says == says
    assert [r.passed for r in result.results] == [False, True, True]
    assert result.results[0].findings[0].message == says


def test_a_name_that_no_program_has_is_no_finding():
    forged = {RENAMED: f"{'n' * 10_000} factor"}
    case = Case("a", "a", "", {"x": X}, {"y": X})
    assert note((compare(case, forged),))[1] is None


def test_the_rest_is_graded_as_usual():
    result = verdict(lambda x, by: x + by)
    assert result.points == 0 and "factor" in result.results[0].answers[RAISED]

    def adds(x: torch.Tensor, by: float) -> torch.Tensor:
        return x + by

    adds.__name__ = "scale"
    result = verdict(adds)
    assert 0 < result.points <= 5  # right for one of the three inputs alone
    assert result.mistake is None or result.mistake.name != "renamed"


def test_without_names_and_for_other_errors_nothing_is_tried_again():
    assert verdict(scale, {}).points == 0

    def refuses(x: torch.Tensor, factor: float) -> torch.Tensor:
        raise TypeError("no")

    refuses.__name__ = "scale"
    assert verdict(refuses).points == 0


def test_a_class_is_made_by_the_names_of_the_task():
    names: dict[str, str] = {}
    adapted = adapt(Scale, NAMES, names)
    assert issubclass(adapted, Scale) and adapted.__name__ == "Scale"
    assert torch.equal(adapted(factor=3.0)(X), 3 * X)
    assert names == {"factor": "by"} and report(names) != report({}) == {}
    assert torch.equal(adapt((scale,), NAMES, names)[0](X, factor=2.0), 2 * X)


def test_a_name_that_the_function_has_at_another_place_stays():
    def swapped(factor: float, x: torch.Tensor) -> torch.Tensor:
        return x * factor

    swapped.__name__ = "scale"
    names: dict[str, str] = {}
    assert torch.equal(adapt(swapped, NAMES, names)(x=X, factor=2.0), 2 * X)
    assert not names


def test_points_of_an_exercise_stay_whole_if_nothing_was_renamed():
    case = Case("c", "c", "", {}, {"y": X})
    assert "names" not in earned(Exercise("u/e", "E", 1.0, (case,)), [])
