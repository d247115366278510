"""A test for sinusoid tables."""

from __future__ import annotations

from autograder.bank.positional_encoding._bug_clinic.comparisons import COMPARISONS
from autograder.bank.positional_encoding._bug_clinic.left_out import LEFT_OUT
from autograder.bank.positional_encoding._bug_clinic.parts import PARTS
from autograder.bank.positional_encoding._bug_clinic.tables import (
    base_bug,
    clinic,
    cosine_bug,
    exponent_bug,
    from_one_bug,
    halves_bug,
    hardly_wrong,
    nearly_right,
    not_a_number,
    one_number,
    swapped_bug,
    turned_wrong,
    worse_and_worse,
)
from autograder.bank.positional_encoding._bug_clinic.verdicts import VERDICTS
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Specification,
)

EXERCISE = Specification(
    name="positional_encoding/bug_clinic",
    title="A test for sinusoid tables",
    target="assert_sinusoidal",
    precise=False,
    cases=[
        CaseKind(
            name="table_a",
            title="table A",
            inputs=lambda draw: clinic(draw, cosine_bug),
            hint="A right table must pass, table A must not.",
        ),
        CaseKind(
            name="table_b",
            title="table B",
            inputs=lambda draw: clinic(draw, exponent_bug),
            hint="In table B all pairs are fine as pairs. What is wrong is their "
            "speed.",
        ),
        CaseKind(
            name="swapped",
            title="sine and cosine swapped",
            inputs=lambda draw: clinic(draw, swapped_bug),
            hint="Where do the hands start?",
        ),
        CaseKind(
            name="from_one",
            title="positions counted from 1",
            inputs=lambda draw: clinic(draw, from_one_bug),
            hint="Where do the hands start?",
        ),
        CaseKind(
            name="one_number",
            title="a single wrong number, too large or too small",
            inputs=one_number,
            hint="Does your test look at all rows and all columns?",
        ),
        CaseKind(
            name="not_a_number",
            title="a single NaN",
            inputs=not_a_number,
            hint="Every comparison with NaN is false: `nan > 0.01` as well as `nan < "
            "0.01`.",
        ),
        CaseKind(
            name="hardly_wrong",
            title="a single number, off by little more than 0.01, at the edges",
            inputs=hardly_wrong,
            hint="The text says how far off a number may be, and it says: every number.",
        ),
        CaseKind(
            name="turned_wrong",
            title="hands of the right length that point the wrong way",
            inputs=turned_wrong,
            hint="Which of your properties knows each hand's direction, in each row?",
        ),
        CaseKind(
            name="worse_and_worse",
            title="tables that are right at first, and one with an infinite number",
            inputs=worse_and_worse,
            hint="Does your test look at all positions? What does a small error in each "
            "step come to after 150 steps?",
        ),
        CaseKind(
            name="nearly_right",
            title="right tables of special sizes, off by less than 0.0001",
            inputs=nearly_right,
            hint="Right to about four decimals is right, for two positions as for two "
            "columns.",
        ),
        CaseKind(
            name="halves",
            title="all sines left, all cosines right",
            inputs=lambda draw: clinic(draw, halves_bug),
            hint="Does your test look at single columns?",
            hidden_only=True,
        ),
        CaseKind(
            name="base",
            title="powers of 1000",
            inputs=lambda draw: clinic(draw, base_bug, visible=0.6),
            hint="Are the speeds tested, or only that there are some?",
            hidden_only=True,
        ),
    ],
    mutants=[*VERDICTS, *PARTS, *COMPARISONS, *LEFT_OUT],
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
                max_len, d_model = table.shape
                assert ((sin**2 + cos**2 - 1).abs() < 1e-3).all()
                speeds = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
                turned = torch.arange(max_len).unsqueeze(1) * speeds
                error = torch.atan2(sin, cos) - turned  # up to full turns
                assert (error.sin().abs() < 1e-3).all() and (error.cos() > 0).all()
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
