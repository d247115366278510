"""The reference tables are those that others have published."""

from __future__ import annotations

import math

import pytest
import torch

from autograder.solutions import positional_encoding as unit

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


def _table_a(max_len: int, d_model: int) -> torch.Tensor:
    """The published solution's table: the exponent of a cosine is (j + 1) / d_model."""
    table = torch.zeros(max_len, d_model)
    for pos in range(max_len):
        for j in range(0, d_model, 2):
            table[pos, j] = math.sin(pos / 10000 ** (j / d_model))
            table[pos, j + 1] = math.cos(pos / 10000 ** ((j + 1) / d_model))
    return table


def test_table_a_is_what_the_published_solution_prints():
    x = torch.arange(1, 6) * 0.01 * math.sqrt(512)
    sums = x + _table_a(2, 512)[1, :5]
    torch.testing.assert_close(sums, torch.tensor(ECE473_WRONG), **CLOSE)


def test_clinic_rejects_table_a_and_accepts_the_printed_one():
    unit.assert_sinusoidal(DS542)
    with pytest.raises(AssertionError):
        unit.assert_sinusoidal(_table_a(4, 512))
