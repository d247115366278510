"""Mistakes that leave out a part of what is given."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

LEFT_OUT = [
    Mutant(
        name="unknown_dropped",
        says="UNK is missing in your rows: a word that the vocabulary lacks is a "
        "token, too.",
        asks="Which tokens did you take out of the rows that you were given?",
        ways=[
            Way(edits=[
                Edit("source = [[*ids, EOS]",
                     "source = [[*(i for i in ids if i != UNK), EOS]"),
                Edit("[BOS, *ids, EOS]",
                     "[BOS, *(i for i in ids if i != UNK), EOS]"),
            ]),
        ],
    ),
    Mutant(
        name="long_ones_cut",
        says="A long row is cut off: what stood behind is lost.",
        asks="Which number in your code is a width that nobody gave you?",
        ways=[
            Way(edits=[
                Edit("source = [[*ids, EOS]", "source = [[*ids[:64], EOS]"),
                Edit("[BOS, *ids, EOS]", "[BOS, *ids[:64], EOS]"),
            ]),
        ],
    ),
    Mutant(
        name="long_targets_cut",
        says="A long target is cut off: what stood behind is lost.",
        asks="Which number in your code is a width that nobody gave you?",
        ways=[
            Way(edits=[
                Edit("[BOS, *ids, EOS]", "[BOS, *ids[:64], EOS]"),
            ]),
        ],
    ),
]
