"""What unit 4 says of layers, costs and first steps, measured."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tests.transformer_course.solutions import given
from transformer_course.solutions import encoder_decoder as unit


@pytest.fixture(scope="module")
def notebook() -> dict:
    return given.code("encoder_decoder")


@pytest.mark.parametrize("has_network", [False, True])
def test_only_the_sum_keeps_positions_apart(notebook, has_network):
    without, with_sum = (
        [notebook["six_random_layers"](adds, has_network, seed) for seed in range(5)]
        for adds in (False, True)
    )
    assert min(without) > 0.995
    low, high = (0.17, 0.26) if has_network else (0.08, 0.17)
    assert low < min(with_sum) < max(with_sum) < high


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_network_stores_the_facts_of_which_attention_knows_half(notebook, seed):
    learn = notebook["learn_facts"]
    assert 0.5 < learn(1, False, seed) < 0.59
    assert min(learn(1, True, seed), learn(3, False, seed)) > 0.95


def test_the_network_has_as_many_parameters_as_two_more_attentions(notebook):
    network, attentions = (
        sum(p.numel() for p in notebook["Facts"](*parts).parameters())
        for parts in ((1, True), (3, False))
    )
    assert attentions == pytest.approx(network, rel=0.02)


def test_the_first_step_of_adam_is_as_long_for_small_gradients_as_for_large(notebook):
    torch.manual_seed(0)
    model = notebook["initialise"](notebook["Mirror"](norm_first=False))
    before = [p.detach().clone() for p in model.parameters()]
    ids = torch.randint(5, 17, (32, 8))
    F.cross_entropy(model(ids).flatten(0, 1), ids.flip(1).flatten()).backward()
    torch.optim.Adam(model.parameters(), 5e-3).step()
    after = list(model.parameters())
    steps = torch.cat([(a - b).flatten() for a, b in zip(after, before, strict=True)])
    sizes = torch.cat([p.grad.flatten() for p in after]).abs()
    steps, sizes = steps[sizes > 0].abs(), sizes[sizes > 0]
    assert (steps > 0.99 * 5e-3).float().mean() > 0.99
    assert sizes.quantile(0.99) > 10_000 * sizes.quantile(0.01)


@pytest.mark.parametrize("seed", range(4))
def test_post_norm_has_larger_gradients_in_the_last_layer(notebook, seed):
    post, pre = (
        notebook["train_mirror"](norm_first, seed, steps=1)[1][-1]
        for norm_first in (False, True)
    )
    assert 1.9 < post / pre < 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_warm_up_is_enough_for_post_norm(notebook, seed):
    without, with_it = (
        notebook["train_mirror"](False, seed, steps=300, warmup=warmup)[0]
        for warmup in (1, 100)
    )
    assert sum(without[-10:]) / 10 > 2.2
    assert sum(with_it[-10:]) / 10 < 1.9


def test_sixteen_norms_are_one_if_all_sublayers_are_silent():
    torch.manual_seed(0)
    x = one = torch.randn(2, 3, 64)
    for _ in range(16):
        x = nn.LayerNorm(64)(x)
    torch.testing.assert_close(x, nn.LayerNorm(64)(one), rtol=0, atol=1e-3)


def test_decode_computes_the_keys_of_the_whole_prefix_each_time():
    model = unit.Transformer(9, 9, 8, 2, 1, 16).eval()
    src, computed = torch.tensor([[5, 6, 7]]), []
    model.decoder.layers[0].self_attention.w_k.register_forward_hook(
        lambda module, inputs, result: computed.append(result.size(1))
    )
    memory = model.encode(src)
    for length in (1, 2, 3):
        model.decode(torch.full((1, length), 4), memory, src)
    assert computed == [1, 2, 3]


@pytest.mark.parametrize("sizes", [(10, 4, 2, 16), (33, 24, 3, 40), (7, 8, 8, 5)])
def test_a_layer_costs_what_pytorch_counts_in_its_own(sizes):
    length, d_model, heads, d_ff = sizes
    layer = nn.TransformerEncoderLayer(d_model, heads, d_ff, batch_first=True)
    x = torch.randn(1, length, d_model)
    with FlopCounterMode(display=False) as attention:
        _, weights = layer.self_attn(x, x, x, average_attn_weights=False)
    with FlopCounterMode(display=False) as network:
        hidden = layer.linear1(x)
        layer.linear2(hidden)
    counted = attention.get_total_flops(), network.get_total_flops()
    assert unit.layer_cost(*sizes) == (*counted, weights.numel(), hidden.numel())


def test_attention_overtakes_in_memory_at_256_and_in_flops_at_1024():
    def larger(length: int) -> tuple[bool, bool]:
        attention, network, weights, hidden = unit.layer_cost(length, 512, 8, 2048)
        return attention > network, weights > hidden

    assert [larger(n) for n in (256, 257)] == [(False, False), (False, True)]
    assert [larger(n) for n in (1024, 1025)] == [(False, True), (True, True)]


def test_tied_embeddings_save_38_of_101_million_parameters(notebook):
    with torch.device("meta"):
        model = unit.Transformer(37_000, 37_000, 512, 8, 6, 2048)
    counts = [sum(p.numel() for p in model.parameters())]
    tied = notebook["tie_embeddings"](model)
    counts.append(sum(p.numel() for p in tied.parameters()))
    assert [round(count / 1e6) for count in counts] == [101, 63]
    assert round(3 * 37_000 * 512 / 1e6) == 57
