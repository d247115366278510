"""Mistakes in what is changed, what is run, and what is left behind."""

from __future__ import annotations

from autograder.bank.attention._who_sees_whom import MOVED
from autograder.oracle.specification import Edit, Mutant, Way

RUNS = [
    Mutant(
        name="x_left_changed",
        says="The matrix is right, but `x` comes back changed.",
        asks="Did you restore *exactly* what you changed? A copy is safer.",
        ways=[Way(edits=[
            Edit("changed = x.clone()", "changed = x"),
            Edit(
                "return torch.stack",
                """
                x[0] += 1.0
                return torch.stack
                """,
            ),
            Edit(
                "columns.append(((layer(changed) - before).abs() > 1e-6).any(dim=-1))",
                """
                moved = ((layer(changed) - before).abs() > 1e-6).any(dim=-1)
                columns.append(moved)
                changed[j] -= 1.0
                """,
            ),
        ])],
    ),
    Mutant(
        name="no_limit",
        says="What is below the limit counts: you take every movement, however "
        "small, or you change a position by far more than 1.",
        asks="Which limit does the text give, and how much does it say to change?",
        ways=[
            Way(edits=[Edit("> 1e-6", "> 0")]),
            Way(name="exactly_equal", edits=[
                Edit(MOVED, "(layer(changed) != before).any(-1)"),
            ]),
        ],
    ),
    Mutant(
        name="by_gradient",
        says="You ask for the gradient. Where an output moves in steps that is zero, "
        "and the output moves all the same.",
        asks="What does the text say to change, and what to run again?",
        ways=[Way(source="""
            def who_sees_whom(layer, x):
                jacobian = torch.autograd.functional.jacobian(layer, x)
                return (jacobian.abs() > 1e-6).any(dim=3).any(dim=1)
            """)],
    ),
    Mutant(
        name="mean_of_features",
        says="You compare the mean over the features with the limit. One feature that "
        "moves among many that rest is overlooked.",
        asks="In how many features must an output move?",
        ways=[Way(edits=[
            Edit(MOVED, "((layer(changed) - before).abs().mean(-1) > 1e-6)"),
        ])],
    ),
    Mutant(
        name="squeezed",
        says="For a single position, your matrix has lost its dimensions.",
        asks="Which shape does the docstring promise for L = 1?",
        ways=[Way(edits=[
            Edit("torch.stack(columns, dim=1)",
                 "torch.stack(columns, dim=1).squeeze()"),
        ])],
    ),
    Mutant(
        name="on_x_itself",
        says="You change `x` itself and take the change back. While the layer runs, "
        "the caller's `x` is another one.",
        asks="Where is the copy that the text asks for?",
        ways=[Way(source="""
            def who_sees_whom(layer, x):
                before, columns = layer(x), []
                for j in range(len(x)):
                    x[j] += 1
                    columns.append(((layer(x) - before).abs() > 1e-6).any(dim=-1))
                    x[j] -= 1
                return torch.stack(columns, dim=1)
            """),
            Way(name="on_the_data_of_x", source="""
            def who_sees_whom(layer, x):
                before, columns = layer(x), []
                for j in range(len(x)):
                    x.data[j] += 1
                    columns.append(((layer(x) - before).abs() > 1e-6).any(dim=-1))
                    x.data[j] -= 1
                return torch.stack(columns, dim=1)
            """)],
    ),
]
