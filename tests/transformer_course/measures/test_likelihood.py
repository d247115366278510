"""The model of unit 07 is measured by its weights, in the course's own architecture."""

import math
import random

import pytest
import torch
from torch import nn

from autograder.authoring.draw import Draw
from autograder.checks.compare import credit
from autograder.checks.exercise import RAISED, WrongAnswerError
from autograder.checks.interactor import concluded
from autograder.checks.measures import details, measure_answers, remark
from autograder.checks.probes import find
from transformer_course.since_2017.exercises.trained_model import (
    EXERCISE,
    instructors_model,
)
from transformer_course.solutions.since_2017 import new_model

PROBE = find("since_2017/trained_model")
INPUTS = EXERCISE.cases[0].inputs(Draw("a test"))


def graded(model):
    """What the judge concludes from what a model reports beside the student's code."""
    side = PROBE.interactor(INPUTS, random.Random(0))
    report = PROBE.play(lambda: model, side.reveal_inputs(), ask=lambda question: {})
    return side.conclude(report)


def priced(nats):
    """The answers of a model that finds a byte as dear as this."""
    return {"nats": torch.tensor(nats, dtype=torch.float64), "likelihood": "writes"}


def value(answers):
    return measure_answers("likelihood", {}, answers)


class Peeking(nn.Module):
    """Knows the next byte, since it reads it."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(9.0))

    def forward(self, ids):
        return self.scale * nn.functional.one_hot(ids.roll(-1, 1), 128)


def test_the_recipes_model_earns_all_points_and_an_untrained_one_none():
    trained, _ = value(graded(instructors_model()))
    torch.manual_seed(0)
    untrained, _ = value(graded(new_model()))
    scale = EXERCISE.cases[0].scale
    assert credit(trained, scale) >= 1 > credit(untrained, scale) == 0


def test_the_text_stays_with_the_judge():
    assert "windows" in INPUTS
    assert not PROBE.interactor(INPUTS, random.Random(0)).reveal_inputs()


def test_a_module_of_another_make_is_not_measured():
    with pytest.raises(WrongAnswerError, match="not those of a `new_model"):
        graded(Peeking())


def test_in_a_notebook_a_model_that_sees_the_future_earns_nothing_and_is_told():
    score, reason = value(PROBE(lambda: Peeking(), INPUTS))
    assert score == 0 and "a later byte changes earlier logits" in reason


@pytest.mark.parametrize("nats", [math.nan, -1.0, math.inf])
def test_a_price_that_cannot_be_is_worth_nothing(nats):
    assert value(priced(nats))[0] == 0


@pytest.mark.parametrize("nats", [math.nan, math.inf, 1e4])
def test_of_a_price_beyond_numbers_no_number_is_told(nats):
    shown_details = details("likelihood", {}, priced(nats))
    assert all(map(math.isfinite, shown_details.values()))
    assert "diverged" in remark("likelihood", {}, priced(nats))


# --- who changes the weights, or the way to them --------------------------------------


def reported():
    """The weights of the recipe's model, as the sandbox reports them."""
    return dict(PROBE.play(instructors_model, {}, ask=lambda question: {}))


def without(weights, name):
    return {n: w for n, w in weights.items() if n != name}


FIRST = "weights.blocks.0.attention.w_q.weight"


@pytest.mark.parametrize(
    "change",
    [
        lambda w: without(w, FIRST),
        lambda w: w | {"weights.one_more": torch.zeros(1)},
        lambda w: w | {"nats": torch.tensor(0.1), "likelihood": "writes"},
        lambda w: {"nats": torch.tensor(0.1), "likelihood": "writes"},
        lambda w: w | {FIRST: w[FIRST].double()},
        lambda w: w | {FIRST: w[FIRST].half()},
        lambda w: w | {FIRST: w[FIRST][:, :-1]},
        lambda w: w | {FIRST: w[FIRST].flatten()},
        lambda w: w | {FIRST: w[FIRST].expand(9, *w[FIRST].shape)},
        lambda w: w | {FIRST: "a text"},
        lambda w: {n.removeprefix("weights."): value for n, value in w.items()},
        lambda w: {},
    ],
)
def test_a_report_of_anything_but_all_weights_is_not_taken(change):
    answers = concluded(PROBE.interactor(INPUTS, random.Random(0)), change(reported()))
    assert set(answers) == {RAISED} and "not those of a `new_model" in str(
        answers[RAISED]
    )


@pytest.mark.parametrize("filled", [math.nan, math.inf, -math.inf, 3e38, 1e-45, 0.0])
@pytest.mark.parametrize("ending", ["norm.weight", "embedding.weight", ""])
def test_weights_beyond_numbers_earn_nothing(filled, ending):
    wrong = {
        name: torch.full_like(value, filled) if name.endswith(ending) else value
        for name, value in reported().items()
    }
    answers = concluded(PROBE.interactor(INPUTS, random.Random(0)), wrong)
    assert credit(value(answers)[0], EXERCISE.cases[0].scale) == 0


class Silent(type(new_model())):
    """Computes as it was trained, and reports zeros."""

    def named_parameters(self, *args, **options):
        for name, parameter in super().named_parameters(*args, **options):
            yield name, nn.Parameter(torch.zeros_like(parameter))


class PeekingWithWeights(type(new_model())):
    """Reports its weights, and has a forward pass of its own."""

    def forward(self, ids):
        return 9.0 * nn.functional.one_hot(ids.roll(-1, 1), 128)


def hooked_model() -> nn.Module:
    """A model whose outputs a hook replaces."""
    model = new_model()
    model.register_forward_hook(
        lambda module, shown, logits: 9.0 * nn.functional.one_hot(shown[0], 128)
    )
    return model


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (instructors_model, Silent),
        (new_model, PeekingWithWeights),
        (hooked_model, type(new_model())),
    ],
)
def test_a_model_earns_what_the_weights_earn_that_it_reports(start, kind):
    torch.manual_seed(0)
    model = start()
    model.__class__ = kind
    assert credit(value(graded(model))[0], EXERCISE.cases[0].scale) == 0


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_weights_that_are_half_noise_earn_less_than_half(share):
    torch.manual_seed(0)
    noisy = {
        name: (1 - share) * weight + share * weight.std() * torch.randn(weight.shape)
        for name, weight in reported().items()
        if weight.dim() == 2
    }
    answers = concluded(PROBE.interactor(INPUTS, random.Random(0)), reported() | noisy)
    earned = credit(value(answers)[0], EXERCISE.cases[0].scale)
    assert (earned >= 1) if share == 0 else (earned < 0.5)
