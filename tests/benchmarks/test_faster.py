"""Dropout from a pool is dropout; half-precision products change rounding, no more."""

import pytest
import torch
from torch import nn

from benchmarks import faster
from benchmarks.faster import PooledDropout
from transformer_course.library.model import Restorer, Sizes
from transformer_course.solutions import encoder_decoder
from transformer_course.solutions.sequence_reversal import training_step


def _model(dropout=0.0):
    torch.manual_seed(0)
    return Restorer(Sizes(30, 16, 2, 1, 24, dropout), encoder_decoder)


def _batch():
    torch.manual_seed(1)
    return torch.randint(4, 30, (5, 7)), torch.randint(4, 30, (5, 9))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_pool_drops_its_share_and_keeps_the_mean(dtype):
    torch.manual_seed(0)
    x = torch.ones(40, 50, 60, dtype=dtype)

    out = PooledDropout(0.2, {})(x)

    assert out.dtype == dtype
    assert set(out.unique().tolist()) == {0.0, 1.25}
    assert (out == 0).float().mean().item() == pytest.approx(0.2, abs=0.01)


def test_each_call_drops_others_and_a_seed_repeats_them():
    drop, x = PooledDropout(0.5, {}), torch.ones(1000)
    torch.manual_seed(3)
    first, second = drop(x), drop(x)
    torch.manual_seed(3)
    drop.pools.clear()
    repeated = drop(x)

    assert not torch.equal(first, second)
    assert torch.equal(first, repeated)


def test_what_is_dropped_learns_nothing():
    torch.manual_seed(0)
    x = torch.ones(300, requires_grad=True)
    out = PooledDropout(0.5, {})(x)
    out.sum().backward()

    assert torch.equal(x.grad, out.detach())


def test_evaluation_drops_nothing():
    x = torch.randn(3, 4)
    assert torch.equal(PooledDropout(0.5, {}).eval()(x), x)


def test_what_is_larger_than_the_pool_is_dropped_as_well(monkeypatch):
    monkeypatch.setattr(faster, "POOL", 100)
    pools = {}
    out = PooledDropout(0.5, pools)(torch.ones(1000))
    assert 400 < (out == 0).sum() < 600
    assert not pools


def test_a_model_shares_one_pool_and_evaluates_as_before():
    model, source_and_target = _model(0.3), _batch()
    before = model.eval()(*source_and_target)
    faster.pooled_dropout(model)
    drops = [m for m in model.modules() if isinstance(m, PooledDropout)]

    assert len({id(drop.pools) for drop in drops}) == 1
    assert not any(isinstance(m, nn.Dropout) for m in model.modules())
    assert torch.equal(model.eval()(*source_and_target), before)
    model.train()
    assert not torch.equal(model(*source_and_target), model(*source_and_target))


def test_a_model_without_dropout_stays_as_it_is():
    model = _model()
    faster.pooled_dropout(model)
    assert not any(isinstance(m, PooledDropout) for m in model.modules())


def test_mixed_precision_rounds_in_training_and_only_there():
    plain, mixed, source_and_target = _model(), _model(), _batch()
    faster.mixed_precision(mixed)

    rounded = mixed.train()(*source_and_target)
    exact = plain.train()(*source_and_target)
    assert rounded.dtype == torch.float32
    assert not torch.equal(rounded, exact)
    torch.testing.assert_close(rounded, exact, rtol=0, atol=0.1)
    assert torch.equal(mixed.eval()(*source_and_target), exact)


def test_both_together_learn_by_heart():
    model = _model(0.05)
    faster.pooled_dropout(model)
    faster.mixed_precision(model)
    source, target = _batch()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    losses = [training_step(model, optimizer, source, target) for _ in range(60)]

    assert losses[-1] < losses[0] / 2
    assert {p.dtype for p in model.parameters()} == {torch.float32}
