"""A test for sinusoid tables."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import Inputs, Specification
from transformer_course.positional_encoding.exercises._bug_clinic_comparisons import (
    COMPARISONS,
    LEFT_OUT,
    PARTS,
)


def _angles(max_len: int, d_model: int, first: int = 0) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(first, first + max_len, dtype=torch.float64)
    return positions.unsqueeze(1) / 10000 ** (columns // 2 * 2 / d_model)


def _waves(angles: torch.Tensor) -> torch.Tensor:
    """Sines in even columns, cosines in odd ones, of angles (max_len, d_model)."""
    table = angles.sin()
    table[:, 1::2] = angles[:, 1::2].cos()
    return table


def _rounded(table: torch.Tensor) -> torch.Tensor:
    """Round to multiples of 2**-14: right to four decimals, and equal on every platform."""
    return ((table * 2**14).round() / 2**14).float()


def cosine_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 10000 ** (columns / d_model))


def exponent_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 10000 ** (columns // 2 * 4 / d_model))


def swapped_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    right = _waves(_angles(max_len, d_model))
    return right.view(max_len, -1, 2).flip(-1).flatten(1)


def from_one_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    return _waves(_angles(max_len, d_model, first=1))


def _one_number_bug(draw: Draw, max_len: int, d_model: int, odd: int = 0, change: float = 0.3) -> torch.Tensor:
    """A table with one wrong number, still a possible sine or cosine, and not in a corner."""
    table = _waves(_angles(max_len, d_model))
    while True:
        row, pair = int(draw.ids(2, max_len - 1)), int(draw.ids(1, d_model // 2 - 1))
        if abs(table[row, 2 * pair + odd] + change) < 1:
            table[row, 2 * pair + odd] += change
            return table


def nan_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    table = _waves(_angles(max_len, d_model))
    row, pair = int(draw.ids(2, min(max_len, 10))), int(draw.ids(1, d_model // 2))
    table[row, 2 * pair] = torch.nan
    return table


def halves_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    right = _waves(_angles(max_len, d_model))
    return torch.cat((right[:, 0::2], right[:, 1::2]), dim=1)


def base_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 1000 ** (columns // 2 * 2 / d_model))


def clinic(draw: Draw, bug: Callable[..., torch.Tensor], visible: float = 0.25) -> Inputs:
    """A correct table and a faulty one of the same size, whose error is larger than ``visible``."""
    while True:
        max_len, d_model = 2 * int(draw.ids(4, 8)) + 1, 2 * int(draw.ids(3, 6))
        right = _waves(_angles(max_len, d_model))
        wrong = bug(draw, max_len, d_model)
        if not (wrong - right).abs().max() <= visible:  # also for NaN
            break
    return {
        "right table": _rounded(right),
        "wrong table": _rounded(wrong),
        _ANYWHERE: _rounded(_pairs_anywhere(draw, max_len, d_model)),
    }


# Wrong for every test but one that looks at the length of pairs alone: in each case, so
# that this earns nothing where another error happens to change a length.
_ANYWHERE = "table of pairs that point anywhere"


def _pairs_anywhere(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    turns = draw.tensor(max_len, d_model // 2, scale=torch.pi).double()
    return torch.stack((turns.sin(), turns.cos()), dim=-1).flatten(1)


def one_number(draw: Draw) -> Inputs:
    """A table with a sine that is too large, and one with a cosine that is too small."""
    inputs = clinic(draw, _one_number_bug)
    max_len, d_model = inputs["right table"].shape
    lower = _one_number_bug(draw, max_len, d_model, odd=1, change=-0.3)
    return {**inputs, "other wrong table": _rounded(lower)}


def not_a_number(draw: Draw) -> Inputs:
    """A table with a NaN, and another one with it where zero would be right."""
    inputs = clinic(draw, nan_bug)
    wrong_table = inputs["right table"].clone()
    wrong_table[0, 2] = torch.nan
    return {**inputs, "other wrong table": wrong_table}


def hardly_wrong(draw: Draw) -> Inputs:
    """Tables with one number that is a little off, each at another edge."""
    max_len, d_model = 2 * int(draw.ids(4, 8)) + 1, 2 * int(draw.ids(10, 40))
    right = _waves(_angles(max_len, d_model))
    inside = int(draw.ids(1, max_len - 1))
    large = (right[1:, 2 : d_model - 2].abs() > 0.9).nonzero() + torch.tensor([1, 2])
    places = {
        "first row": (0, 2 * int(draw.ids(1, d_model // 2))),
        "last row": (max_len - 1, d_model - 2),  # where even the last sine is small
        "first column": (inside, 0),
        "last column": (inside, d_model - 1),
        "middle, where numbers are large": tuple(large[int(draw.ids(0, len(large)))]),
    }
    tables = {"right table": _rounded(right)}
    for number, (location, (row, column)) in enumerate(places.items()):
        wrong = right.clone()
        off = 0.0125 if number == 4 else 0.012 + 0.002 * number
        wrong[row, column] += off * (-1) ** number
        tables[f"table with a wrong number in the {location}"] = _rounded(wrong)
    return tables


def turned_wrong(draw: Draw) -> Inputs:
    """Tables of sines and cosines that belong together, but of wrong angles or in wrong places.

    In each table some numbers are too large, and others too small.
    """
    max_len, d_model = 2 * int(draw.ids(4, 8)) + 1, 2 * int(draw.ids(3, 6))
    angles = _angles(max_len, d_model)
    right = _waves(angles)
    while True:
        row = int(draw.ids(2, min(max_len, 10)))
        changes = torch.stack((-2 * right[row], right[row - 1] - right[row]))
        if changes.amin(1).max() < -0.1 and changes.amax(1).min() > 0.1:
            break
    opposite, repeated, upwards = right.clone(), right.clone(), right.clone()
    opposite[row] *= -1
    repeated[row] = right[row - 1]
    upwards[:, 1::2] = right[:, 1::2].abs()
    tables = {
        "right table": right,
        "table of hands that turn backward": _waves(-angles),
        "table of pairs in another order": right.unflatten(1, (-1, 2)).flip(1).flatten(1),
        "table with a row of opposite signs": opposite,
        "table with a repeated row": repeated,
        "table without negative cosines": upwards,
        "table that begins at its end": right.flip(0),
    }
    return {name: _rounded(table) for name, table in tables.items()}


def cancelling(draw: Draw) -> Inputs:
    """Four errors whose sum is zero in each row and in each column."""
    max_len, d_model = 2 * int(draw.ids(20, 30)) + 1, 2 * int(draw.ids(20, 30))
    right = _waves(_angles(max_len, d_model))
    row, column = int(draw.ids(10, max_len - 9)), int(draw.ids(8, d_model - 9))
    wrong = right.clone()
    wrong[row : row + 8 : 7, column : column + 8 : 7] += 0.04 * torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    tables = {"right table": _rounded(right), "table whose errors cancel": _rounded(wrong)}
    return tables | {_ANYWHERE: _rounded(_pairs_anywhere(draw, max_len, d_model))}


def nearly_right(draw: Draw) -> Inputs:
    """Tables of special sizes, each number off by as much as a right one may be."""
    sizes = ((2, 2), (2, 2 * int(draw.ids(14, 20))), (int(draw.ids(2100, 2200)), 2))
    tables = {}
    for max_len, d_model in sizes:
        off = 0.00018 * (draw.flags(max_len, d_model, chance=0.9).double() - 0.5)
        right = (_waves(_angles(max_len, d_model)) + off).float()
        tables[f"right table of {max_len} positions and {d_model} columns"] = right
    wrong = right.clone()
    wrong[-1, -1] += 0.3 if wrong[-1, -1] < 0 else -0.3
    anywhere = _rounded(_pairs_anywhere(draw, max_len, d_model))
    return tables | {"table with a wrong last number": wrong, _ANYWHERE: anywhere}


def worse_and_worse(draw: Draw) -> Inputs:
    """Long tables that are right at first, and some with an infinite number.

    Where angles grow too fast or too slowly, each step is off by no more than two rows
    of a right table may be (0.0002); only from row 50 on are they off by more than 0.01.
    """
    max_len, d_model = int(draw.ids(150, 200)), 2 * int(draw.ids(3, 6))
    angles = _angles(max_len, d_model)
    leap = angles + 0.1 * (torch.arange(max_len) > 11).unsqueeze(1)
    late = angles + 0.1 * (torch.arange(max_len) > 110).unsqueeze(1)
    endless, downwards = _waves(angles), _waves(angles)
    pair = 2 * int(draw.ids(1, d_model // 2 - 1))
    endless[int(draw.ids(2, max_len - 1)), pair] = torch.inf
    downwards[int(draw.ids(2, max_len - 1)), pair + 1] = -torch.inf
    return {
        "right table": _rounded(_waves(angles)),
        "table whose hands turn a little too fast": _rounded(_waves(angles * 1.0002)),
        "table whose hands turn a little too slowly": _rounded(_waves(angles * 0.9998)),
        "table that is wrong from position 12 on": _rounded(_waves(leap)),
        "table that is wrong from position 111 on": _rounded(_waves(late)),
        "table with an infinite sine": _rounded(endless),
        "table with an infinite cosine": _rounded(downwards),
    }


def slow_drift(draw: Draw) -> Inputs:
    """Very long tables whose angles are off by 0.01 only after a thousand positions."""
    max_len, d_model = int(draw.ids(2000, 2100)), 4
    angles = _angles(max_len, d_model)
    return {
        "right table": _rounded(_waves(angles)),
        "table whose hands drift forward": _rounded(_waves(angles * 1.00001)),
        "table whose hands drift backward": _rounded(_waves(angles * 0.99999)),
    }


CASES = [
    case("table_a", "table A", lambda draw: clinic(draw, cosine_bug),
         "A correct table must pass; table A must not."),
    case("table_b", "table B", lambda draw: clinic(draw, exponent_bug),
         "In table B, each pair is fine as a pair. Only its frequency is wrong."),
    case("swapped", "sine and cosine swapped", lambda draw: clinic(draw, swapped_bug),
         "What should row 0 look like?"),
    case("from_one", "positions counted from 1", lambda draw: clinic(draw, from_one_bug),
         "What should row 0 look like?"),
    case("one_number", "a single wrong entry, too large or too small", one_number,
         "Does your test look at all rows and all columns?"),
    case("not_a_number", "a single NaN", not_a_number,
         "Every comparison with NaN is false: `nan > 0.01` as well as `nan < 0.01`."),
    case("hardly_wrong", "a single entry, often at an edge, off by slightly more than 0.01", hardly_wrong,
         "The exercise limits the error of every entry. Which entries does your test check, and how strictly?"),
    case("cancelling", "errors that cancel in the sum of each row and each column", cancelling,
         "Does your test look at each entry, or at sums and means of several?"),
    case("turned_wrong", "pairs of the right length at the wrong angle", turned_wrong,
         "Which of your properties checks the angle of every pair, in every row?"),
    case("worse_and_worse", "tables that start out correct, and one with an infinite entry", worse_and_worse,
         "Does your test look at all positions? What does a small error per step add up to after 150 steps?"),
    case("slow_drift", "very long tables whose pairs drift by a tiny amount in each step", slow_drift,
         "How far off is position 2000 if each step is off by 0.00001?"),
    case("nearly_right", "correct tables of unusual sizes, off by less than 0.0001", nearly_right,
         "A table that is correct to about four decimals must pass, even with two positions or two columns.",
          tests="differently"),
    case("halves", "all sines on the left, all cosines on the right", lambda draw: clinic(draw, halves_bug),
         "Does your test look at individual columns?", hidden_only=True),
    case("base", "powers of 1000 instead of 10000", lambda draw: clinic(draw, base_bug, visible=0.6),
         "Does your test check the frequencies themselves?", hidden_only=True),
]

MISTAKES = [
    # Tests that accept or reject everything, or do not say it as asked.
    wrong("accepts_all",
          "Your test accepts every table.",
          "Is there an `assert` that can fail?",
          source("""
              def assert_sinusoidal(table):
                  assert table.dim() == 2
              """),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  close = torch.allclose(table, right, atol=1e-3)
                  verdict = (close, 'not the sinusoid table')
                  assert verdict
              """, name="asserts_a_tuple")),
    wrong("table_changed",
          "Your test reaches the correct verdict, but it modifies the table that it is given.",
          "What is the difference between `table - right` and `table.sub_(right)`?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  gap = table.sub_(sinusoid(torch.arange(max_len), d_model)).abs()
                  assert (gap < 1e-3).all()
              """), tests="modified"),
    wrong("only_size",
          "Your test checks only the magnitude of the entries.",
          "Is every table with entries between -1 and 1 a sinusoid table?",
          source("""
              def assert_sinusoidal(table):
                  assert not (table.abs() > 1.001).any()
              """)),
    wrong("rejects_all",
          "Your test rejects correct tables. Perhaps it requires more than four decimals.",
          "Two correct programs can differ in the last digits. How far apart may they be?",
          source("""
              def assert_sinusoidal(table):
                  assert (table == 0).all()
              """),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.equal(table, right)
              """, name="exact"),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table, right)
              """, name="default_tolerance")),
    wrong("inverted",
          "Your test rejects correct tables and accepts wrong ones.",
          "An `assert` passes when its condition is true. Is yours true for a correct table?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  close = torch.allclose(table, right, atol=1e-3)
                  assert not close
              """)),
    common("returns_bool",
           source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  return torch.allclose(table, right, atol=1e-3)
              """)),
    wrong("raises_value_error",
          "Wrong tables are found, but your test raises an error other than `AssertionError`.",
          "Which statement raises `AssertionError` by itself?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  if not torch.allclose(table, right, atol=1e-3):
                      raise ValueError('wrong table')
              """), tests="`AssertionError`"),
    *PARTS,
    *COMPARISONS,
    *LEFT_OUT,
]

