"""The reference solutions of unit 02 agree with code and numbers of other people.

And what the notebook says in words is measured.
"""

import runpy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.course import ROOT
from tests.transformer_course.solutions.given import code
from transformer_course.attention.library import recall, timing
from transformer_course.solutions import attention

UNIT = "attention"

# Outputs that ECE 47300, assignment 7, prints, rounded to 4 decimals.
PUBLISHED = {
    "self, x[0, 0, :5]": [-0.1988, -0.306, 0.6383, 0.5713, 1.2769],
    "self, out[0, 0, :5]": [0.086836, -0.041725, -0.25798, -0.096712, 3.0022e-05],
    "self, out[-1, -1, :10]": [
        0.1849, 0.3706, 0.1488, 0.0898, 0.2528, 0.4277, 0.4572, 0.1172, 0.0893, -0.2081,
    ],
    "cross, x[0, 0, :10]": [
        -0.0385, 0.9773, -1.437, 0.8719, -2.1034, -0.2877, 0.3034, -1.9151, 1.1799,
        0.6151,
    ],
    "cross, y[0, 0, :10]": [
        -2.1565, 0.2397, 0.5872, 0.395, -0.6114, 0.3489, -0.3467, 0.2792, -1.2541,
        0.4053,
    ],
    "cross, out[0, 0, :10]": [
        -0.1544, 0.0847, 0.2329, 0.0549, -0.1424, 0.0711, 0.0105, -0.2139, -0.0208,
        -0.1942,
    ],
}  # fmt: skip


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


def test_who_sees_whom_finds_the_mask_of_a_layer():
    layer, causal = attention.SelfAttention(6, 4, 3).eval(), attention.causal_mask(5)
    with torch.no_grad():
        seen = attention.who_sees_whom(lambda x: layer(x, causal)[0], torch.randn(5, 6))
    assert torch.equal(seen, causal)


# What the notebook says in words.


def test_scores_grow_with_the_root_of_their_length():
    def spread(d_k: int) -> float:
        return float((torch.randn(4000, d_k) * torch.randn(4000, d_k)).sum(-1).std())

    assert spread(64) / spread(4) == pytest.approx(4, rel=0.1)


def test_without_scaling_the_median_gradient_dies_while_the_mean_grows():
    gradients = code(UNIT)["query_gradients"]
    without = torch.cat([gradients(1024, 1.0) for _ in range(6)])
    scaled = torch.cat([gradients(1024, 1024**-0.5) for _ in range(6)])
    assert 3.4 < float(without.mean() / scaled.mean()) < 5
    assert float(without.median()) < 1e-3 < 0.25 < float(scaled.median())
    assert float(scaled.mean() / scaled.median()) == pytest.approx(1, abs=0.15)


def test_weights_of_the_three_guests():
    given = code(UNIT)
    parlour = given["KEYS"].tolist(), given["VALUES"].tolist()
    rows = {
        name: attention.attend(query, *parlour, [True, True, True, False])
        for name, query in given["GUESTS"].items()
    }
    told = {name: [round(w, 2) for w in weights] for name, (_, weights) in rows.items()}
    assert told == {
        "Ann": [0.58, 0.21, 0.21, 0.0],
        "Ben": [0.21, 0.21, 0.58, 0.0],
        "Cy": [0.09, 0.67, 0.24, 0.0],
    }
    assert told["Ann"] == given["PENCIL"]["Ann"]
    assert [round(v, 2) for v in rows["Ann"][0]] == [3.64, 2.91]
    _, weights = attention.attend(given["GUESTS"]["Ben"], *parlour, [True] * 4)
    assert round(weights[3], 2) == 0.61 == round(max(weights), 2)
    alone = F.softmax(given["KEYS"] @ given["ANN"], dim=0)
    assert float(alone[0]) == pytest.approx(0.78, abs=5e-3) and float(alone[3]) > 0.01


def test_softmax_is_exactly_zero_104_below_the_largest_score():
    near, far = (attention.stable_softmax(torch.tensor([0.0, -s])) for s in (103, 104))
    assert float(near[1]) > 0 and float(far[1]) == 0


