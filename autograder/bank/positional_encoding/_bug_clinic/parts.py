"""Tests that look at some rows, columns or sums of a table only."""

from __future__ import annotations

from autograder.oracle.specification import Mutant, Way

PARTS = [
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
]
