"""The reference tables are the published ones; what the notebook says is measured."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from tests.transformer_course.solutions.given import code
from transformer_course.solutions import positional_encoding as unit

UNIT = "positional_encoding"

CLOSE = {"atol": 1.5e-4, "rtol": 0}

# DS 542, discussion 8: the printed table of d_model 4, positions 0 to 3.
DS542 = torch.tensor(
    [
        [0.0, 1.0, 0.0, 1.0],
        [0.84147096, 0.54030234, 0.00999983, 0.99995],
        [0.9092974, -0.41614684, 0.01999867, 0.9998],
        [0.14112, -0.9899925, 0.0299955, 0.99955004],
    ]
)

# ECE 47300, assignment 7: the printed sums of the table of d_model 512 and sqrt(512) x,
# where x is (0.01, 0.02, ..., 5.12) at each of 4 positions; four decimals are printed.
ECE473 = (
    ((0, slice(None, 5)), [0.2263, 1.4525, 0.6788, 1.9051, 1.1314]),
    ((1, slice(None, 5)), [1.0677, 0.9929, 1.5007, 1.4748, 1.9333]),
    ((3, slice(-5, None)), [115.9473, 115.1738, 116.3998, 115.6263, 116.8524]),
)
# Its solution computes another number here, by the cosine's wrong exponent.
ECE473_WRONG = [1.0677, 1.0078, 1.5007, 1.4888, 1.9333]

TABLES = {
    "loops": unit.table_by_loops,
    "at once": lambda max_len, d_model: unit.sinusoid(torch.arange(max_len), d_model),
}


@pytest.fixture(params=TABLES.values(), ids=TABLES.keys())
def table(request):
    return request.param


def test_table_is_the_one_printed_by_ds542(table):
    torch.testing.assert_close(table(4, 4), DS542, **CLOSE)


def test_sums_are_those_printed_by_ece473(table):
    x = (torch.arange(1, 513) * 0.01).repeat(1, 4, 1)  # (1, 4, 512)
    add = unit.PositionalEncoding(table(4, 512))
    sums = add(x * math.sqrt(512))[0]  # (4, 512)
    for place, printed in ECE473:
        torch.testing.assert_close(sums[place], torch.tensor(printed), **CLOSE)


def test_input_layer_gives_the_same_sums():
    positions = unit.PositionalEncoding(unit.sinusoid(torch.arange(4), 512))
    layer = unit.InputLayer(7, 512, positions).eval()
    with torch.no_grad():
        layer.embedding.weight[5] = torch.arange(1, 513) * 0.01
    sums = layer(torch.full((1, 4), 5))[0]  # (4, 512)
    for place, printed in ECE473:
        torch.testing.assert_close(sums[place], torch.tensor(printed), **CLOSE)


def test_loops_and_vectorised_table_agree():
    table = unit.table_by_loops(40, 18)
    torch.testing.assert_close(unit.sinusoid(torch.arange(40), 18), table)


@pytest.mark.parametrize("k", [-11, 0, 1, 7])
def test_shift_matrix_moves_every_position(k):
    positions = torch.arange(20, 45, dtype=torch.float64)
    before = unit.sinusoid(positions, 14)  # (25, 14)
    after = unit.sinusoid(positions + k, 14)  # (25, 14)
    moved = before @ unit.shift_matrix(k, 14).double().T  # (25, 14)
    torch.testing.assert_close(moved, after, atol=1e-5, rtol=0)


def test_table_a_is_what_the_published_solution_prints():
    x = torch.arange(1, 6) * 0.01 * math.sqrt(512)
    sums = x + code(UNIT)["table_a"](2, 512)[1, :5]
    torch.testing.assert_close(sums, torch.tensor(ECE473_WRONG), **CLOSE)


def test_clinic_rejects_table_a_and_accepts_the_printed_one():
    unit.assert_sinusoidal(DS542)
    with pytest.raises(AssertionError):
        unit.assert_sinusoidal(code(UNIT)["table_a"](4, 512))


@pytest.mark.parametrize(("length", "drift"), [(60, 1.0005), (2000, 1.00001)])
def test_clinic_rejects_a_drift_that_no_two_rows_betray(length, drift):
    positions = torch.arange(length, dtype=torch.float64)
    right, drifting = (unit.sinusoid(positions * d, 8) for d in (1.0, drift))
    assert (drifting - right).abs().max() > 0.01
    unit.assert_sinusoidal(right)
    with pytest.raises(AssertionError):
        unit.assert_sinusoidal(drifting)


@pytest.mark.parametrize(("position", "error"), [(60, 0.03), (200, 0.1)])
def test_a_pair_that_rotates_too_far_is_off_by_as_much_as_is_told(position, error):
    assert 2 * math.sin(0.0005 * position / 2) == pytest.approx(error, rel=0.01)


# What the notebook says in words.


def test_a_scaled_default_embedding_drowns_its_position():
    d_model = 512
    torch.manual_seed(0)
    default = nn.Embedding(1000, d_model).weight.detach()
    position = float(unit.sinusoid(torch.tensor(7), d_model).norm())
    length = float(default.norm(dim=1).mean())
    assert position == pytest.approx(16)
    assert length == pytest.approx(22.6, abs=0.1)
    assert length * d_model**0.5 == pytest.approx(512, abs=2)
    assert length * d_model**-0.5 == pytest.approx(1, abs=0.01)


def test_positions_are_added_to_padding_as_well():
    table = unit.sinusoid(torch.arange(5), 6)
    layer = unit.InputLayer(7, 6, unit.PositionalEncoding(table)).eval()
    torch.testing.assert_close(layer(torch.zeros(1, 5, dtype=torch.int64))[0], table)


def test_the_last_pair_needs_more_than_60_000_positions_for_a_round():
    assert 2 * math.pi * 10000 ** (510 / 512) > 60_000


def test_wavelengths_of_dimensions_1_7_and_16_of_64():
    lengths = [2 * math.pi * 10000 ** (2 * i / 64) for i in (0, 3, 7)]
    assert [round(length, 1) for length in lengths] == [6.3, 14.9, 47.1]
    assert float(unit.sinusoid(torch.tensor(15), 64)[15]) == pytest.approx(
        -0.42, abs=4e-3
    )


def test_dot_products_fall_with_the_distance_but_ripple():
    table = unit.sinusoid(torch.arange(64), 64)
    products = (table @ table.T)[20]
    told = [round(float(products[n]), 1) for n in (20, 25, 50, 42, 45)]
    assert told == [32.0, 23.5, 17.1, 17.6, 20.1]


@pytest.mark.parametrize(("position", "error"), [(500, 3e-5), (5000, 4e-4)])
def test_an_angle_in_float32_costs_more_than_the_rounding_of_a_sine(position, error):
    positions = torch.arange(position)
    powers = 10000 ** (torch.arange(0, 128, 2, dtype=torch.float64) / 128)
    sines = (positions.double().unsqueeze(1) / powers).sin()  # (position, 64)
    largest = float((unit.sinusoid(positions, 128)[:, 0::2] - sines).abs().max())
    assert largest == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_a_step_is_undone_by_the_transpose(k):
    back = unit.shift_matrix(-k, 8)
    torch.testing.assert_close(unit.shift_matrix(k, 8).T, back)
    torch.testing.assert_close(back @ unit.shift_matrix(k, 8), torch.eye(8))


def test_one_property_finds_table_a_and_neither_finds_table_b():
    tables = [code(UNIT)[name](20, 16) for name in ("table_a", "table_b")]
    starts = torch.tensor([0.0, 1.0]).repeat(8)
    assert all(torch.allclose(table[0], starts) for table in tables)
    lengths = [table.view(20, 8, 2).norm(dim=-1) for table in tables]
    assert [torch.allclose(each, torch.ones(20, 8)) for each in lengths] == [
        False,
        True,
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("positions", "std", "least", "most"),
    [
        ("none", 32**-0.5, 0.48, 0.52),
        ("sinusoids", 32**-0.5, 0.98, 1.0),
        ("sinusoids", 1.0, 0.84, 0.92),
        ("learned", 32**-0.5, 0.98, 1.0),
        ("table_a", 32**-0.5, 0.98, 1.0),
        ("table_b", 32**-0.5, 0.98, 1.0),
    ],
)
def test_what_the_toy_task_says_of_positions_and_of_the_start(
    positions, std, least, most
):
    tables = {"sinusoids": lambda *size: unit.sinusoid(torch.arange(size[0]), size[1])}
    tables |= {name: code(UNIT)[name] for name in ("table_a", "table_b")}
    for seed in range(5):
        if positions in tables:
            module = unit.PositionalEncoding(tables[positions](16, 32))
        else:
            torch.manual_seed(100 + seed)
            learned = code(UNIT)["LearnedPositions"](32, 16)
            module = nn.Identity() if positions == "none" else learned
        short, long = code(UNIT)["accuracies"](module, 32, std, seed)
        assert least <= short <= most
        assert long < (0.75 if positions.startswith("table") else 0.7)
