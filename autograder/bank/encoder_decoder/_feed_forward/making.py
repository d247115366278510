"""Mistakes in how the network is made."""

from __future__ import annotations

from autograder.bank.mutants import under_two_names
from autograder.oracle.specification import Edit, Mutant, Way

MAKING = [
    Mutant(
        name="arguments_in_another_order",
        says="Whoever makes your network without names gets an error, or another one: "
        "your arguments stand in another order.",
        asks="In which order do `dropout` and `activation` stand in the first line "
        "that you were given?",
        ways=[Way(edits=[
            Edit(
                """
                dropout: float = 0.0,
                activation: str = "relu",
                """,
                """
                activation: str = "relu",
                dropout: float = 0.0,
                """,
            ),
        ])],
    ),
    Mutant(
        name="dropout_in_place",
        says="In training no gradient can be computed: dropout has written over what "
        "the activation needs for it.",
        asks="What do you ask for with `inplace=True`, and who still needs the old "
        "numbers?",
        ways=[Way(edits=[
            Edit("nn.Dropout(dropout)", "nn.Dropout(dropout, inplace=True)"),
        ])],
    ),
    under_two_names(
        "self.dropout = nn.Dropout(dropout)",
        "self.layers = nn.Sequential(self.linear1, self.dropout, self.linear2)",
    ),
]
