"""What the text of unit 05 says of training, attention and decoding, measured."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from tests.transformer_course.solutions.given import code
from tests.transformer_course.solutions.reversals import (
    exact_match,
    fresh,
    score,
    trained,
)
from transformer_course.solutions import sequence_reversal as unit

UNIT = "sequence_reversal"
MOMENTS = ("mean", "square")


def untrained() -> tuple[nn.Module, Callable[[], float], Tensor]:
    """A model, its loss on fresh sequences, and its gradient on others."""
    torch.manual_seed(0)
    model = unit.new_model()

    def loss(count: int, seed: int) -> Tensor:
        rows = unit.random_sequences(count, random.Random(seed))
        source, target = unit.make_batch(rows)
        return unit.masked_loss(model(source, target[:, :-1]), target[:, 1:])

    loss(64, 1).backward()
    slopes = torch.cat([p.grad.flatten() for p in model.parameters()])
    return model, lambda: float(loss(512, 2).detach()), slopes


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3])
def test_the_gradient_of_an_untrained_model_points_downhill(rate):
    model, loss, _ = untrained()
    before = loss()
    torch.optim.SGD(model.parameters(), rate).step()
    assert loss() < before - 0.3 * rate


def test_in_adams_first_step_every_parameter_moves_by_the_full_rate():
    model, _, slopes = untrained()
    before = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    torch.optim.Adam(model.parameters(), 0.01, (0.9, 0.98)).step()
    moved = nn.utils.parameters_to_vector(model.parameters()).detach() - before
    learns = slopes.abs() > 0
    assert slopes.abs().max() > 0.1 and slopes[learns].abs().quantile(0.01) < 5e-6
    full = moved[learns].abs() > 0.009
    assert full.double().mean() > 0.99


def test_one_step_of_adamw_in_ten_lines_is_that_of_pytorch():
    torch.manual_seed(0)
    weight = nn.Parameter(torch.randn(7))
    ours, moments = weight.detach().clone(), {n: torch.zeros(7) for n in MOMENTS}
    adamw = torch.optim.AdamW([weight], 0.01, (0.9, 0.98))
    for step in range(1, 9):
        weight.grad = torch.randn(7)
        adamw.step()
        code(UNIT)["adamw_step"](ours, weight.grad, moments, step, 0.01)
    torch.testing.assert_close(ours, weight.detach())


def test_padding_that_counts_hides_that_nothing_is_learnt():
    labels = torch.tensor([[7, 2, *[unit.PAD] * 8]])
    logits = torch.zeros(1, 10, 14)
    logits[:, 2:, unit.PAD] = 50.0  # knows padding, and nothing else
    counted = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    assert float(counted) == pytest.approx(0.2 * math.log(14), abs=1e-3)


@pytest.mark.slow
def test_without_the_shift_the_loss_falls_to_zero_and_nothing_is_learnt():
    rng = random.Random(0)
    torch.manual_seed(0)
    model = unit.new_model()
    adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98))
    for _ in range(100):
        source, target = unit.make_batch(unit.random_sequences(32, rng))
        loss = unit.masked_loss(model(source, target), target)
        adamw.zero_grad()
        loss.backward()
        adamw.step()
    assert loss < 0.01 and score(model, fresh(9, 200)) == 0


def test_one_batch_is_learnt_by_heart_in_a_few_dozen_steps_and_nothing_else_is():
    rows = unit.random_sequences(8, random.Random(8))
    torch.manual_seed(8)
    model = unit.new_model()
    adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98))
    for step in range(60):
        unit.training_step(model, adamw, *unit.make_batch(rows))
        if step % 5 == 4 and score(model, rows) == 1:
            break
    assert step >= 9 and score(model, rows) == 1
    assert score(model, fresh(6, 200)) <= 0.12


def sgd_at_three(max_norm: float) -> list[float]:
    """The losses of plain SGD at a rate of 3, until one is not finite."""
    rng, losses = random.Random(3), []
    torch.manual_seed(3)
    model = unit.new_model()
    sgd = torch.optim.SGD(model.parameters(), 3.0)
    while len(losses) < 60 and (not losses or math.isfinite(losses[-1])):
        batch = unit.make_batch(unit.random_sequences(32, rng))
        losses.append(unit.training_step(model, sgd, *batch, max_norm))
    return losses


@pytest.mark.slow
def test_sgd_at_three_diverges_and_clipping_saves_it():
    diverged = sgd_at_three(math.inf)
    assert len(diverged) <= 20 and not math.isfinite(diverged[-1])
    saved, short = sgd_at_three(1.0)[-1], sgd_at_three(0.1)[-1]
    assert short < saved < 2.7


def test_encodings_of_neighbours_are_nearly_alike_at_all_positions():
    rows = unit.new_model().source.positions.pe
    alike = nn.functional.cosine_similarity(rows[5:15], rows[6:16])
    torch.testing.assert_close(alike, torch.full((10,), 0.957), atol=1e-3, rtol=0)


@pytest.mark.slow
def test_heads_that_miss_the_anti_diagonal_look_at_what_was_written_last():
    model = trained(0)
    source, target = unit.make_batch(fresh(7, 300))
    lengths = (source != unit.PAD).sum(1, keepdim=True) - 1
    maps = code(UNIT)["cross_attention_map"](model, source, target[:, :-1])
    wanted = lengths - 1 - torch.arange(maps.size(2))
    for head in range(maps.size(1)):
        missed = (maps[:, head].argmax(-1) - wanted)[wanted >= 0]
        hit = unit.antidiagonal_share(maps[:, head], lengths[:, 0])
        right, left = ((missed == side).double().mean() for side in (1, -1))
        assert 0.6 < hit < 0.9 and hit + right > 0.92 and right > 5 * left


@pytest.mark.slow
def test_reading_the_source_backwards_helps_a_recurrent_pair_to_copy():
    pair, copying = (code(UNIT)[name] for name in ("WithoutAttention", "copying"))
    scores = {}
    for order in (1, -1):
        rng = random.Random(4)
        torch.manual_seed(4)
        model = pair()
        adamw = torch.optim.AdamW(model.parameters(), 1e-2, (0.9, 0.98))
        batch = functools.partial(unit.random_sequences, 64, rng)
        unit.fit(model, adamw, lambda b=batch, o=order: copying(b(), o), 800, 80)
        scores[order] = exact_match(model, *copying(fresh(8, 500), order))
    assert scores[-1] > scores[1] + 0.02


def by_the_recipe(prepare: Callable[[nn.Module], object], decays: bool = True) -> float:
    """Exact match after the notebook's 350 steps, with a change."""
    rng = random.Random(1)
    torch.manual_seed(1)
    model = unit.new_model()
    prepare(model)
    adamw = torch.optim.AdamW(model.parameters(), 2e-2, (0.9, 0.98))
    for step in range(350):
        factor = unit.rate_factor(step, 70, 350) if decays else min(1, (step + 1) / 70)
        adamw.param_groups[0]["lr"] = 2e-2 * factor
        batch = unit.make_batch(unit.random_sequences(32, rng))
        unit.training_step(model, adamw, *batch)
    return score(model, fresh(1, 500))


def _default_start(model: nn.Module) -> None:
    for layer in model.modules():
        if isinstance(layer, nn.Embedding):
            nn.init.normal_(layer.weight)


@pytest.mark.slow
def test_small_embeddings_and_the_decay_make_the_difference():
    assert by_the_recipe(lambda model: None) > 0.98
    assert by_the_recipe(_default_start) < 0.5
    assert by_the_recipe(lambda model: None, decays=False) < 0.9


@pytest.mark.slow
def test_a_rate_that_is_too_large_ends_at_the_loss_that_knows_ten_digits():
    rng = random.Random(3)
    torch.manual_seed(3)
    model = unit.new_model()
    adamw = torch.optim.AdamW(model.parameters(), 1.0, (0.9, 0.98))
    batch = functools.partial(unit.random_sequences, 32, rng)
    losses = unit.fit(model, adamw, lambda: unit.make_batch(batch()), 350, 70)
    assert sum(losses[-20:]) / 20 == pytest.approx(math.log(10), abs=0.15)
