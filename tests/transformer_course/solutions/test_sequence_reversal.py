"""The reference really reverses, for every seed, and agrees with PyTorch's parts."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

import pytest
import torch
from safetensors.torch import save_model
from torch import nn

from autograder.authoring.cases import drawings
from autograder.authoring.catalogue import specification
from autograder.checks.observe import observe
from autograder.checks.probes import find
from tests.transformer_course.solutions.reversals import fresh, score, trained
from transformer_course.solutions import sequence_reversal as unit

EXACT = 0.98  # what every seed must reach on fresh sequences


def train(sequences: Callable, change: Callable = lambda model: None) -> nn.Module:
    """A model trained for 300 steps, after a change."""
    torch.manual_seed(1)
    model = unit.new_model()
    change(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98), fused=True)
    unit.fit(model, optimizer, lambda: unit.make_batch(sequences()), 300, 30)
    return model


def symptom(model: nn.Module) -> str:
    """What the probe says of a model."""
    exercise = specification("sequence_reversal/trained_model")
    _, inputs = next(iter(drawings(exercise, "a test", hidden=False)))
    answers = observe(find(exercise.name), lambda: model, inputs)
    return answers.get("raised") or answers["exact match"]


@pytest.fixture(scope="module")
def model() -> nn.Module:
    return trained(0)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))]
)
def test_reference_reverses_2000_fresh_sequences(seed):
    assert score(trained(seed), fresh(seed)) >= EXACT


def test_weights_from_a_file_give_the_same_model(model, tmp_path):
    path = str(tmp_path / "weights.safetensors")
    save_model(model, path)
    started = time.process_time()
    loaded = unit.trained_model(seed=5, weights=path)
    assert time.process_time() - started < 1.0
    source, target = unit.make_batch(fresh(3, 10))
    torch.testing.assert_close(loaded(source, target), model(source, target))


def test_probe_calls_the_reference_a_reversal(model):
    assert symptom(model) == "reverses"


def test_length_generalisation_is_a_cliff(model):
    for length, least, most in ((9, 0.95, 1.0), (10, 0.95, 1.0), (12, 0.0, 0.05)):
        rng = random.Random(length)
        rows = [rng.choices(range(4, 14), k=length) for _ in range(200)]
        assert least <= score(model, rows) <= most


def test_one_sequence_is_decoded_as_in_a_batch(model):
    source, _ = unit.make_batch(fresh(5, 40))
    for row, written in zip(source, unit.greedy_decode(model, source, 11), strict=True):
        alone = unit.greedy_sequence(model, row[None], 11)
        assert (
            alone == written[: len(alone)].tolist() and not written[len(alone) :].any()
        )


def test_schedule_is_that_of_pytorch():
    warmup, steps, floor = 7, 40, 0.1
    parameter = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    schedule = torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warmup, 1, warmup - 1),
            torch.optim.lr_scheduler.CosineAnnealingLR(
                optimizer, steps - warmup, eta_min=floor
            ),
        ],
        milestones=[warmup],
    )
    for step in range(steps):
        theirs = optimizer.param_groups[0]["lr"]
        assert math.isclose(unit.rate_factor(step, warmup, steps, floor), theirs)
        optimizer.step()
        schedule.step()


def test_loss_of_a_uniform_guess_is_log_of_the_vocabulary():
    labels = torch.tensor([[5, 7, 2, 0], [9, 2, 0, 0]])
    loss = unit.masked_loss(torch.zeros(2, 4, 14), labels)
    torch.testing.assert_close(loss, torch.tensor(math.log(14)))


def _without_causal_mask(model: nn.Module) -> None:
    for name, layer in model.named_modules():
        if name.endswith("self_attention"):
            layer.register_forward_pre_hook(lambda layer, given: given[:3])


def _without_positions(model: nn.Module) -> None:
    for table in model.buffers():
        table.zero_()


def _random_rows() -> Callable:
    rng = random.Random(2)
    return lambda: unit.random_sequences(64, rng)


def _runs() -> Callable:
    runs = [list(range(a, b + 1)) for a in range(4, 14) for b in range(a, 14)]
    rng = random.Random(2)
    return lambda: rng.choices(runs, k=64)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sequences", "change", "said"),
    [
        # The weights are tried in the course's model, which has a mask and positions.
        (_random_rows(), _without_causal_mask, "hardly any row is right"),
        (_random_rows(), _without_positions, "hardly any row is right"),
        (_runs(), lambda model: None, "runs of numbers only"),
    ],
    ids=["no causal mask", "no positions", "runs only"],
)
def test_models_that_went_wrong_are_recognised(sequences, change, said):
    assert symptom(train(sequences, change)) == said


@pytest.mark.slow
def test_other_styles_of_the_model_train_as_well():
    """Post-norm, GELU, one shared table without the output, four heads."""
    make = unit.encoder_decoder.Transformer

    def with_changes(*sizes, **options):
        options |= {"num_heads": 4, "norm_first": False, "activation": "gelu"}
        return make(*sizes, **options)

    unit.encoder_decoder.Transformer = with_changes
    try:
        model = unit.trained_model(2)
    finally:
        unit.encoder_decoder.Transformer = make
    assert score(model, fresh(2)) >= EXACT


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("top_k", [None, 1, 4, 40])
@pytest.mark.parametrize("top_p", [None, 0.3, 0.9, 1.0])
def test_sampling_agrees_with_the_library_that_most_people_use(
    temperature, top_k, top_p
):
    library = pytest.importorskip("transformers")
    torch.manual_seed(0)
    logits = 3 * torch.randn(5, 12)
    scores = library.TemperatureLogitsWarper(temperature)(None, logits.clone())
    if top_k is not None:
        scores = library.TopKLogitsWarper(top_k)(None, scores)
    if top_p is not None:
        scores = library.TopPLogitsWarper(top_p)(None, scores)
    ours = unit.sampling_distribution(logits, temperature, top_k, top_p)
    torch.testing.assert_close(ours, scores.softmax(-1))


def test_a_model_that_knows_nothing_has_the_perplexity_of_its_vocabulary():
    labels = torch.tensor([[3, 4, 2], [5, 2, 0]])
    nats, perplexity = unit.perplexity([(torch.zeros(2, 3, 14), labels)])
    assert nats == pytest.approx(math.log(14)) and perplexity == pytest.approx(14)
