"""Cases and mistakes for an exercise: a test that finds faulty sinusoid tables."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification, Variant
from transformer_course.positional_encoding.exercises._tables import (
    RANDOM_ANGLES,
    compute_angles,
    disturb,
    draw_tables,
    make_table,
)


def _disturb_two(change: float, is_for_sine: Callable[[torch.Tensor], torch.Tensor]) -> Maker:
    """Make a function that draws a correct table, and two with one wrong entry each.

    Args:
        change: added to a cosine in one table, subtracted from a sine in the other.
        is_for_sine: marks entries that the sine must be among, the cosine not.
    """
    def make_wrong(draw: Draw, angles: torch.Tensor) -> Inputs:
        table = make_table(angles)
        row, column = torch.arange(len(table)).unsqueeze(1), torch.arange(table.size(1))
        inside = (row < 10) & (column > 1) & (column < min(table.size(1) - 1, 8))
        first = inside & (row > 0) & (column % 2 == 1) & ~is_for_sine(table)
        second = inside & (column % 2 == 0) & is_for_sine(table)
        return {
            "wrong table": disturb(draw, table, first, change),
            "other wrong table": disturb(draw, table, second, -change),
        }

    return draw_tables(make_wrong)


def _make_hardly_wrong(draw: Draw, angles: torch.Tensor) -> Inputs:
    """Tables in which one entry is off by 0.0125: at an edge of the table, or among the large numbers."""
    table = make_table(angles)
    row, column = torch.arange(len(table)).unsqueeze(1), torch.arange(table.size(1))
    places = {
        "first row": row == 0,
        "last row, where numbers are small": (row == row.max()) & (column % 2 == 0) & (table.abs() < 0.03),
        "first column": column == 0, "last column": column == column.max(),
        "middle, where numbers are large": table.abs() > 0.9,
    }
    return {
        f"table with a wrong number in the {name}": disturb(draw, table, place, 0.0125 * (-1) ** number)
        for number, (name, place) in enumerate(places.items())
    }


def _make_cancelling(draw: Draw, angles: torch.Tensor) -> Inputs:
    """A table with four errors that sum to zero in each row and in each column."""
    table = make_table(angles)
    row, column = (int(draw.ids(8, size - 9)) for size in table.shape)
    table[row : row + 8 : 7, column : column + 8 : 7] += 0.04 * torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    return {"table whose errors cancel": table}


def _make_drifting(draw: Draw, angles: torch.Tensor) -> Inputs:
    """Make four wrong tables, whose errors grow slowly, start late or are infinite."""
    right = make_table(angles)
    return {
        "table whose hands turn a little too fast": make_table(angles * 1.0002),
        "table whose hands turn a little too slowly": make_table(angles * 0.9998),
        "table that is reversed from position 111 on": torch.cat((right[:111], right[111:].flip(0))),
        "table with an infinite entry": disturb(draw, right, torch.arange(right.size(1)) == 2, torch.inf),
    }


def _draw_nearly_right(draw: Draw) -> Inputs:
    """Correct tables of special sizes, with errors below 0.0001, and two incorrect tables.

    In one of these, only the last of more than 2000 rows is wrong; in the other, the angles are random.
    """
    tables = {}
    for max_len, d_model in ((2, 2), (2, 2 * int(draw.ids(14, 20))), (int(draw.ids(2100, 2200)), 2)):
        off = 0.00018 * (draw.flags(max_len, d_model, chance=0.9).double() - 0.5)
        right = (make_table(compute_angles(max_len, d_model)) + off).float()
        tables[f"right table of {max_len} positions and {d_model} columns"] = right
    # Far from the right row, in at least one entry, and above it in one.
    last = torch.tensor([[0.0, 1.0] if right[-1, 1] < 0.5 else [1.0, 0.0]])
    tables["table with a wrong last row"] = torch.cat((right[:-1], last))
    return tables | {RANDOM_ANGLES: draw_tables(lambda *_: {})(draw)[RANDOM_ANGLES]}


CASES = [
    case("table_a", "table A",
         draw_tables(lambda _, angles: {"wrong table": make_table(angles, of_cosines=angles * angles[1, 1] ** 0.5)}),
         "A correct table must pass; table A must not."),
    case("table_b", "table B", draw_tables(lambda _, angles: {"wrong table": make_table(angles * angles[1])}),
         "In table B, each pair is fine as a pair. Only its frequency is wrong."),
    case("first_row", "sine and cosine swapped, and positions counted from 1", draw_tables(lambda _, angles: {
             "wrong table": make_table(torch.pi / 2 - angles), "other wrong table": make_table(angles + angles[1]),
         }),
         "What should row 0 look like?"),
    case("one_number", "a single wrong entry, too large or too small", _disturb_two(-0.3, lambda table: table <= 0.3),
         "Does your test look at all rows and all columns?"),
    case("not_a_number", "a single NaN", _disturb_two(torch.nan, lambda table: table == 0),
         "Every comparison with NaN is false: `nan > 0.01` as well as `nan < 0.01`."),
    case("hardly_wrong", "a single entry, often at an edge, off by slightly more than 0.01",
         draw_tables(_make_hardly_wrong, (9, 16), (10, 40)),
         "The exercise limits the error of every entry. Which entries does your test check, and how strictly?"),
    case("cancelling", "errors that cancel in the sum of each row and each column",
         draw_tables(_make_cancelling, (40, 60), (20, 30)),
         "Does your test look at each entry, or at sums and means of several?"),
    case("turned_wrong", "pairs of the right length at the wrong angle", draw_tables(lambda _, angles: {
             "table of hands that turn backward": make_table(-angles),
             "table of pairs in another order": make_table(angles.flip(1)),
             "table without negative cosines": make_table(angles, of_cosines=angles.cos().abs().acos()),
             "table that begins at its end": make_table(angles.flip(0)),
         }),
         "Which of your properties checks the angle of every pair, in every row?"),
    case("worse_and_worse", "tables that start out correct, and one with an infinite entry",
         draw_tables(_make_drifting, (150, 200)),
         "Does your test look at all positions? What does a small error per step add up to after 150 steps?"),
    case("slow_drift", "very long tables whose pairs drift by a tiny amount in each step", draw_tables(lambda _, angles: {
             "table whose hands drift forward": make_table(angles * 1.00001),  # off by 0.01 after 1000 steps
             "table whose hands drift backward": make_table(angles * 0.99999),
         }, (2000, 2100), (2, 3)),
         "How far off is position 2000 if each step is off by 0.00001?"),
    case("nearly_right", "correct tables of unusual sizes, off by less than 0.0001", _draw_nearly_right,
         "A table that is correct to about four decimals must pass, even with two positions or two columns.",
         tests="differently"),
    case("halves", "all sines on the left, all cosines on the right",
         draw_tables(lambda _, angles: {"wrong table": torch.cat((angles.sin(), angles.cos()), dim=1)}),
         "Does your test look at individual columns?", hidden_only=True),
    case("base", "powers of 1000 instead of 10000",
         draw_tables(lambda _, angles: {"wrong table": make_table(angles * angles[1] ** -0.25)}),
         "Does your test check the frequencies themselves?", hidden_only=True),
]


def _write_test(lines: str, name: str = "") -> Variant:
    """Write a student's test with these lines, which can use the correct table, `right`."""
    start = "max_len, d_model = table.shape\nright = sinusoid(torch.arange(max_len), d_model)\n"
    body = textwrap.indent(start + textwrap.dedent(lines).strip(), "    ")
    return source(f"def assert_sinusoidal(table):\n{body}", name)


