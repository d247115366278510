"""The reference of unit 03 agrees with PyTorch's layer and with published numbers."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from tests.transformer_course.solutions.given import code
from transformer_course.solutions import multi_head_attention as unit

GIVEN = code("multi_head_attention")
B, H, D_K, LQ, LK = 2, 3, 4, 5, 7
D_MODEL = H * D_K
SIZE = (B, H, LQ, LK)
MASKS = {
    "no mask": None,
    "queries and keys": (LQ, LK),
    "padding": (B, 1, LK),
    "sentences": (B, LQ, LK),
    "padding with heads": (B, 1, 1, LK),
    "heads": (1, H, LQ, LK),
    "all": SIZE,
}


@pytest.fixture(autouse=True)
def double_precision():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)


def mask_of(shape: tuple[int, ...] | None) -> torch.Tensor | None:
    """A random mask in which every query may see a key, and none sees all."""
    if shape is None:
        return None
    mask = torch.rand(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return mask


def layers() -> tuple[nn.Module, nn.MultiheadAttention]:
    """The reference and PyTorch's layer with copied weights, biases not zero."""
    mine = unit.MultiHeadAttention(D_MODEL, H)
    return mine, unit.to_pytorch(mine)


def sequences() -> list[torch.Tensor]:
    return [
        torch.randn(B, length, D_MODEL, requires_grad=True) for length in (LQ, LK, LK)
    ]


def for_pytorch(mask: torch.Tensor | None) -> torch.Tensor | None:
    if mask is None:
        return None
    return GIVEN["pytorch_mask"](unit.mask_for_heads(mask), SIZE)


