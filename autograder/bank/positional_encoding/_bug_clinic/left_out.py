"""Tests that leave out a size, an edge or a direction."""

from __future__ import annotations

from autograder.oracle.specification import Mutant, Way

LEFT_OUT = [
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
        name="steps_only",
        says="Your test compares each row with the row before it. An error that is too "
        "small to see in one step adds up over a long table.",
        asks="If your test lets each step be off by a little, how far off may row 150 be?",
        ways=[
            Way(source="""
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
            Way(name="steps_by_matrix", source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    start = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
                    assert torch.allclose(table[0], start, atol=1e-3)
                    stepped = table[:-1] @ shift_matrix(1, d_model).to(table).T
                    assert torch.allclose(stepped, table[1:], rtol=0, atol=2e-3)
                """),
            Way(name="fine_steps", source="""
                def assert_sinusoidal(table):
                    max_len, d_model = table.shape
                    start = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
                    assert torch.allclose(table[0], start, atol=1e-3)
                    stepped = table[:-1] @ shift_matrix(1, d_model).to(table).T
                    assert torch.allclose(stepped, table[1:], rtol=0, atol=3e-4)
                """),
        ],
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
