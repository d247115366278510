"""The reference solutions of unit 02 agree with code and numbers of other people."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.solutions import attention

# Printed outputs of two published courses, rounded to 4 decimals: DS 542, discussion 8
# (attention) and ECE 47300, assignment 7 (self-attention and cross-attention).
PUBLISHED = {
    "attention, out[0, 0, :25]": [
        -1.3709,
        -0.6827,
        0.3234,
        0.8677,
        -0.1474,
        -0.9653,
        -0.7344,
        0.8126,
        0.1219,
        0.3224,
        0.6257,
        -0.0958,
        -0.1664,
        -0.0667,
        -0.281,
        0.3068,
        -0.703,
        -0.6719,
        0.4364,
        -1.0071,
        0.3534,
        0.316,
        0.0326,
        -0.7315,
        -0.5165,
    ],
    "attention, out[-1, -1, -25:]": [
        -0.2094,
        1.3784,
        0.2855,
        -0.1716,
        0.1597,
        -0.6656,
        0.3981,
        -0.9903,
        -0.6043,
        -0.6398,
        0.0563,
        -1.5367,
        -0.0225,
        -0.8317,
        0.0572,
        0.2014,
        0.1324,
        -0.4563,
        0.3832,
        0.1051,
        0.0653,
        -0.2076,
        0.6225,
        -0.4946,
        -0.2935,
    ],
    "self, x[0, 0, :5]": [-0.1988, -0.306, 0.6383, 0.5713, 1.2769],
    "self, out[0, 0, :5]": [0.086836, -0.041725, -0.25798, -0.096712, 3.0022e-05],
    "self, out[-1, -1, :10]": [
        0.1849,
        0.3706,
        0.1488,
        0.0898,
        0.2528,
        0.4277,
        0.4572,
        0.1172,
        0.0893,
        -0.2081,
    ],
    "cross, x[0, 0, :10]": [
        -0.0385,
        0.9773,
        -1.437,
        0.8719,
        -2.1034,
        -0.2877,
        0.3034,
        -1.9151,
        1.1799,
        0.6151,
    ],
    "cross, y[0, 0, :10]": [
        -2.1565,
        0.2397,
        0.5872,
        0.395,
        -0.6114,
        0.3489,
        -0.3467,
        0.2792,
        -1.2541,
        0.4053,
    ],
    "cross, out[0, 0, :10]": [
        -0.1544,
        0.0847,
        0.2329,
        0.0549,
        -0.1424,
        0.0711,
        0.0105,
        -0.2139,
        -0.0208,
        -0.1942,
    ],
}


def assert_published(actual: torch.Tensor, name: str) -> None:
    expected = torch.tensor(PUBLISHED[name])
    torch.testing.assert_close(actual.detach(), expected, atol=1.5e-4, rtol=0)


def triple(*lead: int) -> tuple[torch.Tensor, ...]:
    """Queries, keys and values in float64: Lq 4, Lk 5, d_k 6, d_v 7."""
    shapes = ((4, 6), (5, 6), (5, 7))
    return tuple(torch.randn(*lead, *shape, dtype=torch.float64) for shape in shapes)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_attention_reproduces_the_published_values():
    torch.manual_seed(42)
    q, k, v = torch.randn(2, 5, 512), torch.randn(2, 5, 512), torch.randn(2, 5, 256)
    output, _ = attention.scaled_dot_product_attention(q, k, v)
    assert_published(output[0, 0, :25], "attention, out[0, 0, :25]")
    assert_published(output[-1, -1, -25:], "attention, out[-1, -1, -25:]")


def test_self_attention_reproduces_the_published_values():
    torch.manual_seed(48)
    layer = attention.SelfAttention(512, 64, 512)
    x = torch.randn(4, 10, 512)
    assert_published(x[0, 0, :5], "self, x[0, 0, :5]")
    output, _ = layer(x)
    assert_published(output[0, 0, :5], "self, out[0, 0, :5]")
    assert_published(output[-1, -1, :10], "self, out[-1, -1, :10]")


def test_cross_attention_reproduces_the_published_values():
    torch.manual_seed(14)
    layer = attention.CrossAttention(512, 256, 64, 128)
    x, y = torch.randn(3, 10, 512), torch.randn(3, 10, 256)
    assert_published(x[0, 0, :10], "cross, x[0, 0, :10]")
    assert_published(y[0, 0, :10], "cross, y[0, 0, :10]")
    output, _ = layer(x, y)
    assert_published(output[0, 0, :10], "cross, out[0, 0, :10]")


@pytest.mark.parametrize("lead", [(), (2,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_agrees_with_pytorchs_own(lead, masked):
    q, k, v = triple(*lead)
    mask = None
    if masked:
        mask = torch.rand(*lead, 4, 5) < 0.6
        mask[..., 0] = True
    output, weights = attention.scaled_dot_product_attention(q, k, v, mask)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(output, expected, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(weights @ v, output, atol=1e-12, rtol=1e-12)


def test_a_mask_means_the_opposite_in_multihead_attention():
    """One head with plain projections is our attention; its mask is inverted."""
    layer = nn.MultiheadAttention(6, 1, bias=False, batch_first=True).double()
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(6).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(6))
    q, k, _ = triple(2)
    v = torch.randn(2, 5, 6, dtype=torch.float64)
    ids = torch.tensor([[3, 4, 5, 6, 7], [3, 4, 5, 0, 0]])
    keep = attention.padding_mask(ids)
    output, weights = attention.scaled_dot_product_attention(q, k, v, keep)
    theirs, their_weights = layer(q, k, v, key_padding_mask=~keep[:, 0])
    torch.testing.assert_close(output, theirs, atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(weights, their_weights, atol=1e-12, rtol=1e-12)


def test_softmax_agrees_with_pytorchs_own_at_any_size():
    for scale in (1.0, 1e3, 1e5):
        x = scale * torch.randn(3, 4, 7, dtype=torch.float64)
        x[..., 2] = -torch.inf
        torch.testing.assert_close(attention.stable_softmax(x), x.softmax(-1))


def test_the_causal_mask_is_the_complement_of_pytorchs_own():
    theirs = nn.Transformer.generate_square_subsequent_mask(6)
    assert torch.equal(attention.causal_mask(6), theirs == 0)


def test_combined_masks_allow_what_both_allow():
    padding, causal = torch.rand(3, 1, 5) < 0.5, attention.causal_mask(5)
    both = attention.combine_masks(padding, causal)
    assert both.shape == (3, 5, 5)
    assert all(
        bool(both[b, i, j]) == (bool(padding[b, 0, j]) and j <= i)
        for b in range(3)
        for i in range(5)
        for j in range(5)
    )


def test_self_attention_is_permutation_equivariant_and_its_mask_breaks_that():
    layer = attention.SelfAttention(6, 4, 3).double().eval()
    x, order = torch.randn(5, 6, dtype=torch.float64), torch.tensor([3, 0, 4, 1, 2])
    bare = attention.equivariance_gap(lambda x: layer(x)[0], x, order)
    causal = attention.causal_mask(5)
    masked = attention.equivariance_gap(lambda x: layer(x, causal)[0], x, order)
    assert bare < 1e-12
    assert masked > 1e-3


def test_who_sees_whom_finds_the_mask_of_a_layer():
    layer, causal = attention.SelfAttention(6, 4, 3).eval(), attention.causal_mask(5)
    with torch.no_grad():
        seen = attention.who_sees_whom(lambda x: layer(x, causal)[0], torch.randn(5, 6))
    assert torch.equal(seen, causal)