ACCEPTED = [
    right("compare", source("""
        def assert_sinusoidal(table):
            max_len, d_model = table.shape
            right = sinusoid(torch.arange(max_len), d_model)
            assert torch.allclose(table, right, rtol=0, atol=1e-3), 'not a sinusoid'
        """), tests="Comparing"),
    right("largest_difference", source("""
        def assert_sinusoidal(table):
            max_len, d_model = table.shape
            right = sinusoid(torch.arange(max_len), d_model)
            assert (table - right).abs().max() < 2e-3
        """)),
    right("raises_itself", source("""
        def assert_sinusoidal(table):
            max_len, d_model = table.shape
            right = sinusoid(torch.arange(max_len), d_model)
            if not ((table - right).abs() < 1e-3).all():
                raise AssertionError('not the sinusoid table')
        """)),
    right("torch_testing", source("""
        def assert_sinusoidal(table):
            max_len, d_model = table.shape
            right = sinusoid(torch.arange(max_len), d_model)
            torch.testing.assert_close(table, right, rtol=0, atol=1e-3)
        """)),
    right("numpy_testing", source("""
        import numpy as np
        def assert_sinusoidal(table):
            max_len, d_model = table.shape
            angles = np.arange(max_len)[:, None] / 10000 ** (
                np.arange(0, d_model, 2) / d_model)
            np.testing.assert_allclose(table[:, 0::2], np.sin(angles), atol=1e-3)
            np.testing.assert_allclose(table[:, 1::2], np.cos(angles), atol=1e-3)
        """)),
    right("number_by_number", source("""
        def assert_sinusoidal(table):
            max_len, d_model = table.shape
            for pos in range(max_len):
                for j in range(d_model):
                    angle = pos / 10000 ** ((j - j % 2) / d_model)
                    wanted = math.cos(angle) if j % 2 else math.sin(angle)
                    assert abs(table[pos, j].item() - wanted) < 1e-3, (pos, j)
        """)),
    right("properties", source("""
        def assert_sinusoidal(table):
            sin, cos = table[:, 0::2].double(), table[:, 1::2].double()
            max_len, d_model = table.shape
            assert ((sin**2 + cos**2 - 1).abs() < 1e-3).all()
            speeds = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
            turned = torch.arange(max_len).unsqueeze(1) * speeds
            error = torch.atan2(sin, cos) - turned  # up to full turns
            assert (error.sin().abs() < 1e-3).all() and (error.cos() > 0).all()
        """)),
    right("by_rotation", source("""
        def assert_sinusoidal(table):
            max_len, d_model = table.shape
            row = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
            for found in table:
                assert torch.allclose(found, row, atol=1e-3)
                row = shift_matrix(1, d_model).to(row) @ row
        """)),
]

EXERCISE = Specification(
    target="assert_sinusoidal",
    precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
