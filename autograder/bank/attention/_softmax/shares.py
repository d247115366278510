"""Mistakes in the powers and in their shares."""

from __future__ import annotations

from autograder.bank.attention._softmax.lines import POWERS, SUM
from autograder.oracle.specification import Edit, Mutant, Way

SHARES = [
    Mutant(
        name="no_exponential",
        says="There is no exponential: you shifted the numbers and divided by "
        "their sum.",
        asks="Are your shares all positive?",
        ways=[Way(edits=[Edit(POWERS, "(x - x.amax(dim=-1, keepdim=True))")])],
    ),
    Mutant(
        name="not_divided",
        says="The division is missing: your rows do not sum to one.",
        asks="What turns powers into shares?",
        ways=[Way(edits=[
            Edit("powers / powers.sum(dim=-1, keepdim=True)", "powers"),
        ])],
    ),
    Mutant(
        name="something_added_below",
        says="Something small is added to the sum, so rows do not sum to one.",
        asks="Your largest power is 1. Can the sum of a row ever be zero?",
        ways=[Way(edits=[
            Edit("powers / powers.sum(dim=-1, keepdim=True)",
                 "powers / (powers.sum(dim=-1, keepdim=True) + 1e-8)"),
        ])],
    ),
    Mutant(
        name="base_two",
        says="Your powers have another base than `e`.",
        asks="Which function gives powers of e?",
        ways=[Way(edits=[Edit(".exp()", ".exp2()")])],
    ),
    Mutant(
        name="logarithms",
        says="These are logarithms of the shares, as `log_softmax` gives them.",
        asks="Can a share be negative?",
        ways=[
            Way(edits=[
                Edit("powers / powers.sum(dim=-1, keepdim=True)",
                     "(powers / powers.sum(dim=-1, keepdim=True)).log()"),
            ]),
        ],
    ),
    Mutant(
        name="sigmoids",
        says="You squashed each number for itself (a sigmoid). The numbers do not "
        "compete, and do not sum to one.",
        asks="If all scores are large, what should happen to the shares?",
        ways=[Way(edits=[
            Edit(POWERS, "x.sigmoid()"),
            Edit(" / powers.sum(dim=-1, keepdim=True)", ""),
        ])],
    ),
    Mutant(
        name="twice",
        says="Your shares are much too even: softmax was applied twice.",
        asks="What does softmax make of numbers that all lie between 0 and 1?",
        ways=[Way(edits=[
            Edit("powers / powers.sum(dim=-1, keepdim=True)",
                 "(powers / powers.sum(dim=-1, keepdim=True)).softmax(-1)"),
        ])],
    ),
    Mutant(
        name="padded_sum",
        says="A constant in the denominator makes your rows sum to less than one.",
        asks="After the shift, how large is the sum at least? Can it still be "
        "zero?",
        ways=[Way(edits=[Edit(SUM, "(powers.sum(dim=-1, keepdim=True) + 1.0)")])],
    ),
    Mutant(
        name="small_constant",
        says="A small constant in the denominator makes your rows sum to a little "
        "less than one.",
        asks="After the shift, how large is the sum at least? Can it still be "
        "zero?",
        ways=[Way(edits=[Edit(SUM, "(powers.sum(dim=-1, keepdim=True) + 1e-3)")])],
    ),
    Mutant(
        name="hidden_nan",
        says="You turned `nan` into zero at the end. The alarm is silent now, but "
        "those rows no longer sum to one.",
        asks="Which weights does the largest number of such a row deserve?",
        ways=[Way(edits=[
            Edit(POWERS, "x.exp()"),
            Edit("powers / powers.sum(dim=-1, keepdim=True)",
                 "(powers / powers.sum(dim=-1, keepdim=True)).nan_to_num(0.0)"),
        ])],
    ),
]
