"""Tests of tables that let a wrong one pass, or refuse a right one."""

from __future__ import annotations

from autograder.oracle.specification import Mutant, Way

MUTANTS = [
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
        name="first_columns_only",
        says="Your test looks at the first columns only. Tables may be wider.",
        asks="What if the table goes wrong in a column further right?",
        ways=[
            Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, :16], right[:, :16], atol=1e-3)
                """),
            Way(name="first_eight_columns", source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table[:, :8], right[:, :8], atol=1e-3)
                """),
        ],
    ),
    Mutant(
        name="relative_tolerance",
        says="Your tolerance grows with the number: near 1 and -1, numbers that are off "
        "by more than 0.01 pass.",
        asks="What do `rtol` and `atol` of `allclose` mean, and what is the default of "
        "the one that you left out?",
        ways=[
            Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert torch.allclose(table, right, rtol=1e-2, atol=5e-3)
                """),
            Way(name="relative_by_hand", source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    right = sinusoid(torch.arange(max_len), d_model)
                    assert ((table - right).abs() <= 0.005 + 0.01 * right.abs()).all()
                """),
        ],
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
]
