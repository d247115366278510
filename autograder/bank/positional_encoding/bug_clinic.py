"""A test for sinusoid tables."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Inputs,
    Mutant,
    Specification,
    Way,
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
    """To multiples of 2**-14: right to four decimals, and equal on every platform."""
    return ((table * 2**14).round() / 2**14).float()


def _cosine_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 10000 ** (columns / d_model))


def _exponent_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 10000 ** (columns // 2 * 4 / d_model))


def _swapped_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    right = _waves(_angles(max_len, d_model))
    return right.view(max_len, -1, 2).flip(-1).flatten(1)


def _from_one_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    return _waves(_angles(max_len, d_model, first=1))


def _one_number_bug(
    draw: Draw, max_len: int, d_model: int, odd: int = 0, change: float = 0.3
) -> torch.Tensor:
    """One number off, which stays a sine or cosine of something, and not in a corner."""
    table = _waves(_angles(max_len, d_model))
    while True:
        row, pair = int(draw.ids(2, max_len - 1)), int(draw.ids(1, d_model // 2))
        if abs(table[row, 2 * pair + odd] + change) < 1:
            table[row, 2 * pair + odd] += change
            return table


def _nan_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    table = _waves(_angles(max_len, d_model))
    table[int(draw.ids(2, max_len - 1)), 2 * int(draw.ids(1, d_model // 2))] = torch.nan
    return table


def _halves_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    right = _waves(_angles(max_len, d_model))
    return torch.cat((right[:, 0::2], right[:, 1::2]), dim=1)


def _base_bug(draw: Draw, max_len: int, d_model: int) -> torch.Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    positions = torch.arange(max_len, dtype=torch.float64)
    return _waves(positions.unsqueeze(1) / 1000 ** (columns // 2 * 2 / d_model))


def _clinic(draw: Draw, bug: Callable[..., torch.Tensor], visible: float = 0.25) -> Inputs:
    """A right table and, of the same size, one with the bug, off by more than a bit."""
    while True:
        max_len, d_model = 2 * int(draw.ids(4, 8)) + 1, 2 * int(draw.ids(3, 6))
        right = _waves(_angles(max_len, d_model))
        wrong = bug(draw, max_len, d_model)
        if not (wrong - right).abs().max() <= visible:  # also for NaN
            break
    return {"right table": _rounded(right), "wrong table": _rounded(wrong)}


def _one_number(draw: Draw) -> Inputs:
    """A sine that is too large; and a table with a cosine that is too small."""
    inputs = _clinic(draw, _one_number_bug)
    max_len, d_model = inputs["right table"].shape
    lower = _one_number_bug(draw, max_len, d_model, odd=1, change=-0.3)
    return {**inputs, "other wrong table": _rounded(lower)}


def _hardly_wrong(draw: Draw) -> Inputs:
    """Tables with one number that is a little off, each at another edge."""
    max_len, d_model = 2 * int(draw.ids(4, 8)) + 1, 2 * int(draw.ids(3, 6))
    right = _waves(_angles(max_len, d_model))
    inside = int(draw.ids(1, max_len - 1)), int(draw.ids(2, d_model - 2))
    places = {
        "first row": (0, inside[1]),
        "last row": (max_len - 1, inside[1]),
        "first column": (inside[0], 0),
        "last column": (inside[0], d_model - 1),
    }
    made = {"right table": _rounded(right)}
    for number, (where, (row, column)) in enumerate(places.items()):
        wrong = right.clone()
        wrong[row, column] += (0.012 + 0.002 * number) * (-1) ** number
        made[f"table with a wrong number in the {where}"] = _rounded(wrong)
    return made


def _turned_wrong(draw: Draw) -> Inputs:
    """Hands of the right length that point the wrong way, each in another manner."""
    max_len, d_model = 2 * int(draw.ids(4, 8)) + 1, 2 * int(draw.ids(3, 6))
    angles = _angles(max_len, d_model)
    right, row = _waves(angles), int(draw.ids(2, max_len))
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
    }
    return {name: _rounded(table) for name, table in tables.items()}


def _nearly_right(draw: Draw) -> Inputs:
    """Tables of special sizes, each number off by as much as a right one may be."""
    sizes = ((2, 2), (2, 2 * int(draw.ids(8, 20))), (int(draw.ids(2100, 2200)), 2))
    made = {}
    for max_len, d_model in sizes:
        off = 0.00018 * (draw.flags(max_len, d_model, chance=0.5).double() - 0.5)
        right = (_waves(_angles(max_len, d_model)) + off).float()
        made[f"right table of {max_len} positions and {d_model} columns"] = right
    wrong = right.clone()
    wrong[-1, -1] += 0.3 if wrong[-1, -1] < 0 else -0.3
    return made | {"table with a wrong last number": wrong}


def _worse_and_worse(draw: Draw) -> Inputs:
    """Long tables that are right at first, and one with an infinite number."""
    max_len, d_model = int(draw.ids(150, 200)), 2 * int(draw.ids(3, 6))
    angles = _angles(max_len, d_model)
    leap = angles + 0.1 * (torch.arange(max_len) > 11).unsqueeze(1)
    late = angles + 0.1 * (torch.arange(max_len) > 110).unsqueeze(1)
    endless = _waves(angles)
    endless[int(draw.ids(2, max_len)), int(draw.ids(0, d_model))] = torch.inf
    return {
        "right table": _rounded(_waves(angles)),
        "table that is more and more wrong": _rounded(_waves(angles * 1.0015)),
        "table that is wrong from position 12 on": _rounded(_waves(leap)),
        "table that is wrong from position 111 on": _rounded(_waves(late)),
        "table with an infinite number": _rounded(endless),
    }


EXERCISE = Specification(
    name="positional_encoding/bug_clinic",
    title="A test for sinusoid tables",
    target="assert_sinusoidal",
    precise=False,
    cases=[
        CaseKind(
            name="table_a",
            title="table A",
            inputs=lambda draw: _clinic(draw, _cosine_bug),
            hint="A right table must pass, table A must not.",
        ),
        CaseKind(
            name="table_b",
            title="table B",
            inputs=lambda draw: _clinic(draw, _exponent_bug),
            hint="In table B all pairs are fine as pairs. What is wrong is their "
            "speed.",
        ),
        CaseKind(
            name="swapped",
            title="sine and cosine swapped",
            inputs=lambda draw: _clinic(draw, _swapped_bug),
            hint="Where do the hands start?",
        ),
        CaseKind(
            name="from_one",
            title="positions counted from 1",
            inputs=lambda draw: _clinic(draw, _from_one_bug),
            hint="Where do the hands start?",
        ),
        CaseKind(
            name="one_number",
            title="a single wrong number, too large or too small",
            inputs=_one_number,
            hint="Does your test look at all rows and all columns?",
        ),
        CaseKind(
            name="not_a_number",
            title="a single NaN",
            inputs=lambda draw: _clinic(draw, _nan_bug),
            hint="Every comparison with NaN is false: `nan > 0.01` as well as `nan < "
            "0.01`.",
        ),
        CaseKind(
            name="hardly_wrong",
            title="a single number, off by little more than 0.01, at the edges",
            inputs=_hardly_wrong,
            hint="The text says how far off a number may be, and it says: every number.",
        ),
        CaseKind(
            name="turned_wrong",
            title="hands of the right length that point the wrong way",
            inputs=_turned_wrong,
            hint="Which of your properties knows each hand's direction, in each row?",
        ),
        CaseKind(
            name="worse_and_worse",
            title="tables that are right at first, and one with an infinite number",
            inputs=_worse_and_worse,
            hint="Does your test look at all positions, and at each by itself?",
        ),
        CaseKind(
            name="nearly_right",
            title="right tables of special sizes, off by less than 0.0001",
            inputs=_nearly_right,
            hint="Right to about four decimals is right, for two positions as for two "
            "columns.",
        ),
        CaseKind(
            name="halves",
            title="all sines left, all cosines right",
            inputs=lambda draw: _clinic(draw, _halves_bug),
            hint="Does your test look at single columns?",
            hidden_only=True,
        ),
        CaseKind(
            name="base",
            title="powers of 1000",
            inputs=lambda draw: _clinic(draw, _base_bug, visible=0.6),
            hint="Are the speeds tested, or only that there are some?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="accepts_all",
            says="Your test accepts every table.",
            asks="Is there an `assert` that can fail?",
            ways=[
                Way(source="""
                    def assert_sinusoidal(table):
                        assert table.dim() == 2
                    """),
                Way(name="compares_with_itself", source="""
                    def assert_sinusoidal(table):
                        expected = table
                        assert torch.allclose(table, expected, equal_nan=True)
                    """),
                Way(name="asserts_a_tuple", source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        close = torch.allclose(table, right, atol=1e-3)
                        verdict = (close, 'not the sinusoid table')
                        assert verdict
                    """),
                Way(name="notes_it_down", source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        if not torch.allclose(table, right, atol=1e-3):
                            verdict = 'wrong table'
                    """),
            ],
        ),
        Mutant(
            name="only_size",
            says="Your test asks how large the numbers are, and nothing else.",
            asks="Are all numbers between -1 and 1 a sinusoid table?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    assert not (table.abs() > 1.001).any()
                """)],
        ),
        Mutant(
            name="rejects_all",
            says="Your test rejects every table, right ones as well. Perhaps it asks "
            "for more than four decimals.",
            asks="Two right programs differ in the last digits. How far apart may they "
            "be?",
            ways=[
                Way(source="""
                    def assert_sinusoidal(table):
                        assert (table == 0).all()
                    """),
                Way(name="exact", source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        assert torch.equal(table, right)
                    """),
                Way(name="exact_all", source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        assert (table == right).all()
                    """),
                Way(name="default_tolerance", source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        assert torch.allclose(table, right)
                    """),
            ],
        ),
        Mutant(
            name="inverted",
            says="Your test rejects right tables and accepts wrong ones.",
            asks="An `assert` passes when its condition is true. Is yours true for a "
            "right table?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    close = torch.allclose(table, right, atol=1e-3)
                    assert not close
                """)],
        ),
        Mutant(
            name="returns_bool",
            says="Your test returns its verdict instead of raising `AssertionError`.",
            asks="Who looks at the return value of a test?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    return torch.allclose(table, right, atol=1e-3)
                """)],
        ),
        Mutant(
            name="raises_value_error",
            says="Wrong tables are found, but your test raises another error than "
            "`AssertionError`.",
            asks="Which statement raises `AssertionError` by itself?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    if not torch.allclose(table, right, atol=1e-3):
                        raise ValueError('wrong table')
                """)],
        ),
        Mutant(
            name="first_row_only",
            says="Your test looks at row 0 only.",
            asks="Which of the bugs can be seen at position 0?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    assert torch.allclose(table[0, 0::2], torch.zeros(()), atol=1e-3)
                    assert torch.allclose(table[0, 1::2], torch.ones(()), atol=1e-3)
                """)],
        ),
        Mutant(
            name="circles_only",
            says="Your test asks that sine and cosine of each pair fit together, and "
            "nothing about how far a hand has turned.",
            asks="Which of the bugs leave every hand at length 1?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                    assert torch.allclose(length, torch.ones(()), atol=1e-3)
                """)],
        ),
        Mutant(
            name="circles_by_sum",
            says="Your test only asks that each row has the right length as a whole.",
            asks="Could a bug in one pair hide in the length of the row?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    wanted = torch.tensor((table.shape[1] / 2) ** 0.5)
                    assert torch.allclose(table.norm(dim=1), wanted, atol=1e-3)
                """)],
        ),
        Mutant(
            name="circles_and_first_row",
            says="Your test asks for hands of length 1 that start in the right place. "
            "It does not ask how fast they turn.",
            asks="Which bugs change nothing but speeds?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                    assert torch.allclose(length, torch.ones(()), atol=1e-3)
                    assert torch.allclose(table[0, 0::2], torch.zeros(()), atol=1e-3)
                """)],
        ),
        Mutant(
            name="first_pair_only",
            says="Your test looks at the first two columns only.",
            asks="In which columns does table B go wrong?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, :2], right[:, :2], atol=1e-3)
                """)],
        ),
        Mutant(
            name="sines_only",
            says="Your test looks at the sines only.",
            asks="In which columns does table A go wrong?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, 0::2], right[:, 0::2], atol=1e-3)
                """)],
        ),
        Mutant(
            name="cosines_only",
            says="Your test looks at the cosines only.",
            asks="What if only a sine is wrong?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, 1::2], right[:, 1::2], atol=1e-3)
                """)],
        ),
        Mutant(
            name="some_rows_only",
            says="Your test looks at the first rows only.",
            asks="What if the table goes wrong in another row?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:2], right[:2], atol=1e-3)
                """)],
        ),
        Mutant(
            name="last_row_only",
            says="Your test looks at the last row only.",
            asks="What if the table goes wrong in another row?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[-1], right[-1], atol=1e-3)
                """)],
        ),
        Mutant(
            name="average_difference",
            says="Your test asks that the numbers are right on average, so a single "
            "wrong one can hide.",
            asks="Which is safer: the average difference, or the largest?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert (table - right).abs().mean() < 0.01
                """)],
        ),
        Mutant(
            name="signed_difference",
            says="Your test only sees numbers that are too large: differences keep "
            "their sign.",
            asks="Is a difference of -1 smaller than the tolerance?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert ((table - right) < 0.005).all()
                """)],
        ),
        Mutant(
            name="sums_compared",
            says="Your test compares sums, in which differences can cancel.",
            asks="Could two tables have the same sum and still differ?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert (table - right).sum().abs() < 0.01
                """)],
        ),
        Mutant(
            name="any_for_all",
            says="Your test is content if *some* number is right.",
            asks="Is it `any` or `all`?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert ((table - right).abs() < 1e-3).any()
                """)],
        ),
        Mutant(
            name="nan_slips_through",
            says="A NaN slips through: your test looks for numbers that are far off, "
            "and no comparison with NaN is ever true.",
            asks='What if you ask for "all are close" instead of "none is far"?',
            ways=[
                Way(source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        assert not ((table - right).abs() > 1e-3).any()
                    """),
                Way(name="nan_by_if", source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        if ((table - right).abs() > 1e-3).any():
                            raise AssertionError('wrong table')
                    """),
                Way(name="equal_nan", source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        table = table.nan_to_num(nan=0.0).where(~table.isnan(), right)
                        assert torch.allclose(table, right, atol=1e-3)
                    """),
            ],
        ),
        Mutant(
            name="too_generous",
            says="Your tolerance is so large that wrong numbers pass.",
            asks="Could a number be off by as much as your tolerance and still be "
            "right?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert ((table - right).abs() < 0.5).all()
                """)],
        ),
        Mutant(
            name="bug_a_copied",
            says="Your test has bug A itself: it accepts table A and rejects right "
            "ones.",
            asks="In the formula, which exponent stands under the cosine?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    exponents = torch.arange(d_model) / d_model
                    angles = torch.arange(max_len)[:, None] / 10000**exponents
                    right = angles.sin()
                    right[:, 1::2] = angles[:, 1::2].cos()
                    assert torch.allclose(table, right, atol=1e-3)
                """)],
        ),
        Mutant(
            name="bug_b_copied",
            says="Your test has bug B itself: it accepts table B and rejects right "
            "ones.",
            asks="Is the 2 of `2i` in your exponent twice?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    exponents = 2 * torch.arange(0, d_model, 2) / d_model
                    angles = torch.arange(max_len)[:, None] / 10000**exponents
                    right = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
                    assert torch.allclose(table, right, atol=1e-3)
                """)],
        ),
        Mutant(
            name="swap_copied",
            says="Your test has sine and cosine swapped itself.",
            asks="Which function does the formula give to column 0?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    right = right.view(max_len, -1, 2).flip(-1).flatten(1)
                    assert torch.allclose(table, right, atol=1e-3)
                """)],
        ),
        Mutant(
            name="one_size_only",
            says="Your test works for one size of table only.",
            asks="Which two numbers can you read off the table's shape?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    right = sinusoid(torch.arange(50), 64)
                    assert torch.allclose(table, right, atol=1e-3)
                """)],
        ),
        Mutant(
            name="first_column_left_out",
            says="Your test does not look at the first pair of columns.",
            asks="From which column does your slice or your loop start?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, 2:], right[:, 2:], atol=1e-3)
                """)],
        ),
        Mutant(
            name="last_row_left_out",
            says="Your test does not look at the last position.",
            asks="Where does `range(n - 1)` end?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:-1], right[:-1], atol=1e-3)
                """)],
        ),
        Mutant(
            name="last_column_left_out",
            says="Your test does not look at the last column.",
            asks="Where does `range(d_model - 1)` end?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, :-1], right[:, :-1], atol=1e-3)
                """)],
        ),
        Mutant(
            name="a_few_positions",
            says="Your test looks at the first ten positions. Those after them may be "
            "anything.",
            asks="How long may a table be?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:10], right[:10], atol=1e-3)
                """)],
        ),
        Mutant(
            name="too_loose",
            says="Your limit is too loose: numbers that are off by more than 0.01 pass.",
            asks="Which two limits does the text give, and where is yours?",
            ways=[
                Way(source="""
                    def assert_sinusoidal(table):
                        max_len, d_model = table.shape
                        right = sinusoid(torch.arange(max_len), d_model)
                        assert torch.allclose(table, right, rtol=0, atol=0.05)
                    """),
            ],
        ),
        Mutant(
            name="circles_and_two_rows",
            says="Your test looks at the first two rows, and at the lengths of the hands. "
            "Later rows may point anywhere.",
            asks="How does row 5 follow from row 4?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(2), d_model)
                    assert torch.allclose(table[:2], right, atol=1e-3)
                    norms = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                    assert torch.allclose(norms, torch.ones_like(norms), atol=1e-3)
                """)],
        ),
        Mutant(
            name="sines_and_circles",
            says="Your test knows the sines and the lengths of the hands. A cosine may "
            "still have the wrong sign.",
            asks="Which two hands have the same sine?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, 0::2], right[:, 0::2], atol=1e-3)
                    norms = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                    assert torch.allclose(norms, torch.ones_like(norms), atol=1e-3)
                """)],
        ),
        Mutant(
            name="products_compared",
            says="Your test compares products of rows. Hands that all turn backward, or "
            "that have changed places, have the same ones.",
            asks="What does a product of two rows not know?",
            ways=[Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table @ table.T, right @ right.T, atol=1e-3)
                    assert torch.allclose(table[0], right[0], atol=1e-3)
                """)],
        ),
    ],
    accepted=[
        Accepted(name="compare", source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                right = sinusoid(torch.arange(max_len), d_model)
                assert torch.allclose(table, right, rtol=0, atol=1e-3), 'not a sinusoid'
            """),
        Accepted(name="largest_difference", source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                right = sinusoid(torch.arange(max_len), d_model)
                assert (table - right).abs().max() < 2e-3
            """),
        Accepted(name="raises_itself", source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                right = sinusoid(torch.arange(max_len), d_model)
                if not ((table - right).abs() < 1e-3).all():
                    raise AssertionError('not the sinusoid table')
            """),
        Accepted(name="torch_testing", source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                right = sinusoid(torch.arange(max_len), d_model)
                torch.testing.assert_close(table, right, rtol=0, atol=1e-3)
            """),
        Accepted(name="numpy_testing", source="""
            import numpy as np
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                angles = np.arange(max_len)[:, None] / 10000 ** (
                    np.arange(0, d_model, 2) / d_model)
                np.testing.assert_allclose(table[:, 0::2], np.sin(angles), atol=1e-3)
                np.testing.assert_allclose(table[:, 1::2], np.cos(angles), atol=1e-3)
            """),
        Accepted(name="number_by_number", source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                for pos in range(max_len):
                    for j in range(d_model):
                        angle = pos / 10000 ** ((j - j % 2) / d_model)
                        wanted = math.cos(angle) if j % 2 else math.sin(angle)
                        assert abs(table[pos, j].item() - wanted) < 1e-3, (pos, j)
            """),
        Accepted(name="properties", source="""
            def assert_sinusoidal(table):
                sin, cos = table[:, 0::2].double(), table[:, 1::2].double()
                d_model = table.shape[1]
                assert ((sin**2 + cos**2 - 1).abs() < 1e-3).all()
                assert (sin[0].abs() < 1e-3).all() and (cos[0] > 0).all()
                speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
                turned_sin = sin[:-1] * speeds.cos() + cos[:-1] * speeds.sin()
                turned_cos = cos[:-1] * speeds.cos() - sin[:-1] * speeds.sin()
                assert ((turned_sin - sin[1:]).abs() < 1e-3).all()
                assert ((turned_cos - cos[1:]).abs() < 1e-3).all()
            """),
        Accepted(name="by_rotation", source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                row = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
                for found in table:
                    assert torch.allclose(found, row, atol=1e-3)
                    row = shift_matrix(1, d_model).to(row) @ row
            """),
    ],
)
