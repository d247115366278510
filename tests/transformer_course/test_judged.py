"""The judge examines a model that reverses as a notebook does, only faster."""

import random

import pytest
import torch

from autograder.authoring.cases import fresh_cases
from autograder.authoring.catalogue import specification
from autograder.checks.probes.weights import with_weights
from transformer_course.sequence_reversal.probes import symptoms, trained

TASK = specification("sequence_reversal/trained_model")


def after(steps: int) -> torch.nn.Module:
    """A model of the course's sizes after some steps of training, in eval mode."""
    torch.manual_seed(2)
    model = trained._create_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    source = fresh_cases(TASK, "train")[0].inputs["source"].long()
    labels = symptoms.reverse_rows(source)
    decoder_input = torch.cat((torch.ones_like(labels[:, :1]), labels[:, :-1]), dim=1)
    for _ in range(steps):
        logits = model(source, decoder_input)
        loss = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), labels, ignore_index=0
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@pytest.mark.parametrize("steps", [pytest.param(0, marks=pytest.mark.slow), 15])
def test_the_judge_sees_what_the_notebook_sees(steps):
    weights = trained._report_weights(after(steps))
    inputs = fresh_cases(TASK, "seed")[0].inputs
    local = trained.Reverser(inputs, random.Random(0))
    judged = TASK.interactor_class(inputs, random.Random(0))
    model = with_weights(trained._create_model(), weights, "another model")
    with torch.no_grad():
        rows = [side.decode(model, inputs["source"].long()) for side in (local, judged)]
    assert torch.equal(*rows) and local.conclude(weights) == judged.conclude(weights)


def test_a_seed_reaches_a_training_behind_a_wrapper():
    def training(seed: int, weights: str = "") -> None:
        torch.manual_seed(seed)
        layer = torch.nn.Linear(2, 2)
        layer(torch.ones(1, 2)).sum().backward()
        torch.optim.SGD(layer.parameters(), lr=0.1).step()

    def timed(*arguments: object, **options: object) -> None:
        return training(*arguments, **options)

    seeds = {"seeds": torch.tensor([1, 2])}
    for function in (training, timed):
        assert all(trained._observe_seed(function, seeds).values())
    unseeded = trained._observe_seed(lambda *_: training(1), seeds)
    assert not unseeded["others from another seed"]
