"""Mistakes in the shapes of positions and result."""

from __future__ import annotations

from autograder.bank.positional_encoding._sinusoid.lines import ANGLES
from autograder.oracle.specification import Edit, Mutant, Way

SHAPES = [
    Mutant(
        name="one_dimension_only",
        says="It works for a single row of positions, not for other shapes.",
        asks="Which function in your code insists on one dimension? Could "
        "broadcasting do its work?",
        ways=[Way(edits=[
            Edit(ANGLES,
                 "angles = torch.outer(positions.to(exponents), 10000**-exponents)"),
        ])],
    ),
    Mutant(
        name="one_dimension_by_einsum",
        says="It works for a single row of positions, not for other shapes: your "
        "`einsum` names exactly one dimension of the positions.",
        asks='How does `einsum` write "any dimensions before this one"?',
        ways=[Way(edits=[
            Edit(ANGLES,
                 "angles = torch.einsum('i,j->ij', positions.to(exponents), 10000**-exponents)"),
        ])],
    ),
    Mutant(
        name="flattened",
        says="All positions came out as one long row.",
        asks="Where does the shape of `positions` come back?",
        ways=[Way(edits=[
            Edit("positions.unsqueeze(-1)", "positions.reshape(-1, 1)"),
        ])],
    ),
    Mutant(
        name="row_of_positions",
        says="The new dimension is in front of the positions, so they meet the "
        "speeds in the wrong place.",
        asks="Which shape has `positions.unsqueeze(0)`, and which one do you need?",
        ways=[Way(edits=[
            Edit("positions.unsqueeze(-1)", "positions.unsqueeze(0)"),
        ])],
    ),
    Mutant(
        name="no_new_dimension",
        says="Positions and speeds meet one by one, without a new dimension.",
        asks="Which shape makes every position meet every speed?",
        ways=[Way(edits=[Edit("positions.unsqueeze(-1)", "positions")])],
    ),
    Mutant(
        name="pairs_left_apart",
        says="The pairs were not merged: the result ends in `(d_model/2, 2)`.",
        asks="Which shape does the docstring promise?",
        ways=[Way(edits=[Edit("pairs.flatten(-2)", "pairs")])],
    ),
    Mutant(
        name="batch_dimension",
        says="The result has an extra dimension in front.",
        asks="Which shape does the docstring promise?",
        ways=[Way(edits=[
            Edit("pairs.flatten(-2)", "pairs.flatten(-2).unsqueeze(0)"),
        ])],
    ),
    Mutant(
        name="all_merged",
        says="All dimensions were merged into one.",
        asks="Where should `flatten` begin?",
        ways=[Way(edits=[Edit("pairs.flatten(-2)", "pairs.flatten()")])],
    ),
    Mutant(
        name="columns_first",
        says="Positions and columns are swapped in the result.",
        asks="Which dimension should come last?",
        ways=[Way(edits=[
            Edit("pairs.flatten(-2)", "pairs.flatten(-2).transpose(0, -1)"),
        ])],
    ),
]
