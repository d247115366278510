"""Tests that compare wrongly, or with something wrong."""

from __future__ import annotations

from autograder.oracle.specification import Mutant, Way

COMPARISONS = [
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
        name="nan_for_zero",
        says="You put zero for NaN before you compare, and zero is right in some places.",
        asks="What is a number worth that is missing?",
        ways=[Way(source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                right = sinusoid(torch.arange(max_len), d_model)
                assert torch.allclose(table.nan_to_num(), right, atol=1e-3)
            """)],
    ),
    Mutant(
        name="rows_in_any_order",
        says="Your test accepts the right numbers in the wrong rows.",
        asks="What does the row that a number stands in say of it?",
        ways=[Way(source="""
            def assert_sinusoidal(table):
                max_len, d_model = table.shape
                right = sinusoid(torch.arange(max_len), d_model).sort(dim=0).values
                assert torch.allclose(table.sort(dim=0).values, right, atol=1e-3)
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
]
