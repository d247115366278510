"""Mistakes in the dimension that is summed up."""

from __future__ import annotations

from autograder.bank.attention._softmax.lines import MAX, SUM
from autograder.oracle.specification import Edit, Mutant, Way

DIMENSIONS = [
    Mutant(
        name="no_keepdim",
        says="A sum or a maximum lost its dimension: `(B, L)` and `(B,)` do not "
        "line up row by row.",
        asks="What shape must they have so that each row meets its own?",
        ways=[
            Way(edits=[Edit(SUM, "powers.sum(dim=-1)")]),
            Way(name="maximum_without_dimension", edits=[
                Edit(MAX, "x.amax(dim=-1)"),
            ]),
        ],
    ),
    Mutant(
        name="max_tuple",
        says="`max` along a dimension gives two things, the numbers and their "
        "places. You used both together.",
        asks="What does `print(x.max(dim=-1))` show?",
        ways=[Way(edits=[Edit(MAX, "x.max(dim=-1, keepdim=True)")])],
    ),
    Mutant(
        name="rows_together",
        says="You divided by the sum of the whole tensor: all numbers together sum "
        "to one, instead of each row.",
        asks="What should the weights of one query sum to?",
        ways=[Way(edits=[Edit(SUM, "powers.sum()")])],
    ),
    Mutant(
        name="columns",
        says="Your *columns* sum to one. The softmax ran over queries, not over "
        "keys.",
        asks="Which dimension is the last one?",
        ways=[Way(edits=[
            Edit(MAX, "x.amax(dim=-2, keepdim=True)"),
            Edit(SUM, "powers.sum(dim=-2, keepdim=True)"),
        ])],
    ),
    Mutant(
        name="first_dimension",
        says="You normalised along the first dimension, so the sentences of a "
        "batch share one cake.",
        asks="May one sentence's weights depend on its neighbour in the batch?",
        ways=[Way(edits=[
            Edit(MAX, "x.amax(dim=0, keepdim=True)"),
            Edit(SUM, "powers.sum(dim=0, keepdim=True)"),
        ])],
    ),
    Mutant(
        name="implicit_dimension",
        says="You normalised along dimension 1. That is the last one for a matrix, "
        "but not for a batch.",
        asks="Which index names the last dimension of any tensor?",
        ways=[Way(edits=[
            Edit(MAX, "x.amax(dim=1, keepdim=True)"),
            Edit(SUM, "powers.sum(dim=1, keepdim=True)"),
        ])],
    ),
]
