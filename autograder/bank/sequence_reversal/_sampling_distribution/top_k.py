"""Mistakes in `top_k`, and in how tokens are cut off."""

from __future__ import annotations

from autograder.bank.sequence_reversal._sampling_distribution.lines import (
    DIVIDED,
    LAST,
    LEAST,
)
from autograder.oracle.specification import Edit, Mutant, Way

_CUT = "scores = scores.masked_fill(scores < least, -math.inf)"

TOP_K = [
    Mutant(
        name="k_ignored",
        says="`top_k` has no effect.",
        asks="How many tokens should have a probability above 0?",
        ways=[Way(edits=[Edit("if top_k is not None:", "if False:")])],
    ),
    Mutant(
        name="one_too_few",
        says="One token fewer than `top_k` stays.",
        asks="Does the k-th largest itself stay?",
        ways=[Way(edits=[Edit("scores < least", "scores <= least")])],
    ),
    Mutant(
        name="one_too_many",
        says="One token more than `top_k` stays.",
        asks="How many tokens have a probability above 0 for `top_k = 3`?",
        ways=[Way(edits=[
            Edit("min(top_k, scores.size(-1))", "min(top_k + 1, scores.size(-1))"),
        ])],
    ),
    Mutant(
        name="k_least",
        says="The k *least* probable tokens stay.",
        asks="Which end of the sorted row is the probable one?",
        ways=[Way(edits=[
            Edit(LEAST, "least = scores.topk(min(top_k, scores.size(-1)), dim=-1, largest=False).values[..., -1:]"),
            Edit(_CUT, "scores = scores.masked_fill(scores > least, -math.inf)"),
        ])],
    ),
    Mutant(
        name="k_of_all_rows",
        says="The border of `top_k` is one for the whole batch: it is not looked "
        "for in each row.",
        asks="Which dimension does your `topk` run over?",
        ways=[Way(edits=[
            Edit(LEAST, "least = scores.flatten().topk(min(top_k, scores.size(-1))).values[-1]"),
        ])],
    ),
    Mutant(
        name="k_of_the_first_row",
        says="The border of `top_k` is found in the first row and used for all.",
        asks="Is the k-th largest number the same in each row?",
        ways=[Way(edits=[
            Edit(LEAST, "least = scores.reshape(-1, scores.size(-1))[0].topk(min(top_k, scores.size(-1))).values[-1]"),
        ])],
    ),
    Mutant(
        name="k_must_fit",
        says="It fails if `top_k` is larger than the vocabulary.",
        asks="What should `top_k = 50` mean for 14 tokens?",
        ways=[Way(edits=[Edit("min(top_k, scores.size(-1))", "top_k")])],
    ),
    Mutant(
        name="zeros_before_softmax",
        says="What is cut off gets the logit 0, not the probability 0.",
        asks="What is e to the power of 0?",
        ways=[Way(edits=[
            Edit(_CUT, "scores = scores.masked_fill(scores < least, 0.0)"),
            Edit("scores = scores.masked_fill(dropped, -math.inf)",
                 "scores = scores.masked_fill(dropped, 0.0)"),
        ])],
    ),
    Mutant(
        name="small_for_infinite",
        says="What `top_k` cuts off gets a very small logit; at a low temperature others "
        "are smaller still, and it comes back.",
        asks="Which number is below every other one, also after the division?",
        ways=[Way(edits=[
            Edit(_CUT, "scores = scores.masked_fill(scores < least, -1e4)"),
        ])],
    ),
    Mutant(
        name="p_small_for_infinite",
        says="What `top_p` cuts off gets a very small logit; at a low temperature others "
        "are smaller still, and it comes back.",
        asks="Which number is below every other one, also after the division?",
        ways=[Way(edits=[
            Edit("scores = scores.masked_fill(dropped, -math.inf)",
                 "scores = scores.masked_fill(dropped, -1e4)"),
        ])],
    ),
    Mutant(
        name="k_times_zero",
        says="What `top_k` cuts off is multiplied by 0; a forbidden token, whose logit "
        "is -inf, becomes NaN.",
        asks="What is `0 * -math.inf`?",
        ways=[Way(edits=[
            Edit(_CUT, "scores = scores * (scores >= least) - 1e30 * (scores < least)"),
        ])],
    ),
    Mutant(
        name="k_zeros_before_softmax",
        says="What `top_k` cuts off gets the logit 0, not the probability 0.",
        asks="What is e to the power of 0?",
        ways=[Way(edits=[
            Edit(_CUT, "scores = scores.masked_fill(scores < least, 0.0)"),
        ])],
    ),
    Mutant(
        name="not_scaled_back",
        says="What is left does not sum to 1: it was cut off and not scaled up "
        "again.",
        asks="What do the probabilities of a row sum to in your answer?",
        ways=[Way(edits=[
            Edit(DIVIDED, """
                scores = logits / temperature  # (..., V)
                whole = scores.softmax(dim=-1)
                """),
            Edit(LAST, "return whole.masked_fill(scores == -math.inf, 0.0)"),
        ])],
    ),
    Mutant(
        name="one_is_none",
        says="`top_k = 1` has no effect.",
        asks="What does `top_k > 1` leave out?",
        ways=[Way(edits=[
            Edit("if top_k is not None:", "if top_k is not None and top_k > 1:"),
        ])],
    ),
]
