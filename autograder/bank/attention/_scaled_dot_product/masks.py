"""Mistakes in the mask."""

from __future__ import annotations

from autograder.bank.attention._scaled_dot_product.lines import FILL, RESULT, SOFTMAX
from autograder.oracle.specification import Edit, Mutant, Way

MASKS = [
    Mutant(
        name="causal_for_itself",
        says="Where queries and keys are one tensor and there is no mask, later keys "
        "are closed all the same.",
        asks="Who says that the future is closed, if not the mask?",
        ways=[Way(edits=[
            Edit("if mask is not None:",
                 """
                 if mask is None and q is k:
                     scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -math.inf)
                 if mask is not None:
                 """),
        ])],
    ),
    Mutant(
        name="mask_ignored",
        says="Without a mask all is well, but the mask has no effect.",
        asks="Is the result of `masked_fill` used? It leaves its own tensor as it "
        "was.",
        ways=[
            Way(edits=[
                Edit("scores = scores.masked_fill(~mask, -math.inf)",
                     "scores.masked_fill(~mask, -math.inf)"),
            ]),
            Way(name="mask_forgotten", edits=[Edit(FILL, "scores")]),
        ],
    ),
    Mutant(
        name="inverted",
        says="The mask works the wrong way round: you closed what `True` allows.",
        asks="In this course `True` means *may attend*. Which entries must get "
        "minus infinity?",
        ways=[
            Way(edits=[Edit("~mask", "mask")]),
            Way(name="inverted_where", edits=[
                Edit(FILL,
                     "torch.where(mask, torch.tensor(-math.inf).to(scores), scores)"),
            ]),
        ],
    ),
    Mutant(
        name="after_softmax",
        says="You closed entries *after* the softmax. They are zero now, but the "
        "rest no longer sums to one.",
        asks="Who should get the share that the masked keys lost?",
        ways=[Way(edits=[
            Edit("scores = scores.masked_fill(~mask, -math.inf)", "pass"),
            Edit(SOFTMAX,
                 "F.softmax(scores, dim=-1) * (1 if mask is None else mask)"),
        ])],
    ),
    Mutant(
        name="fill_zero",
        says="You filled closed entries with 0. A score of 0 is an ordinary score: "
        "e^0 is 1, not 0.",
        asks="For which score is the exponential zero?",
        ways=[
            Way(edits=[Edit("-math.inf", "0.0")]),
            Way(name="times_mask", edits=[Edit(FILL, "scores * mask")]),
            Way(name="fill_tiny", edits=[Edit("-math.inf", "1e-9")]),
            Way(name="fill_smallest_positive", edits=[
                Edit("-math.inf", "torch.finfo(torch.float32).tiny"),
            ]),
        ],
    ),
    Mutant(
        name="fill_minus_ten",
        says="Closed entries still get a little weight: the number you filled in "
        "is not small enough.",
        asks="What is e^-10, and what should it be?",
        ways=[Way(edits=[Edit("-math.inf", "-10.0")])],
    ),
    Mutant(
        name="fill_minus_one",
        says="Closed entries still get weight: a score of -1 is an ordinary score.",
        asks="For which score is the exponential zero?",
        ways=[Way(edits=[Edit("-math.inf", "-1.0")])],
    ),
    Mutant(
        name="fill_minus_hundred",
        says="You filled in a number that is small among ordinary scores. But "
        "scores may be lower still, and then the closed keys win.",
        asks="Which number is smaller than every score?",
        ways=[Way(edits=[Edit("-math.inf", "-100.0")])],
    ),
    Mutant(
        name="fill_minus_a_million",
        says="You filled in a number that is below all scores but very large ones: "
        "among those, the closed keys win.",
        asks="Which number is smaller than every score that there can be?",
        ways=[Way(edits=[Edit("-math.inf", "-1e6")])],
    ),
    Mutant(
        name="fill_plus_infinity",
        says="You filled in *plus* infinity: the closed keys win everything, and "
        "`inf - inf` is `nan`.",
        asks="Should a closed key have the largest or the smallest score?",
        ways=[Way(edits=[Edit("-math.inf", "math.inf")])],
    ),
    Mutant(
        name="mask_added",
        says="You added the boolean mask to the scores, so `True` counts as 1: "
        "open keys get a small bonus, and nobody is closed.",
        asks="What must be added to a score so that its exponential is zero?",
        ways=[Way(edits=[Edit(FILL, "scores + mask")])],
    ),
    Mutant(
        name="infinity_times_zero",
        says="You multiplied infinity by zero, and that is `nan`.",
        asks="Which function puts a value where a mask says so, without "
        "arithmetic?",
        ways=[
            Way(edits=[Edit(FILL, "scores * mask + (~mask) * -math.inf")]),
            Way(name="infinity_times_mask", edits=[
                Edit(FILL, "scores + (1.0 - mask.to(scores)) * -math.inf"),
            ]),
        ],
    ),
    Mutant(
        name="output_unmasked",
        says="The weights are masked, but the output was mixed with the weights "
        "from before the mask.",
        asks="Which variable does the last product use?",
        ways=[Way(source="""
            def scaled_dot_product_attention(q, k, v, mask=None):
                scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                output = F.softmax(scores, dim=-1) @ v
                if mask is not None:
                    scores = scores.masked_fill(~mask, -math.inf)
                return output, F.softmax(scores, dim=-1)
            """)],
    ),
    Mutant(
        name="weights_unmasked",
        says="The output is masked, but the weights you return are those from "
        "before the mask.",
        asks="Which variable do you return?",
        ways=[Way(source="""
            def scaled_dot_product_attention(q, k, v, mask=None):
                scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                weights = F.softmax(scores, dim=-1)
                if mask is not None:
                    scores = scores.masked_fill(~mask, -math.inf)
                return F.softmax(scores, dim=-1) @ v, weights
            """)],
    ),
    Mutant(
        name="renormalised_badly",
        says="You renormalised the masked weights with a small constant in the "
        "denominator: the rows sum to a little less than one.",
        asks="If you mask *before* the softmax, do you have to renormalise at all?",
        ways=[Way(edits=[
            Edit("scores = scores.masked_fill(~mask, -math.inf)", "pass"),
            Edit(
                "weights = F.softmax(scores, dim=-1)",
                """
                weights = F.softmax(scores, dim=-1) * (1 if mask is None else mask)
                if mask is not None:
                    weights = weights / (weights.sum(-1, keepdim=True) + 0.01)
                """,
            ),
        ])],
    ),
    Mutant(
        name="values_masked",
        says="You zeroed the *values* of closed keys, but these keys still take "
        "their share of the weights.",
        asks="Do the weights of the open keys sum to one?",
        ways=[Way(edits=[
            Edit("scores = scores.masked_fill(~mask, -math.inf)", "pass"),
            Edit(
                RESULT,
                """
                if mask is not None:
                    return (weights * mask) @ v, weights
                return weights @ v, weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="unscaled_with_mask",
        says="With a mask, the scaling is lost: your masked branch starts from "
        "unscaled scores.",
        asks="Which scores go into the branch with the mask?",
        ways=[Way(edits=[
            Edit(FILL, "(q @ k.transpose(-2, -1)).masked_fill(~mask, -math.inf)"),
        ])],
    ),
    Mutant(
        name="first_mask",
        says="All sentences got the mask of the first one.",
        asks="Does an index `[0]` or `[:1]` stand beside the mask?",
        ways=[Way(edits=[
            Edit(FILL,
                 "scores.masked_fill(~(mask[:1] if mask.dim() > 2 else mask), -math.inf)"),
        ])],
    ),
    Mutant(
        name="mask_of_keys_only",
        says="You reduced the mask to one row for all queries, so each query gets "
        "the same closed keys.",
        asks="Which shapes may a mask have besides `(B, 1, Lk)`?",
        ways=[Way(edits=[
            Edit(FILL,
                 "scores.masked_fill(~mask.any(-2, keepdim=True), -math.inf)"),
        ])],
    ),
    Mutant(
        name="first_head",
        says="The mask reaches the first head only.",
        asks="Is an index `[:, 0]` in your code? What does broadcasting do by "
        "itself?",
        ways=[Way(source="""
            def scaled_dot_product_attention(q, k, v, mask=None):
                scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
                if mask is not None:
                    masked = scores.masked_fill(~mask, -math.inf)
                    if scores.dim() == 4:
                        masked = torch.cat([masked[:, :1], scores[:, 1:]], dim=1)
                    scores = masked
                weights = F.softmax(scores, dim=-1)
                return weights @ v, weights
            """)],
    ),
    Mutant(
        name="mask_unsqueezed",
        says="You gave the mask one more dimension. It broadcasts as it is.",
        asks="What shapes do the scores and your mask have at that line?",
        ways=[Way(edits=[Edit("~mask", "~mask.unsqueeze(1)")])],
    ),
    Mutant(
        name="mask_by_sentence",
        says="With as many heads as sentences, a mask for each head is taken for one for "
        "each sentence.",
        asks="How does PyTorch line up three dimensions with four?",
        ways=[Way(edits=[
            Edit("if mask is not None:", """
            if mask is not None:
                if scores.dim() == 4 and mask.dim() == 3 and len(mask) == len(scores):
                    mask = mask.unsqueeze(1)"""),
        ])],
    ),
    Mutant(
        name="truth_of_tensor",
        says="`if mask:` asks a whole tensor whether it is true. The question is "
        "only whether there *is* a mask.",
        asks="How do you ask whether something is not `None`?",
        ways=[Way(edits=[Edit("if mask is not None:", "if mask:")])],
    ),
    Mutant(
        name="mask_required",
        says="With a mask all is well, but without one your code asks `None` for "
        "help.",
        asks="What should happen if `mask` is `None`?",
        ways=[Way(edits=[Edit("if mask is not None:", "if True:")])],
    ),
    Mutant(
        name="always_causal",
        says="You always use a causal mask, whatever the caller asks for.",
        asks="Who decides which mask is used?",
        ways=[Way(edits=[
            Edit(
                "if mask is not None:",
                """
                mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
                if mask is not None:
                """,
            ),
        ])],
    ),
    Mutant(
        name="mask_turned",
        says="The mask is transposed: rows and columns have changed places.",
        asks="The mask has the shape of the scores. Which of its dimensions is "
        "that of the queries?",
        ways=[Way(edits=[Edit("~mask", "~mask.transpose(-2, -1)")])],
    ),
    Mutant(
        name="mask_inverted_in_place",
        says="The results of the first call are right, but the caller's mask was "
        "changed.",
        asks="What is the difference between `~mask` and `mask.logical_not_()`?",
        ways=[Way(edits=[Edit("~mask", "mask.logical_not_()")])],
    ),
]