def _expect_table(table: str, name: str = "") -> Variant:
    """Write a test that compares its argument with ``table``, a table given as code."""
    return _write_test(f"assert torch.allclose(table, {table}, atol=1e-3)", name)


def _look_at(index: str, name: str = "") -> Variant:
    """Write a test that compares only ``table[index]``, with the index given as code."""
    return _write_test(f"assert torch.allclose(table[{index}], right[{index}], atol=1e-3)", name)


def _shift_by(distance: int, atol: float, name: str = "") -> Variant:
    """Write a test that checks row 0 and, with the shift matrix, pairs of rows less than `distance` apart."""
    return _write_test(f"""
        assert torch.allclose(table[0], right[0], atol=1e-3)
        for k in range(1, min({distance}, max_len)):
            moved = table[:-k].double() @ shift_matrix(k, d_model).double().T
            assert torch.allclose(moved, table[k:].double(), rtol=0, atol={atol})
        """, name)


_LENGTHS = "assert torch.allclose(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, torch.ones(()), atol=1e-3)\n"
_FORMULA = "(torch.arange(max_len)[:, None] / 10000 ** ({} / d_model) + torch.arange(d_model) % 2 * torch.pi / 2).sin()"

MISTAKES = [
    # Tests that accept or reject everything, or do not say it as asked.
    wrong("accepts_all", "Your test accepts every table, or at least every one with entries between -1 and 1.",
          "Is there an `assert` that can fail for a wrong table?",
          _write_test("assert table.dim() == 2"),
          _write_test("assert not (table.abs() > 1.001).any()", "only_size"),
          _write_test("assert (torch.allclose(table, right, atol=1e-3), 'not the sinusoid table')", "asserts_a_tuple")),
    wrong("rejects_all", "Your test rejects correct tables. Perhaps it requires more than four decimals.",
          "Two correct programs can differ in the last digits. How far apart may they be?",
          _write_test("assert (table == 0).all()"),
          _write_test("assert torch.equal(table, right)", "exact"),
          _write_test("assert torch.allclose(table, right)", "default_tolerance")),
    common("returns_bool", _write_test("return torch.allclose(table, right, atol=1e-3)")),
    wrong("raises_value_error", "Wrong tables are found, but your test raises an error other than `AssertionError`.",
          "Which statement raises `AssertionError` by itself?",
          _write_test("if not torch.allclose(table, right, atol=1e-3): raise ValueError('wrong table')"),
          tests="`AssertionError`"),
    wrong("table_changed", "Your test reaches the correct verdict, but it modifies the table that it is given.",
          "What is the difference between `table - right` and `table.sub_(right)`?",
          _write_test("assert (table.sub_(right).abs() < 1e-3).all()"), tests="modified"),
    # Tests that look at a part of the table, or at a property that wrong tables have as well.
    wrong("rows_left_out", "Your test does not look at every row.",
          "What if the error is in a different row?",
          _look_at("0", "first_row_only"), _look_at(":10", "a_few_positions"), _look_at(":50", "fifty_rows"),
          _look_at("-1", "last_row_only"), _look_at(":-1", "last_row_left_out")),
    wrong("columns_left_out", "Your test does not look at every column.",
          "What if the error is in a different column?",
          _look_at(":, :2", "first_pair_only"), _look_at(":, 0::2", "sines_only"), _look_at(":, 1::2", "cosines_only"),
          _look_at(":, :8", "first_eight_columns"),
          _look_at(":, 2:", "first_column_left_out"), _look_at(":, :-1", "last_column_left_out")),
    wrong("lengths_only",
          "Your test checks the lengths of pairs or rows, perhaps with a first row or the sines. Pairs of that length "
          "at a wrong angle still pass.",
          "Which of your assertions fixes the angle of every pair, in every row?",
          _write_test(_LENGTHS, "circles_only"),
          _write_test("assert torch.allclose(table.norm(dim=1), right.norm(dim=1), atol=1e-3)", "circles_by_sum"),
          _write_test(_LENGTHS + "assert torch.allclose(table[0], right[0], atol=1e-3)", "circles_and_first_row"),
          _write_test(_LENGTHS + "assert torch.allclose(table[:2], right[:2], atol=1e-3)", "circles_and_two_rows"),
          _write_test(_LENGTHS + "assert torch.allclose(table[:, 0::2], right[:, 0::2], atol=1e-3)", "sines_and_circles")),
    wrong("steps_only",
          "Your test compares rows that are one or a few steps apart. An error too small to notice in these steps adds "
          "up over a long table.",
          "If every step may be off by 0.001, how far off can row 150 be?",
          _shift_by(2, 2e-3), _shift_by(8, 3e-4, "a_few_steps"), _shift_by(50, 4e-3, "fifty_steps")),
    # Tests that compare every entry, but not as they should.
    wrong("sums_compared",
          "Your test compares sums or averages, in which errors can cancel or become too small to notice.",
          "By how much does one error of 0.04 change the mean of a row of 64 entries?",
          _write_test("assert (table - right).sum().abs() < 0.01"),
          _write_test("assert (table - right).abs().mean() < 0.01", "average_difference"),
          _write_test("assert torch.allclose(table.mean(1), right.mean(1), atol=1e-3)", "means_compared")),
    wrong("signed_difference",
          "Your test only catches entries that are too large, because the differences keep their sign.",
          "Is a difference of -1 smaller than the tolerance?",
          _write_test("assert ((table - right) < 0.005).all()")),
    wrong("any_for_all", "Your test passes as soon as *some* entry is correct.",
          "How many entries of a correct table must be close?",
          _write_test("assert ((table - right).abs() < 1e-3).any()")),
    wrong("nan_slips_through", "A table that contains NaN can pass your test.",
          "What is `float('nan') > 0.001`, and should a missing entry ever count as correct?",
          _write_test("assert not ((table - right).abs() > 1e-3).any()"),
          _write_test("assert torch.allclose(table.where(~table.isnan(), right), right, atol=1e-3)", "equal_nan"),
          _write_test("assert torch.allclose(table.nan_to_num(), right, atol=1e-3)", "nan_for_zero"),
          tests="AssertionError"),
    wrong("too_loose",
          "Your tolerance is too loose, at least for large entries: some that are off by more than 0.01 pass.",
          "How large is your tolerance for an entry near 0, and for one near 1?",
          _write_test("assert torch.allclose(table, right, rtol=0, atol=0.05)"),
          _write_test("assert torch.allclose(table, right, rtol=0, atol=0.015)", "a_little_too_loose"),
          _write_test("assert ((table - right).abs() < 0.5).all()", "too_generous"),
          _write_test("assert torch.allclose(table, right, rtol=1e-2, atol=5e-3)", "relative_tolerance"),
          tests="rejects"),
    wrong("bug_copied", "Your test contains a bug itself: it accepts a wrong table and rejects correct ones.",
          "Which exponents does your test compute for columns 2 and 3, and which function does it use for column 0?",
          _expect_table(_FORMULA.format("torch.arange(d_model)"), "bug_a_copied"),
          _expect_table(_FORMULA.format("torch.arange(d_model) // 2 * 4"), "bug_b_copied"),
          _expect_table("right.view(max_len, -1, 2).flip(-1).flatten(1)", "swap_copied")),
    wrong("one_size_only", "Your test works for only one size of table.",
          "What can you read off the table's shape?",
          _expect_table("sinusoid(torch.arange(50), 64)"), tests="tables"),
]

ACCEPTED = [
    right("compare", _write_test("assert torch.allclose(table, right, rtol=0, atol=1e-3), 'not a sinusoid'"),
          tests="Comparing"),
    right("properties", source("""
        def assert_sinusoidal(table):
            sin, cos = table[:, 0::2].double(), table[:, 1::2].double()
            assert ((sin**2 + cos**2 - 1).abs() < 1e-3).all()
            speeds = 10000.0 ** (-torch.arange(sin.size(1)) / sin.size(1))
            turned = torch.arange(len(table)).unsqueeze(1) * speeds
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
    target="assert_sinusoidal", precise=False, separate="each case has bugs of its own",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
