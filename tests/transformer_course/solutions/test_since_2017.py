"""The reference of unit 07 equals PyTorch's parts and transformers' Llama."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.transformer_course.solutions import given
from transformer_course.library import likeness, recipe
from transformer_course.since_2017.library import english, training
from transformer_course.solutions import since_2017 as unit

BATCH, LENGTH, SIZE, HEADS, GROUPS = 3, 7, 24, 6, 2


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
@pytest.mark.parametrize("eps", [1e-6, 0.5])
def test_rms_norm_is_pytorchs(dtype, eps):
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    mine = given.shake(unit.RMSNorm(SIZE, eps)).to(wide)
    theirs = nn.RMSNorm(SIZE, eps, dtype=wide)
    theirs.load_state_dict(mine.state_dict())
    x = (3 * torch.randn(BATCH, LENGTH, SIZE)).to(dtype)
    found, expected = mine(x), theirs(x.to(wide))
    assert found.dtype == dtype
    near = {torch.float64: 1e-6, torch.float32: 1e-6, torch.float16: 2e-3}[dtype]
    torch.testing.assert_close(found.to(wide), expected, rtol=near, atol=near)


def test_rotation_is_multiplication_by_complex_numbers():
    x, offset = torch.randn(BATCH, HEADS, LENGTH, 8, dtype=torch.double), 5
    found = unit.rotate(x, unit.rotary_angles(LENGTH, 8, offset))
    a, b = x.chunk(2, dim=-1)
    speeds = 10_000 ** -(torch.arange(4, dtype=torch.double) / 4)
    angles = torch.arange(offset, offset + LENGTH, dtype=torch.double)[:, None] * speeds
    points = torch.complex(a, b) * torch.exp(1j * angles)
    expected = torch.cat((points.real, points.imag), dim=-1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_scores_of_rotated_vectors_know_the_distance_only():
    def turn(x: torch.Tensor, offset: int) -> torch.Tensor:
        return unit.rotate(x, unit.rotary_angles(x.size(-2), x.size(-1), offset))

    q, k = torch.randn(2, BATCH, LENGTH, 8)
    relative_gap = given.code("since_2017")["relative_gap"]
    assert relative_gap(turn, q, k, 11) < 1e-4
    assert relative_gap(lambda x, offset: x + turn(x, offset), q, k, 11) > 0.1


def test_neighbours_and_halves_differ_by_the_order_of_rows():
    weight, heads, d_k = torch.randn(12, 5), 2, 6
    x, angles = torch.randn(LENGTH, 5), unit.rotary_angles(LENGTH, d_k)
    points = torch.view_as_complex((x @ weight.T).view(LENGTH, heads, 3, 2))
    turned = torch.view_as_real(points * torch.exp(1j * angles)[:, None])
    moved = (x @ unit.pairs_to_halves(weight, heads).T).unflatten(-1, (heads, d_k))
    found = unit.rotate(moved.transpose(0, 1), angles).transpose(0, 1)
    expected = turned.transpose(-2, -1).flatten(2)  # real parts before imaginary ones
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("d_ff", [30, 31, 32])
def test_swiglu_has_no_more_weights_than_two_matrices(d_ff):
    weights = sum(p.numel() for p in unit.SwiGLU(SIZE, d_ff).parameters())
    assert 2 * SIZE * d_ff - 3 * SIZE < weights <= 2 * SIZE * d_ff


@pytest.mark.parametrize(
    ("groups", "masked"), list(itertools.product((1, 2, 3, 6), (False, True)))
)
def test_grouped_attention_is_pytorchs(groups, masked):
    q = torch.randn(BATCH, HEADS, 5, 8)
    k, v = torch.randn(BATCH, groups, LENGTH, 8), torch.randn(BATCH, groups, LENGTH, 4)
    mask = torch.rand(BATCH, 1, 5, LENGTH) < 0.6 if masked else None
    if mask is not None:
        mask[..., 0] = True
    found, weights = unit.grouped_attention(q, k, v, mask)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, 5))


# --- the model, and transformers' -----------------------------------------------------


def llama():
    """A tiny Llama with drawn weights, and ours with the same."""
    transformers = pytest.importorskip(
        "transformers", reason="pip install .[llama] to compare with its Llama"
    )
    theirs = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=50,
            hidden_size=SIZE,
            intermediate_size=32,
            num_hidden_layers=3,
            num_attention_heads=HEADS,
            num_key_value_heads=GROUPS,
            rms_norm_eps=1e-6,
            tie_word_embeddings=True,
            attn_implementation="eager",
        )
    )
    ours = unit.LanguageModel(50, SIZE, HEADS, GROUPS, 3, 48)
    published = given.shake(theirs).state_dict()
    ours.load_state_dict(
        {n: published[likeness.llama_name(n)] for n in ours.state_dict()}
    )
    return ours.eval(), theirs


def test_logits_and_gradients_are_those_of_a_llama_with_the_same_weights():
    ours, theirs = llama()
    ids = torch.randint(50, (BATCH, 19))
    logits, expected = ours(ids), theirs(ids).logits
    assert expected.abs().max() > 0.5
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)
    for output in (logits, expected):
        F.cross_entropy(output.flatten(0, 1), ids.roll(1, 1).flatten()).backward()
    published = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        gradient = published[likeness.llama_name(name)].grad
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-6)


# --- with a cache ---------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [(1,) * 9, (9,), (4, 1, 1, 3)])
def test_with_a_cache_the_layer_gives_what_it_gives_without(chunks):
    layer = unit.CausalAttention(SIZE, HEADS, GROUPS)
    x = torch.randn(BATCH, 9, SIZE)
    outputs, cache = [], None
    for rows in x.split(chunks, dim=1):
        output, cache = unit.attend_with_cache(layer, rows, cache)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, 1), layer(x), rtol=1e-5, atol=1e-5)


# --- perplexity ----------------------------------------------------------------------


def perplexity(*arguments) -> tuple[float, float]:
    return given.code("since_2017")["sliding_perplexity"](*arguments)


def test_perplexity_is_that_of_one_window_if_it_holds_the_text():
    model, ids = unit.LanguageModel(50, SIZE, HEADS, GROUPS, 1, 48), torch.arange(30)
    with torch.no_grad():
        loss = F.cross_entropy(model(ids[None])[0, :-1], ids[1:]).item()
    found = perplexity(model, ids, 64, 8, 100)
    assert found == pytest.approx((math.exp(loss), 29 * loss / math.log(2) / 100))


def test_each_token_is_counted_once_with_as_much_past_as_its_window_has():
    model, ids = unit.LanguageModel(50, SIZE, HEADS, GROUPS, 1, 48), torch.arange(30)
    total = 0.0
    for t in range(1, 30):  # one by one: which window counts token t?
        begin = next(b for b in range(0, 30, 4) if t < b + 9)
        with torch.no_grad():
            total += F.cross_entropy(model(ids[None, begin:t])[0, -1], ids[t]).item()
    assert perplexity(model, ids, 9, 4, 1)[0] == pytest.approx(
        math.exp(total / 29), rel=1e-5
    )


# --- training -------------------------------------------------------------------------


def test_no_document_of_the_manual_is_in_both_texts():
    documents = english.manual()
    assert len(documents) == len(set(documents)) and len("".join(documents)) > 400_000
    train, held_out = english.split([f"text {n}" for n in range(41)])
    assert held_out.split("\n\n") == ["text 0", "text 20", "text 40"]
    assert len(train.split("\n\n")) == 38


@pytest.mark.parametrize("text", ["a manual, a manual.\n", "Glühwein — 3.14\t∑", ""])
def test_any_text_comes_back_from_its_tokens(text):
    pairs = given.code("since_2017")["learn_byte_pairs"](english.manual()[0], 30)
    assert pairs.vocab_size == 286
    for tokens in (english.Bytes(), pairs):
        assert tokens.decode(tokens.encode(text).tolist()) == text


@pytest.mark.parametrize("sizes", [(60, 24, 6, 2, 3, 48), (300, 32, 4, 4, 1, 90)])
def test_the_counted_memory_of_a_step_is_the_measured_one(sizes):
    counted = unit.training_bytes(*sizes, 3, 17)
    measured = training.measure_step(unit.LanguageModel(*sizes), sizes[0], 3, 17)
    assert counted[0] == measured[0]
    assert counted[1] == pytest.approx(measured[1], rel=0.05)


def test_a_model_learns_a_text_that_repeats():
    ids = torch.arange(600) % 7
    model = recipe.start_small(unit.LanguageModel(7, 16, 2, 1, 1, 32), 0, 0.05)
    before = training.nats_per_token(model, ids, 12)
    training.train(model, ids, 60, seed=0, rate=0.02, context=12)
    assert training.nats_per_token(model, ids, 12) < 0.2 * before


def test_a_power_law_is_found_again():
    sizes = torch.tensor([1e3, 1e4, 3e5])
    assert unit.fit_power_law(sizes, 7 * sizes**-0.12) == pytest.approx((7, 0.12))
