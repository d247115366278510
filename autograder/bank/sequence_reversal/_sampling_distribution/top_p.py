"""Mistakes in `top_p`."""

from __future__ import annotations

from autograder.bank.sequence_reversal._sampling_distribution.lines import LAST
from autograder.oracle.specification import Edit, Mutant, Way

_SORTED = (
    "shares, places = scores.softmax(dim=-1).sort(dim=-1, descending=True)"
)

TOP_P = [
    Mutant(
        name="p_ignored",
        says="`top_p` has no effect.",
        asks="How many tokens should stay?",
        ways=[Way(edits=[Edit("if top_p is not None:", "if False:")])],
    ),
    Mutant(
        name="crossing_dropped",
        says="The token with which the sum reaches `top_p` is dropped: what stays "
        "has less than `top_p`.",
        asks="0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
        ways=[Way(edits=[Edit("before >= top_p", "(before + shares) >= top_p")])],
    ),
    Mutant(
        name="crossing_dropped_but_never_all",
        says="The token with which the sum reaches `top_p` is dropped, if it is not "
        "the first: what stays has less than `top_p`.",
        asks="0.5, 0.3, 0.15, 0.05 and `top_p` 0.6: is 0.5 alone enough?",
        ways=[Way(edits=[
            Edit("before >= top_p", "((before + shares) >= top_p) & (before > 0)"),
        ])],
    ),
    Mutant(
        name="one_more_than_needed",
        says="One token more than needed stays: the sum had reached `top_p` "
        "without it.",
        asks="Is your set the smallest one?",
        ways=[Way(edits=[
            Edit("before >= top_p", "(before.roll(1, -1) >= top_p) & (before > 0)"),
        ])],
    ),
    Mutant(
        name="p_as_threshold",
        says="`top_p` is taken as a border for each token's own probability, not "
        "for their sum.",
        asks="Whose probabilities are to sum to `top_p`?",
        ways=[
            Way(edits=[Edit("before >= top_p", "(shares < top_p) & (before > 0)")]),
        ],
    ),
    Mutant(
        name="one_minus_p",
        says="Tokens less probable than 1 - `top_p` are dropped, each by itself.",
        asks="Whose probabilities are to sum to `top_p`?",
        ways=[Way(edits=[
            Edit("before >= top_p", "(shares < 1 - top_p) & (before > 0)"),
        ])],
    ),
    Mutant(
        name="not_brought_back",
        says="What is dropped was found in the sorted row and then cut off in the "
        "unsorted one.",
        asks="Token 0 of the sorted row: which token of the vocabulary is it?",
        ways=[Way(edits=[
            Edit("dropped = dropped.scatter(-1, places, before >= top_p)",
                 "dropped = dropped | (before >= top_p)"),
        ])],
    ),
    Mutant(
        name="gathered_by_places",
        says="What is dropped is brought back with the places of the sort; that needs "
        "their inverse.",
        asks="`gather` reads from places, `scatter` writes to them: which do you "
        "need?",
        ways=[Way(edits=[
            Edit("dropped = dropped.scatter(-1, places, before >= top_p)",
                 "dropped = (before >= top_p).gather(-1, places)"),
        ])],
    ),
    Mutant(
        name="sorted_result",
        says="The probabilities come back sorted: nobody knows any more which "
        "token each belongs to.",
        asks="Whose probability stands in column 0?",
        ways=[Way(edits=[
            Edit(LAST, "return scores.softmax(dim=-1).sort(dim=-1, descending=True).values"),
        ])],
    ),
    Mutant(
        name="least_probable_first",
        says="The row is sorted with the least probable first: the unlikely tokens "
        "stay.",
        asks="At which end does the smallest set of most probable tokens begin?",
        ways=[Way(edits=[
            Edit(_SORTED, "shares, places = scores.softmax(dim=-1).sort(dim=-1)"),
        ])],
    ),
    Mutant(
        name="p_before_temperature",
        says="`top_p` looks at the probabilities before the temperature.",
        asks="In which order come the three dials?",
        ways=[Way(edits=[
            Edit("scores.softmax(dim=-1).sort(", "(scores * temperature).softmax(dim=-1).sort("),
        ])],
    ),
    Mutant(
        name="p_of_all",
        says="`top_p` counts the probability that `top_k` has cut off, too.",
        asks="Which probabilities sum to 1 after `top_k`?",
        ways=[Way(edits=[
            Edit("scores.softmax(dim=-1).sort(", "(logits / temperature).softmax(dim=-1).sort("),
        ])],
    ),
    Mutant(
        name="either_dial",
        says="If `top_k` is given, `top_p` is not looked at.",
        asks="What if both are given?",
        ways=[Way(edits=[
            Edit("if top_p is not None:", "if top_p is not None and top_k is None:"),
        ])],
    ),
    Mutant(
        name="p_zeros_before_softmax",
        says="What `top_p` cuts off gets the logit 0, not the probability 0.",
        asks="What is e to the power of 0?",
        ways=[Way(edits=[
            Edit("scores = scores.masked_fill(dropped, -math.inf)",
                 "scores = scores.masked_fill(dropped, 0.0)"),
        ])],
    ),
    Mutant(
        name="nearly_all_is_the_end",
        says="With a `top_p` of 1, improbable tokens are dropped.",
        asks="Which share of the probability must stay if `top_p` is 1?",
        ways=[Way(edits=[
            Edit("if top_p is not None:", """
            if top_p is not None:
                top_p = min(top_p, 0.999)"""),
        ])],
    ),
    Mutant(
        name="nearly_all_is_all",
        says="A `top_p` of nearly 1 keeps everything.",
        asks="From which `top_p` on may no token be dropped?",
        ways=[Way(edits=[
            Edit("if top_p is not None:", "if top_p is not None and top_p < 0.99:"),
        ])],
    ),
]
