"""The model of unit 07 is measured by its weights, in the course's own architecture."""

import math
import random

import pytest
import torch
from torch import nn

from autograder.bank.since_2017.trained_model import EXERCISE, instructors_model
from autograder.oracle.draw import Draw
from autograder.solutions.since_2017 import new_model
from autograder.student.compare import credit
from autograder.student.exercise import WrongAnswer
from autograder.student.measures import measured
from autograder.student.probes import find

PROBE = find("since_2017/trained_model")
INPUTS = EXERCISE.cases[0].inputs(Draw("a test"))


def graded(model):
    """What the judge concludes from what a model reports beside the student's code."""
    side = PROBE.other(INPUTS, random.Random(0))
    report = PROBE.play(lambda: model, side.shown(), ask=lambda question: {})
    return side.conclude(report)


def value(answers):
    return measured("likelihood", {}, answers)


class Peeking(nn.Module):
    """Knows the next byte, since it reads it."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(9.0))

    def forward(self, ids):
        return self.scale * nn.functional.one_hot(ids.roll(-1, 1), 128)


class PeekingWithWeights(type(new_model())):
    """The right weights, and a forward pass of its own."""

    def forward(self, ids):
        return 9.0 * nn.functional.one_hot(ids.roll(-1, 1), 128)


def test_the_recipes_model_earns_all_points_and_an_untrained_one_none():
    trained, _ = value(graded(instructors_model()))
    torch.manual_seed(0)
    untrained, _ = value(graded(new_model()))
    scale = EXERCISE.cases[0].scale
    assert credit(trained, scale) >= 1 > credit(untrained, scale) == 0


def test_the_text_stays_with_the_judge():
    assert "windows" in INPUTS
    assert not PROBE.other(INPUTS, random.Random(0)).shown()


def test_a_module_of_another_make_is_not_measured():
    with pytest.raises(WrongAnswer, match="not those of a `new_model"):
        graded(Peeking())


def test_a_forward_pass_of_ones_own_earns_what_the_weights_earn():
    torch.manual_seed(0)
    model = new_model()
    model.__class__ = PeekingWithWeights
    assert value(graded(model))[0] < 5


def test_in_a_notebook_a_model_that_sees_the_future_earns_nothing_and_is_told():
    found, reason = value(PROBE(lambda: Peeking(), INPUTS))
    assert found == 0 and "a later byte changes earlier logits" in reason


@pytest.mark.parametrize("nats", [math.nan, -1.0, math.inf])
def test_a_price_that_cannot_be_is_worth_nothing(nats):
    answers = {"nats": torch.tensor(nats, dtype=torch.float64), "likelihood": "writes"}
    assert value(answers)[0] == 0
