"""Mistakes in what is subtracted first."""

from __future__ import annotations

from autograder.bank.attention._softmax.lines import MAX, POWERS
from autograder.oracle.specification import Edit, Mutant, Way

MAXIMA = [
    Mutant(
        name="naive",
        says="On paper this is right, but nothing keeps the exponents small: large "
        "numbers overflow, and `inf / inf` is `nan`.",
        asks="Which constant could you subtract from a row so that no exponent is "
        "positive?",
        ways=[
            Way(edits=[Edit(POWERS, "x.exp()")]),
            Way(name="naive_e", edits=[Edit(POWERS, "torch.pow(math.e, x)")]),
        ],
    ),
    Mutant(
        name="added",
        says="You *added* the largest number of the row. That pushes exponents up.",
        asks="With which sign does the largest exponent become zero?",
        ways=[Way(edits=[
            Edit("x - x.amax(dim=-1, keepdim=True)",
                 "x + x.amax(dim=-1, keepdim=True)"),
        ])],
    ),
    Mutant(
        name="one_maximum",
        says="You subtracted the maximum of the whole tensor. A row that lies far "
        "below it underflows to zeros, and `0 / 0` is `nan`.",
        asks="How many numbers must be subtracted from a tensor with three rows?",
        ways=[Way(edits=[Edit(MAX, "x.max()")])],
    ),
    Mutant(
        name="maximum_of_columns",
        says="You took the maximum along another dimension, so a row's own largest "
        "number may remain far from zero.",
        asks="Which dimension do the shares of one query run along?",
        ways=[Way(edits=[Edit(MAX, "x.amax(dim=0, keepdim=True)")])],
    ),
    Mutant(
        name="maximum_of_sequence",
        says="You took the maximum over the rows (dimension -2), not within each "
        "row.",
        asks="Which dimension do the shares of one query run along?",
        ways=[Way(edits=[Edit(MAX, "x.amax(dim=-2, keepdim=True)")])],
    ),
    Mutant(
        name="minimum",
        says="You subtracted too little, the smallest number of the row or its "
        "mean: the largest exponent may still be far above zero.",
        asks="What is the largest exponent after you subtract the minimum, or the "
        "mean, of (0, 0, 0, 900)?",
        ways=[
            Way(edits=[Edit(MAX, "x.amin(dim=-1, keepdim=True)")]),
            Way(name="average", edits=[Edit(MAX, "x.mean(dim=-1, keepdim=True)")]),
        ],
    ),
    Mutant(
        name="absolute_maximum",
        says="You subtracted the largest absolute value. In a row of large "
        "negative numbers that pushes every exponent down, all powers become zero, "
        "and `0 / 0` is `nan`.",
        asks="For the row (-1000, -1001): which constant makes its largest "
        "exponent exactly zero?",
        ways=[Way(edits=[Edit(MAX, "x.abs().amax(dim=-1, keepdim=True)")])],
    ),
    Mutant(
        name="divided_by_maximum",
        says="You divided by the maximum. That keeps exponents small, but it "
        "changes the shares: only *adding* a constant cancels in the fraction.",
        asks="Does softmax of (1, 2) equal softmax of (100, 200)?",
        ways=[Way(edits=[
            Edit("x - x.amax(dim=-1, keepdim=True)",
                 "x / x.amax(dim=-1, keepdim=True)"),
        ])],
    ),
    Mutant(
        name="clamped",
        says="You cut large numbers off. Then numbers beyond the limit all look "
        "equal.",
        asks="Two scores, 100 and 200: may they get the same share?",
        ways=[
            Way(edits=[
                Edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(-80, 80)"),
            ]),
        ],
    ),
    Mutant(
        name="clamped_above",
        says="You cut off what is too large, and nothing else: a row far below zero "
        "still underflows to zeros.",
        asks="What is the sum of a row whose powers are all zero?",
        ways=[Way(edits=[
            Edit("(x - x.amax(dim=-1, keepdim=True))", "x.clamp(max=80)"),
        ])],
    ),
]