@pytest.mark.parametrize("shape", MASKS.values(), ids=MASKS)
def test_output_weights_and_gradients_equal_pytorchs(shape):
    (mine, theirs), inputs, mask = layers(), sequences(), mask_of(shape)
    own = mine(*inputs, mask)
    other = theirs(*inputs, attn_mask=for_pytorch(mask), average_attn_weights=False)
    pull = torch.randn_like(own[0])
    for a, b in zip(own, other, strict=True):
        torch.testing.assert_close(a, b)
    for a, b in zip(
        torch.autograd.grad((own[0] * pull).sum(), [*inputs, *mine.parameters()]),
        gradients_in_our_order(theirs, inputs, (other[0] * pull).sum()),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def gradients_in_our_order(theirs, inputs, loss) -> list[torch.Tensor]:
    """Gradients of the inputs and of w_q, w_k, w_v, w_o: weight and bias of each."""
    stacked = [theirs.in_proj_weight, theirs.in_proj_bias]
    wanted = [*stacked, *inputs, *theirs.out_proj.parameters()]
    weight, bias, *rest = torch.autograd.grad(loss, wanted)
    of_inputs, of_output = rest[: len(inputs)], rest[len(inputs) :]
    pairs = zip(weight.chunk(3), bias.chunk(3), strict=True)
    return [*of_inputs, *(g for pair in pairs for g in pair), *of_output]


def test_a_mask_of_three_dimensions_means_sentences_even_with_as_many_heads():
    layer = unit.MultiHeadAttention(D_MODEL, num_heads=B)
    inputs, mask = sequences(), mask_of((B, LQ, LK))
    for i in range(B):
        alone, _ = layer(*(x[i : i + 1] for x in inputs), mask[i])
        torch.testing.assert_close(layer(*inputs, mask)[0][i], alone[0])


@pytest.mark.parametrize("shape", [None, (LQ, LQ), (B, 1, LQ)])
def test_list_of_heads_equals_one_split_layer(shape):
    plain = unit.ListOfHeads(D_MODEL, H, D_K, D_K, D_MODEL)
    split = unit.MultiHeadAttention(D_MODEL, H)
    shared = {f"w_o.{name}": value for name, value in plain.w_o.state_dict().items()}
    split.load_state_dict(unit.pack_heads(plain.heads) | shared)
    x, mask = torch.randn(B, LQ, D_MODEL), mask_of(shape)
    for a, b in zip(plain(x, mask), split(x, x, x, mask), strict=True):
        torch.testing.assert_close(a, b)


def test_weights_survive_the_way_to_pytorch_and_back():
    mine, theirs = layers()
    back = GIVEN["from_pytorch"](theirs)
    assert back.keys() == mine.state_dict().keys()
    for name, value in mine.state_dict().items():
        assert torch.equal(back[name], value)


# What the notebook says in words.


@pytest.mark.parametrize("heads", [1, 3])
def test_a_padding_mask_without_heads_silently_gives_nine_maps(heads):
    padding = torch.ones(3, 1, 5, dtype=torch.bool)
    scores = torch.zeros(3, heads, 4, 5).masked_fill(~padding, -math.inf)
    assert scores.shape == (3, 3, 4, 5)


def test_an_interleaved_layer_is_ours_with_its_features_permuted():
    x = torch.randn(B, LQ, D_MODEL)
    interleaved = torch.stack([x[..., i::H] for i in range(H)], dim=1)
    order = torch.cat([torch.arange(i, D_MODEL, H) for i in range(H)])
    assert torch.equal(unit.split_heads(x[..., order], H), interleaved)


@pytest.mark.parametrize("seed", range(5))
def test_the_sum_of_one_head_does_not_change_with_who_bites_whom(seed):
    torch.manual_seed(seed)
    dog, bites, man, *places = torch.randn(6, 8)
    sentences = [
        torch.stack(words) + torch.stack(places)
        for words in ([dog, bites, man], [man, bites, dog])
    ]
    for scores, same in (([6, 0, 6], True), ([6, 0, 0], False), ([0, 0, 6], False)):
        weights = torch.tensor(scores, dtype=torch.float64).softmax(0)
        first, second = (weights @ x for x in sentences)
        assert torch.allclose(first, second) == same


def test_dropped_weights_have_the_same_average():
    torch.set_default_dtype(torch.float32)
    weights = torch.tensor([0.4, 0.3, 0.2, 0.1])
    many = torch.stack([nn.functional.dropout(weights, p=0.5) for _ in range(5000)])
    torch.testing.assert_close(many.mean(0), weights, atol=0.02, rtol=0)
    assert not torch.allclose(many.sum(-1), torch.ones(5000))


def test_a_mask_that_is_not_inverted_may_hide_a_whole_row():
    (_, theirs), inputs = layers(), sequences()
    mask = torch.ones(SIZE, dtype=torch.bool)
    assert theirs(*inputs, attn_mask=mask.flatten(0, 1))[0].isnan().all()


def test_split_heads_are_faster_than_a_list():
    torch.set_default_dtype(torch.float32)
    plain = unit.ListOfHeads(64, num_heads=16, d_k=4, d_v=4, d_out=64)
    fast, x = unit.MultiHeadAttention(64, 16), torch.randn(4, 20, 64)
    with torch.no_grad():
        times = [GIVEN["milliseconds"](*call) for call in ((plain, x), (fast, x, x, x))]
    assert times[0] > 2 * times[1]


@pytest.mark.slow
def test_what_trained_heads_attend_to_and_write():
    torch.set_default_dtype(torch.float32)
    layer, _ = GIVEN["train_heads"](2)
    torch.manual_seed(1)
    x, _ = GIVEN["two_questions"](200)
    with torch.no_grad():
        _, weights = layer(x, x, x)
        mixed = weights @ unit.split_heads(layer.w_v(x), 2)
        blocks = layer.w_o.weight.unflatten(1, (2, -1))
        parts = torch.einsum("bhlk,ohk->hblo", mixed, blocks)
    before = weights[:, 0, torch.arange(2, 8), torch.arange(1, 7)]
    assert before.mean() > 0.8 and weights[:, 0, 2:, 0].mean() < 0.2
    assert weights[:, 1, :, 0].mean() > 0.99
    spread = parts.flatten(1, 2).std(1).unflatten(1, (2, 8)).mean(-1)  # (head, answer)
    assert spread[1, 1] > 0.8 and spread[0, 1] < 0.02
    first = x[:, :1, :8].expand(-1, 8, -1)
    shares = [float((part[..., :8] * first)[:, 2:].mean()) for part in parts]
    assert shares[0] == pytest.approx(-shares[1], abs=0.02) and shares[0] > 0.08


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_two_heads_answer_two_questions_and_one_head_cannot(seed):
    for num_heads, loss in {1: 7 / 16, 2: 0, 4: 0}.items():
        _, errors = train(num_heads, seed)
        mean = torch.tensor(errors[-20:]).mean().item()
        assert mean == pytest.approx(loss, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(11, 15))
def test_the_first_word_is_learnt_before_the_word_before(seed):
    _, errors = train(2, seed)
    before, first = (
        next(step for step, pair in enumerate(errors) if pair[answer] < 0.5)
        for answer in (0, 1)
    )
    assert 9 <= before - first <= 26


def errors_without_each_head(layer: nn.Module, seed: int) -> list[torch.Tensor]:
    """The errors in both answers, (2,), without the output of each head in turn."""
    torch.manual_seed(seed)
    x, target = GIVEN["two_questions"](500)
    errors = []
    for head in range(4):
        weights = layer.w_o.weight.data.clone()
        layer.w_o.weight.data[:, 4 * head : 4 * head + 4] = 0.0
        with torch.no_grad():
            error = (layer(x, x, x)[0] - target).square().mean((0, 1))
        layer.w_o.weight.data = weights
        errors.append(error.unflatten(0, (2, 8)).mean(1))
    return errors


@pytest.mark.slow
def test_each_of_four_heads_serves_half_of_one_answer():
    torch.set_default_dtype(torch.float32)
    layer, _ = GIVEN["train_heads"](4)
    for halves in errors_without_each_head(layer, 1):
        small, large = sorted(halves.tolist())
        assert small < 0.01 and large == pytest.approx(0.5, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(11, 15))
def test_each_question_takes_two_of_four_heads_from_other_starts(seed):
    layer, _ = train(4, seed)
    errors = errors_without_each_head(layer, 99)
    assert all(halves.min() < 0.1 and 0.5 < halves.max() < 0.92 for halves in errors)
    assert sorted(int(halves.argmax()) for halves in errors) == [0, 0, 1, 1]


def train(
    num_heads: int, seed: int, steps: int = 400
) -> tuple[nn.Module, list[list[float]]]:
    """A layer trained on the notebook's task, and its two errors at each step."""
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(seed)
    layer = unit.MultiHeadAttention(16, num_heads)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01)
    errors = []
    for _ in range(steps):
        x, target = GIVEN["two_questions"](32)
        error = (layer(x, x, x)[0] - target).square()
        optimiser.zero_grad()
        error.mean().backward()
        optimiser.step()
        halves = error.detach().unflatten(-1, (2, 8)).mean((0, 1, 3))
        errors.append(halves.tolist())
    return layer.eval(), errors
