"""What unit 10 builds of 2025/26 equals code of others, and buys what the text says."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from tests.transformer_course.solutions import given
from transformer_course.library import likeness, recipe
from transformer_course.newer.library import trials

UNIT = given.code("newer")
MODERN = UNIT["modern"]
SIZES = likeness.SIZES


def layer_of(kind: str) -> dict[str, object]:
    """What a kind has in place of the parts of `LanguageModel`."""
    return {
        "llama": {},
        "qwen3": {"attention": lambda: UNIT["QKNormAttention"](32, 4, 2)},
        "mistral": {"attention": UNIT["with_window"](likeness.WINDOW)},
        "mixtral": {"feed_forward": lambda: UNIT["MixtureOfExperts"](32, 48, 4)},
    }[kind]


def model_of(kind: str) -> nn.Module:
    if kind == "gemma3":
        return UNIT["Gemma"]()
    model = MODERN.LanguageModel(**SIZES, base=likeness.KINDS[kind][1])
    return UNIT["exchanged"](model, **layer_of(kind))


@pytest.mark.parametrize("kind", likeness.KINDS)
def test_a_model_of_each_kind_has_the_logits_of_transformers(kind):
    theirs = likeness.stored(kind)
    model = model_of(kind)
    assert len(model.state_dict()) == len(theirs.weights)
    assert theirs.gap(likeness.logits_of(model, theirs.weights, theirs.ids)) < 1e-4


@pytest.mark.parametrize("kind", likeness.KINDS)
def test_each_mistake_in_attention_moves_them_by_more_than_half_of_the_largest(kind):
    theirs = likeness.stored(kind)
    for weights in likeness.mistaken(theirs.weights).values():
        found = likeness.logits_of(model_of(kind), weights, theirs.ids)
        assert theirs.gap(found) > 0.5 * theirs.logits.abs().max()


def test_attention_in_these_models_is_far_from_flat():
    theirs, model = likeness.stored("llama"), model_of("llama")
    likeness.logits_of(model, theirs.weights, theirs.ids)
    block = model.blocks[0]
    x = block.norm1(model.embedding(theirs.ids))
    q, k = UNIT["compared"](block.attention, x)
    scores = q @ k.repeat_interleave(2, dim=1).mT / math.sqrt(likeness.D_K)
    mask = UNIT["window_mask"](x.size(1))
    largest = scores.masked_fill(~mask, -math.inf).softmax(-1).amax(-1)
    assert largest[..., 8:].mean() > 0.5  # of at least nine keys


def test_the_balancing_loss_is_that_of_transformers():
    reason = "pip install .[llama] to compare with its loss"
    pytest.importorskip("transformers", reason=reason)
    from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

    router_logits = 2 * torch.randn(3, 7, 5)
    for top_k in (1, 2, 3):
        rows = router_logits.flatten(0, 1)
        theirs = load_balancing_loss_func((rows,), num_experts=5, top_k=top_k)
        torch.testing.assert_close(UNIT["load_balance"](router_logits, top_k), theirs)


def test_the_bytes_are_those_of_a_cache():
    attention, x = MODERN.CausalAttention(24, 6, 2), torch.randn(1, 9, 24)
    _, cache = MODERN.attend_with_cache(attention, x)
    held = sum(part.numel() * part.element_size() for part in cache)
    assert UNIT["cache_bytes"]([None], 9, 2, 4, 4) == held


@pytest.mark.parametrize("shape", [(6, 6), (4, 9), (12, 5)])
def test_five_steps_bring_singular_values_close_to_one(shape):
    found = UNIT["orthogonalise"](torch.randn(shape))
    assert found.shape == shape
    values = torch.linalg.svdvals(found)
    assert values.min() > 0.3 and values.max() < 1.3


@pytest.mark.parametrize("shape", [(8, 8), (4, 9), (12, 5)])
def test_muon_moves_as_pytorchs(shape):
    start, pulls = torch.randn(shape), torch.randn(3, *shape)
    mine, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    ours = UNIT["Muon"]([mine], 0.1)
    other = torch.optim.Muon([theirs], lr=0.1, weight_decay=0.0, momentum=0.95)
    for pull in pulls:
        mine.grad, theirs.grad = pull.clone(), pull.clone()
        ours.step()
        other.step()
    # It computes in bfloat16.
    torch.testing.assert_close(mine, theirs, rtol=0, atol=0.02)
    assert (mine - start).abs().max() > 0.1


def test_scaled_frequencies_are_those_of_transformers():
    pytest.importorskip("transformers", reason="pip install .[llama] to compare")
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=64, num_attention_heads=1, head_dim=64,
        rope_parameters={
            "rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0,
            "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    )  # fmt: skip
    theirs, _ = ROPE_INIT_FUNCTIONS["llama3"](config, device="cpu")
    plain = MODERN.rotary_angles(2, 64, base=5e5)[1]
    found = UNIT["scale_frequencies"](plain, 8.0, 8192)
    torch.testing.assert_close(found, theirs)


def test_texts_in_one_pool_get_what_a_plain_cache_gives():
    layer, pool = MODERN.CausalAttention(24, 6, 2), UNIT["Pool"](12, 4, 2, 4)
    texts = {number: torch.randn(1, n, 24) for number, n in enumerate((9, 1, 6))}
    for t in range(9):
        new = {n: x[:, t : t + 1] for n, x in texts.items() if t < x.size(1)}
        for n, output in UNIT["step_in_pages"](layer, pool, new).items():
            torch.testing.assert_close(output, layer(texts[n][:, : t + 1])[0, -1])
    assert [len(pool.tables[n]) for n in texts] == [3, 1, 2]


def test_master_copies_move_as_weights_in_float32_do():
    start = torch.randn(4, 5).bfloat16()
    weight, master, alone = (
        nn.Parameter(start),
        *(nn.Parameter(start.float()) for _ in range(2)),
    )
    optimizers = [torch.optim.AdamW([p], lr=1e-4) for p in (master, alone)]
    for _ in range(9):
        weight.grad = torch.randn_like(weight)
        alone.grad = weight.grad.float()
        UNIT["master_step"]([weight], [master], optimizers[0])
        optimizers[1].step()
    torch.testing.assert_close(master, alone, rtol=0, atol=0)
    assert torch.equal(weight, alone.bfloat16())


# --- what they buy ------------------------------------------------------------------

SEEDS = pytest.mark.parametrize("seed", range(2))


def small_model(seed: int, **parts: object) -> nn.Module:
    model = UNIT["exchanged"](MODERN.LanguageModel(**UNIT["SMALL"]), **parts)
    return recipe.start_small(model, seed, std=0.1)


@pytest.mark.slow
@SEEDS
def test_norms_keep_the_largest_score_several_times_smaller(seed):
    largest = {}
    kinds = {"plain": MODERN.CausalAttention, "normed": UNIT["QKNormAttention"]}
    for name, kind in kinds.items():
        model = small_model(seed, attention=lambda: kind(32, 4, 2, base=1e4))  # noqa: B023
        adamw = recipe.adamw(model.parameters(), 0.03)
        trials.train(model, 200, seed, optimizers=[adamw])
        largest[name] = UNIT["largest_score"](model, trials.new_windows()[:32])
    assert largest["plain"] > 2 * largest["normed"]


@pytest.mark.slow
@SEEDS
def test_with_a_window_the_loss_falls_with_the_length_and_rises_without(seed):
    for window, falls in ((8, True), (None, False)):
        model = small_model(seed, attention=UNIT["with_window"](window))
        trials.train(model, 300, seed)
        losses = [trials.loss_on_new_text(model, length) for length in (32, 64, 128)]
        assert losses == sorted(losses, reverse=falls)


def muons_lead(steps: int, seed: int) -> float:
    plain, other = small_model(seed), small_model(seed)
    adamw = recipe.adamw(plain.parameters(), 0.02)
    muon = UNIT["muon_and_adamw"](other, 0.05)
    first = trials.train(plain, steps, seed, optimizers=[adamw])
    return first.loss - trials.train(other, steps, seed, optimizers=muon).loss


@pytest.mark.slow
@SEEDS
def test_muon_is_ahead_of_adamw_after_200_steps(seed):
    assert muons_lead(200, seed) > 0.1


@pytest.mark.slow
@pytest.mark.long(seconds=30)
def test_nothing_of_muons_lead_is_left_after_1000_steps():
    assert abs(muons_lead(1000, seed=0)) < 0.03


@pytest.mark.slow
@SEEDS
def test_balancing_keeps_every_expert_at_work_and_without_it_the_load_is_uneven(seed):
    least = {}
    for factor in (0.0, 0.01):
        model = small_model(
            seed, feed_forward=lambda: UNIT["MixtureOfExperts"](32, 48, 4)
        )
        routers = UNIT["routers_of"](model)
        trials.train(
            model, 300, seed,
            extra=lambda: factor * sum(UNIT["load_balance"](r, 2) for r in routers),  # noqa: B023
        )  # fmt: skip
        shares = [UNIT["load_of"](router).min().item() for router in routers]
        least[factor] = min(shares)
    assert least[0.0] < 0.15 < least[0.01]


@pytest.mark.slow
@pytest.mark.long(seconds=80)
def test_after_1000_steps_experts_are_ahead_of_equal_and_behind_total_width():
    def loss(factor: float, **parts: object) -> float:
        model = small_model(0, **parts)
        routers = UNIT["routers_of"](model) if factor else []
        balance = UNIT["load_balance"]
        return trials.train(
            model, 1000, 0,
            extra=lambda: factor * sum(balance(r, 2) for r in routers),
        ).loss  # fmt: skip

    def experts() -> nn.Module:
        return UNIT["MixtureOfExperts"](32, 48, 4)

    dense = loss(0.0)
    wide = loss(0.0, feed_forward=lambda: MODERN.SwiGLU(32, 192))
    mixtures = [loss(factor, feed_forward=experts) for factor in (0.0, 0.01)]
    assert wide < min(mixtures) and max(mixtures) < dense


@pytest.mark.slow
@SEEDS
def test_without_master_copies_updates_are_lost(seed):
    def loss(with_masters: bool) -> float:
        model = small_model(seed)
        stored = UNIT["StoredInBfloat16"](model, 0.001, with_masters)
        return trials.train(model, 200, seed, optimizers=[stored]).loss

    model = small_model(seed)
    adamw = recipe.adamw(model.parameters(), 0.001)
    wide = trials.train(model, 200, seed, optimizers=[adamw]).loss
    assert abs(loss(True) - wide) < 0.01 and loss(False) > wide + 0.03


@pytest.mark.slow
@pytest.mark.long(seconds=40)
@SEEDS
def test_a_larger_base_helps_longer_texts_and_interpolation_does_not(seed):
    attention, plain = UNIT["StretchedAttention"], UNIT["frequencies_of"]()
    model = small_model(seed, attention=lambda: attention(32, 4, 2))
    trials.train(UNIT["stretched"](model, plain), 1000, seed, length=64)
    for factor in (2, 4):
        by_turns = UNIT["scale_frequencies"](plain, factor, 64)
        base = UNIT["frequencies_of"](1e4 * factor ** (8 / 6))
        losses = [
            trials.loss_on_new_text(UNIT["stretched"](model, each), 64 * factor)
            for each in (base, plain, by_turns, plain / factor)
        ]
        assert losses == sorted(losses)
