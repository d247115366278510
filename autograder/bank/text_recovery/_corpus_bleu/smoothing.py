"""Mistakes where an order has no match, or no n-gram."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

SMOOTHING = [
    Mutant(
        name="smoothing_missing",
        says='`smooth="exp"` does nothing: one order without a match makes '
        "everything 0.",
        asks="What becomes of the first order without a match?",
        ways=[Way(edits=[
            Edit('if found == 0 and smooth == "none":', "if found == 0:"),
        ])],
    ),
    Mutant(
        name="smoothing_always",
        says='`smooth="none"` smooths as well.',
        asks="What should one order without a match do to the product?",
        ways=[Way(edits=[
            Edit(
                """
                if found == 0 and smooth == "none":
                    return 0.0
                """,
                "",
            ),
        ])],
    ),
    Mutant(
        name="smoothing_constant",
        says="Every order without a match gets the same share; it should be halved "
        "each time.",
        asks="What does the second one become?",
        ways=[Way(edits=[Edit("share /= 2", "share = 1 / 2")])],
    ),
    Mutant(
        name="smoothing_one",
        says="An order without a match counts as one match.",
        asks="What is half of one match?",
        ways=[Way(edits=[Edit("share /= 2", "share = 1.0")])],
    ),
    Mutant(
        name="zeros_skipped",
        says="Orders without a match are left out: silence counts as success.",
        asks="What should a precision of 0 do to a product?",
        ways=[Way(edits=[Edit("share /= 2", "continue")])],
    ),
    Mutant(
        name="effective_always",
        says="Missing orders are always left out, also without `effective_order`.",
        asks="What does the switch decide?",
        ways=[Way(edits=[Edit("if effective_order else 4", "or 1")])],
    ),
    Mutant(
        name="effective_never",
        says="`effective_order` does nothing.",
        asks="Which orders exist in texts of three words?",
        ways=[Way(edits=[
            Edit("orders = sum(total > 0 for total in totals) if effective_order else 4",
                 "orders = 4"),
        ])],
    ),
    Mutant(
        name="fourth_root_always",
        says="With fewer orders the fourth root is still taken.",
        asks="Of how many precisions is it the mean?",
        ways=[Way(edits=[Edit("math.exp(logs / orders)", "math.exp(logs / 4)")])],
    ),
]
