"""Tests that accept or reject everything, or do not say it as asked."""

from __future__ import annotations

from autograder.oracle.specification import Mutant, Way

VERDICTS = [
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
        name="table_changed",
        says="Your test is right, but it changes the table that it is given: whoever goes "
        "on with it has another one.",
        asks="What is the difference between `table - right` and `table.sub_(right)`?",
        ways=[
            Way(source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    gap = table.sub_(sinusoid(torch.arange(max_len), d_model)).abs()
                    assert (gap < 1e-3).all()
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
]
