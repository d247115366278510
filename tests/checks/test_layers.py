"""Two mistakes are named where each shows in something else."""

import pytest
import torch

from autograder.checks.compare import judge
from autograder.checks.exercise import Case, Exercise, Mistake

X, Y = torch.arange(6.0).view(2, 3) + 1, torch.arange(6.0).view(2, 3) - 9.5
GRADIENT = "gradient of x"
MINOR = {GRADIENT: "learning", "x afterwards": "calls", "parameters": "learning"}


def threes(x):
    return torch.full_like(x, 3.0)


def right(x):
    return {"twice": 2 * x, GRADIENT: torch.full_like(x, 2.0), "x afterwards": x}


@pytest.fixture
def exercise():
    """Doubling: tripling also changes gradients, and forgetting them is a mistake."""

    def mistakes(x):
        tripled = {**right(x), "twice": 3 * x, GRADIENT: threes(x)}
        detached = {**right(x), GRADIENT: torch.zeros_like(x)}
        return {"tripled": tripled, "detached": detached}

    cases = [
        Case(f"case {n}", "c", "", {"x": x}, right(x), mistakes(x), aspects=MINOR)
        for n, x in enumerate((X, Y))
    ]
    named = {
        "tripled": Mistake("tripled", "You tripled.", "How many are two?"),
        "detached": Mistake("detached", "The graph is cut.", "Where?"),
    }
    return Exercise("tiny/double", "Doubling", 10.0, tuple(cases), named)


def named(exercise, **changes):
    """The verdict on answers that differ from the right ones by these functions."""
    names = {"gradient": GRADIENT, "afterwards": "x afterwards", "twice": "twice"}

    def ask(case):
        x = case.inputs["x"]
        changed = {names[name]: change(x) for name, change in changes.items()}
        return {**right(x), **changed}

    return judge(exercise, exercise.cases, ask)


def test_a_mistake_in_results_and_one_beside_them_are_both_named(exercise):
    changes = {"gradient": threes, "afterwards": torch.zeros_like}
    verdict = named(exercise, twice=lambda x: 3 * x, **changes)
    assert verdict.mistake.name == "input_changed + tripled" and verdict.sure
    assert "(2) You tripled." in verdict.mistake.says


def test_what_a_mistake_changes_beside_results_is_no_second_one(exercise):
    """The gradient of what was tripled is wrong anyway, in whichever way."""
    verdict = named(exercise, twice=lambda x: 3 * x, gradient=torch.zeros_like)
    assert " + " not in verdict.mistake.name
    assert "two mistakes" not in verdict.mistake.says


def test_two_known_mistakes_beside_right_results_are_named(exercise):
    verdict = named(exercise, gradient=torch.zeros_like, afterwards=torch.zeros_like)
    assert set(verdict.mistake.name.split(" + ")) == {"detached", "input_changed"}


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (lambda x: x.double(), "float64"),
        (lambda x: x.half(), "float16"),
        (lambda x: x[None], "should have 2 dimensions, but yours has 3"),
    ],
)
def test_a_known_mistake_in_another_form_is_named(exercise, convert, message):
    verdict = named(exercise, twice=lambda x: convert(3 * x), gradient=threes)
    assert verdict.mistake.name == "seen + tripled"
    assert message in verdict.mistake.says


def test_a_wrong_form_alone_and_one_of_unknown_results_stay_as_they_are(exercise):
    alone = named(exercise, twice=lambda x: (2 * x).double())
    unknown = named(exercise, twice=lambda x: (5 * x).double())
    assert [" + " in v.mistake.name for v in (alone, unknown)] == [False, False]


def test_another_order_of_dimensions_is_no_form_that_is_set_right(exercise):
    verdict = named(exercise, twice=lambda x: (3 * x).T.double())
    assert " + " not in verdict.mistake.name


def test_a_tensor_where_a_text_is_expected_has_no_form_to_set_right():
    case = Case("case", "c", "", {}, {"verdict": "rejected"}, {})
    exercise = Exercise("unit/one", "One", 1.0, (case,))
    result = judge(exercise, [case], lambda case: {"verdict": torch.tensor(False)})
    assert not result.passed and result.points == 0