def test_the_drawings_rounded_weights_sum_to_one_and_only_the_masked_key_has_none(
    monkeypatch,
):
    monkeypatch.syspath_prepend(ROOT / "assets" / "figures")
    drawn = runpy.run_path(str(ROOT / "assets" / "figures" / "attention.py"))
    for row in drawn["worked"]()["weights"]:
        shown = [round(weight, 2) for weight in row]
        assert sum(shown) == pytest.approx(1, abs=1e-9)
        assert [n for n, weight in enumerate(shown) if weight == 0] == [
            drawn["PADDING"]
        ]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5))]
)
def test_cross_attention_learns_to_look_up_and_an_average_does_not(seed):
    torch.manual_seed(seed)
    sizes = dict(recall.SIZES, d_k=16)
    layer, uniform = (attention.CrossAttention(**sizes) for _ in range(2))
    assert recall.accuracy(layer) < 0.2
    recall.train(layer, steps=300, seed=seed)
    recall.train(recall.without_queries(uniform), steps=300, seed=seed)
    assert recall.accuracy(layer) > 0.995
    assert 0.3 < recall.accuracy(uniform) < 0.38
    asked, books, _ = recall.draw(100, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        _, weights = layer(asked, books)
    names = asked @ books[..., : len(recall.NAMES)].mT  # 1 where an entry is asked for
    assert float((weights * names).sum(-1).min()) > 0.9
    assert float(uniform(asked, books)[1].detach().std()) < 1e-6


def test_twice_the_length_takes_about_four_times_the_time():
    def milliseconds(length: int) -> float:
        return timing.fastest(
            F.scaled_dot_product_attention, *torch.randn(3, 1, 1, length, 64)
        )

    assert 8 < milliseconds(2048) / milliseconds(512) < 32


def behind_a_norm(x):
    """A layer that leaks nothing, and looks blind to an even change."""
    return F.layer_norm(x, x.shape[-1:]).cumsum(0)


def test_the_test_sees_through_a_norm_where_an_even_push_is_blind():
    x = torch.randn(5, 6)
    assert torch.equal(
        attention.who_sees_whom(behind_a_norm, x), attention.causal_mask(5)
    )
    for j in range(5):
        pushed = x.clone()
        pushed[j] += 1
        assert (behind_a_norm(pushed) - behind_a_norm(x)).abs().max() < 1e-5


def test_all_three_patients_leak():
    given = code(UNIT)
    x, causal = torch.randn(5, 5), attention.causal_mask(5)
    seen = {
        letter: attention.who_sees_whom(given[f"patient_{letter}"], x)
        for letter in "abc"
    }
    assert seen["a"].all() and torch.equal(seen["b"], causal.T)
    assert (seen["c"] & ~causal).any()
    weights = given["weights_of_c"](x)
    assert torch.equal(weights == 0, ~causal)
    assert (weights.sum(-1) - 1).abs().max() > 0.1


def test_which_of_the_five_layers_is_what():
    x, other = torch.randn(2, 5, 6)
    order = torch.tensor([3, 0, 4, 1, 2])
    given = code(UNIT)
    layers, symmetry = given["five_layers"](other), given["symmetry"]
    assert {name: symmetry(f, x, order) for name, f in layers.items()} == {
        "bare": "equivariant",
        "positions": "neither",
        "causal": "neither",
        "asking": "equivariant",
        "asked": "invariant",
    }


def test_all_three_words_change_with_positions_and_with_a_causal_mask():
    layer = attention.SelfAttention(6, 4, 3).eval()
    x, positions, order = *torch.randn(2, 3, 6), torch.tensor([2, 1, 0])
    causal = attention.causal_mask(3)
    for run in (lambda x: layer(x + positions)[0], lambda x: layer(x, causal)[0]):
        change = (run(x[order]) - run(x)[order]).abs().amax(-1)
        assert (change > 1e-4).all()


def attention_cost(n: int, d: int) -> int:
    """The multiplications of four projections, of the scores and of the mixtures."""
    return 4 * n * d**2 + 2 * n**2 * d


@pytest.mark.parametrize("products, length", [(6, 512), (8, 1024)])
def test_attention_costs_more_than_a_gated_network_beyond_this_length(products, length):
    d = 512
    for n, costs_more in ((length, False), (length + 1, True)):
        assert (attention_cost(n, d) > products * n * d**2) is costs_more


def test_at_fifty_words_attention_costs_twice_an_rnn_and_half_an_lstm():
    n, d = 50, 512
    millions = [
        round(c / 1e6) for c in (attention_cost(n, d), n * d**2 * 2, n * d**2 * 8)
    ]
    assert millions == [55, 26, 105]


@pytest.mark.parametrize("width", [1, 7, 16, 50])
def test_tiles_of_any_width_give_the_output_of_attention(width):
    q, k, v = torch.randn(5, 8), torch.randn(50, 8), torch.randn(50, 3)
    expected, _ = attention.scaled_dot_product_attention(50 * q, k, v)
    output = code(UNIT)["attend_in_tiles"](50 * q, k, v, width)
    torch.testing.assert_close(output, expected)
