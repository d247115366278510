"""Mistakes in what else the docstring asks: refusals, types, no loop."""

from __future__ import annotations

from autograder.bank.positional_encoding._sinusoid.lines import ANGLES
from autograder.oracle.specification import Edit, Mutant, Way

CONTRACT = [
    Mutant(
        name="odd_accepted",
        says="The numbers are right, but an odd `d_model` is not refused as the "
        "docstring says.",
        asks="What does your function do for `d_model = 7`?",
        ways=[
            Way(edits=[Edit("if d_model % 2:", "if False:")]),
            Way(name="one_accepted", edits=[
                Edit("if d_model % 2:", "if d_model % 2 and d_model > 1:"),
            ]),
            Way(name="odd_printed", edits=[Edit("raise ValueError(", "str(")]),
        ],
    ),
    Mutant(
        name="odd_crashes",
        says="The numbers are right. But an odd `d_model` ends in another error than "
        "the docstring says.",
        asks="Could your function look at `d_model` before it does anything else?",
        ways=[Way(source="""
            def sinusoid(positions, d_model):
                speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                table = torch.zeros(*positions.shape, d_model)
                table[..., 0::2] = torch.sin(positions[..., None] * speeds)
                table[..., 1::2] = torch.cos(positions[..., None] * speeds)
                return table
            """)],
    ),
    Mutant(
        name="odd_crashes_in_one_dimension",
        says="It works for a single row of positions only, and an odd `d_model` is "
        "not refused with the error that the docstring says.",
        asks="How many dimensions does `table[:, 0::2]` have, and how many may "
        "`positions` have?",
        ways=[Way(source="""
            def sinusoid(positions, d_model):
                speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                table = torch.zeros(len(positions), d_model)
                table[:, 0::2] = torch.sin(positions[:, None] * speeds)
                table[:, 1::2] = torch.cos(positions[:, None] * speeds)
                return table
            """)],
    ),
    Mutant(
        name="filled_in_one_dimension",
        says="It works for a single row of positions, not for other shapes.",
        asks="How many dimensions does `table[:, 0::2]` have, and how many may "
        "`positions` have?",
        ways=[Way(source="""
            def sinusoid(positions, d_model):
                if d_model % 2:
                    raise ValueError('odd')
                speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                table = torch.zeros(len(positions), d_model)
                table[:, 0::2] = torch.sin(positions[:, None] * speeds)
                table[:, 1::2] = torch.cos(positions[:, None] * speeds)
                return table
            """)],
    ),
    Mutant(
        name="odd_asserted",
        says="An odd `d_model` raises another error than the docstring says.",
        asks="Which error does the docstring name, and which one do you raise?",
        ways=[
            Way(edits=[
                Edit(
                    """
                    if d_model % 2:
                        raise ValueError(
                    """,
                    """
                    if d_model % 2:
                        raise AssertionError(
                    """,
                ),
            ]),
            Way(name="odd_by_assert", source="""
                def sinusoid(positions, d_model):
                    assert d_model % 2 == 0
                    exponents = torch.arange(0, d_model, 2) / d_model
                    angles = positions.unsqueeze(-1) / 10000**exponents
                    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
                """),
        ],
    ),
    Mutant(
        name="even_refused",
        says="You refuse even sizes.",
        asks="What is `8 % 2`, and is it true or false?",
        ways=[Way(edits=[Edit("if d_model % 2:", "if not d_model % 2:")])],
    ),
    Mutant(
        name="double",
        says="The numbers are right, but in float64. The rest of the network is "
        "float32.",
        asks="Which tensor in your code is float64?",
        ways=[Way(edits=[Edit("pairs.flatten(-2)", "pairs.flatten(-2).double()")])],
    ),
    Mutant(
        name="dtype_of_positions",
        says="The result has the dtype of the positions: whole numbers, where "
        "positions are whole.",
        asks="Which dtype has `torch.empty_like(positions)`, or "
        "`.to(positions.dtype)`?",
        ways=[Way(edits=[
            Edit("pairs.flatten(-2)", "pairs.flatten(-2).to(positions.dtype)"),
        ])],
    ),
    Mutant(
        name="positions_changed",
        says="The tensor of positions that was handed in is changed.",
        asks="Which of your operations works in place?",
        ways=[Way(edits=[
            Edit(
                ANGLES,
                """
                angles = positions.unsqueeze(-1) / 10000**exponents
                positions += 1
                """,
            ),
        ])],
    ),
    Mutant(
        name="loops",
        says="There is a loop: your code takes more steps for more positions.",
        asks="Which dimension could hold all speeds at once, and which all positions?",
        ways=[
            Way(source="""
                def sinusoid(positions, d_model):
                    if d_model % 2:
                        raise ValueError("d_model must be even")
                    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
                    rows = torch.empty(positions.numel(), d_model)
                    for n, position in enumerate(positions.flatten()):
                        rows[n, 0::2] = (position * speeds).sin()
                        rows[n, 1::2] = (position * speeds).cos()
                    return rows.reshape(*positions.shape, d_model)
                """),
        ],
    ),
]
