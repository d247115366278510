"""Mistakes in masks, and in what comes back."""

from __future__ import annotations

from autograder.bank.multi_head_attention._multi_head_attention.lines import (
    DROP,
    MASK,
    RETURN,
    SDPA,
)
from autograder.oracle.specification import Edit, Mutant, Way

MASKS = [
    Mutant(
        name="mask_ignored",
        says="The mask is not used.",
        asks="Which arguments does `scaled_dot_product_attention` take?",
        ways=[Way(edits=[
            Edit(SDPA,
                 "_, weights = attention.scaled_dot_product_attention(q, k, v)"),
        ])],
    ),
    Mutant(
        name="mask_inverted",
        says="The mask works the wrong way round: what may be seen is hidden.",
        asks="What does `True` mean in the masks of this course? And in PyTorch's "
        "layer?",
        ways=[Way(edits=[
            Edit(MASK, "mask = None if mask is None else ~mask_for_heads(mask)"),
        ])],
    ),
    Mutant(
        name="mask_without_heads",
        says="The mask is passed on as it came: one of three dimensions then meets "
        "the heads with its batch.",
        asks="What was Exercise 3.5 for?",
        ways=[
            Way(edits=[Edit(MASK, "")]),
            Way(name="mask_dimension_in_front", edits=[
                Edit(MASK,
                     "mask = mask if mask is None else mask[(None,) * (4 - mask.dim())]"),
            ]),
        ],
    ),
    Mutant(
        name="mask_always_unsqueezed",
        says="Every mask gets a dimension more after its first one. That suits "
        "three dimensions only.",
        asks="What does your code do with a mask `(Lq, Lk)`, and with `(B, h, Lq, "
        "Lk)`?",
        ways=[Way(edits=[
            Edit(MASK, "mask = mask if mask is None else mask.unsqueeze(1)"),
        ])],
    ),
    Mutant(
        name="mask_unsqueezed_unless_flat",
        says="A mask that already has its heads is given a fifth dimension.",
        asks="What does your code do with a mask `(B, h, Lq, Lk)`?",
        ways=[Way(edits=[
            Edit(MASK,
                 "mask = mask if mask is None or mask.dim() == 2 else mask.unsqueeze(1)"),
        ])],
    ),
    Mutant(
        name="zeros_closed",
        says="Without a mask, nobody sees a key whose vector is zero.",
        asks="Who says which positions are padding?",
        ways=[Way(edits=[
            Edit(MASK,
                 "mask = mask_for_heads((key != 0).any(-1)[:, None] if mask is None else mask)"),
        ])],
    ),
    Mutant(
        name="mask_of_first_head",
        says="All heads got the mask of head 0.",
        asks="What if the mask says something else for each head?",
        ways=[Way(edits=[
            Edit(MASK,
                 "mask = mask if mask is None else mask_for_heads(mask)[:, :1]"),
        ])],
    ),
    Mutant(
        name="mask_on_first_head_only",
        says="Only head 0 respects the mask; through the others, forbidden "
        "positions still move the output.",
        asks="For which heads does the mask hold?",
        ways=[Way(edits=[
            Edit(
                MASK,
                """
                if mask is not None:
                            first = torch.arange(self.num_heads)[:, None, None] == 0
                            mask = mask_for_heads(mask) | ~first
                """,
            ),
        ])],
    ),
    Mutant(
        name="mask_of_first_sentence",
        says="All sentences got the mask of the first one.",
        asks="Does an index `0` or `[:1]` stand in your code where it should not?",
        ways=[Way(edits=[
            Edit(MASK,
                 "mask = mask if mask is None else mask_for_heads(mask)[:1]"),
        ])],
    ),
    Mutant(
        name="mask_of_first_query",
        says="All queries got the mask of the first one.",
        asks="Which masks have more than one row?",
        ways=[Way(edits=[
            Edit(MASK,
                 "mask = mask if mask is None else mask_for_heads(mask)[:, :, :1]"),
        ])],
    ),
    Mutant(
        name="mask_after_softmax",
        says="The mask comes after the softmax, so the weights of a query no "
        "longer sum to one.",
        asks="Where must forbidden scores be taken out so that the rest still sums "
        "to one?",
        ways=[Way(edits=[
            Edit(
                SDPA,
                """
                _, weights = attention.scaled_dot_product_attention(q, k, v)
                weights = weights if mask is None else weights * mask
                """,
            ),
        ])],
    ),
    Mutant(
        name="masked_scores_zero",
        says="Forbidden scores are set to 0, which is a score like any other.",
        asks="Which score gives a share of zero after the softmax?",
        ways=[
            Way(edits=[
                Edit(
                    SDPA,
                    """
                    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
                    scores = scores if mask is None else scores.masked_fill(~mask, 0)
                    weights = scores.softmax(-1)
                    """,
                ),
            ]),
            Way(name="masked_scores_tiny", edits=[
                Edit(
                    SDPA,
                    """
                    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
                    scores = scores if mask is None else scores.masked_fill(~mask, 1e-9)
                    weights = scores.softmax(-1)
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="masked_scores_minus_ten",
        says="Forbidden scores are set to a number that is small, but not small "
        "enough.",
        asks="Is the share of a forbidden key exactly zero, even if all scores are "
        "low?",
        ways=[Way(edits=[
            Edit(
                SDPA,
                """
                scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
                scores = scores if mask is None else scores.masked_fill(~mask, -10)
                weights = scores.softmax(-1)
                """,
            ),
        ])],
    ),
    Mutant(
        name="mask_forgotten_for_output",
        says="The weights are masked, but the output was made without the mask.",
        asks="From which weights is your output mixed?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                free, _ = attention.scaled_dot_product_attention(q, k, v)
                return self.w_o(merge_heads(free)), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="mask_changed",
        says="The results are right, but the caller's own mask has changed its "
        "shape.",
        asks="What does the underscore at the end of a method's name mean?",
        ways=[Way(edits=[
            Edit(
                MASK,
                """
                if mask is not None and mask.dim() == 3:
                            mask.unsqueeze_(1)
                """,
            ),
        ])],
    ),
]

RESULTS = [
    Mutant(
        name="weights_averaged",
        says="The weights are averaged over the heads; each head's map is asked "
        "for.",
        asks="What does `(B, h, Lq, Lk)` say about the number of maps?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.w_o(merge_heads(weights @ v)), weights.mean(1)"),
        ])],
    ),
    Mutant(
        name="weights_heads_first",
        says="The weights have shape `(h, B, Lq, Lk)`: the heads stand before the "
        "batch.",
        asks="Which dimension comes first in this course, always?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.w_o(merge_heads(weights @ v)), weights.transpose(0, 1)"),
        ])],
    ),
    Mutant(
        name="weights_folded",
        says="The weights have batch and heads in one dimension.",
        asks="How many dimensions does `(B, h, Lq, Lk)` have?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.w_o(merge_heads(weights @ v)), weights.flatten(0, 1)"),
        ])],
    ),
    Mutant(
        name="scores_returned",
        says="The scores come back in place of the weights.",
        asks="What do the rows of the weights sum to?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.w_o(merge_heads(weights @ v)), q @ k.transpose(-2, -1) / q.size(-1) ** 0.5"),
        ])],
    ),
    Mutant(
        name="unmasked_weights_returned",
        says="The output respects the mask, but the weights that come back do not.",
        asks="Are the weights that you return those that made the output?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                _, free = attention.scaled_dot_product_attention(q, k, v)
                return self.w_o(merge_heads(weights @ v)), free
                """,
            ),
        ])],
    ),
    Mutant(
        name="only_output",
        says="Only the output comes back; the weights are asked for, too.",
        asks="What does the docstring list under Returns?",
        ways=[Way(edits=[
            Edit(RETURN, "return self.w_o(merge_heads(weights @ v))"),
        ])],
    ),
    Mutant(
        name="results_swapped",
        says="Output and weights come back in the wrong order.",
        asks="Which of the two comes first, by the conventions of this course?",
        ways=[Way(edits=[
            Edit(RETURN, "return weights, self.w_o(merge_heads(weights @ v))"),
        ])],
    ),
    Mutant(
        name="no_gradient",
        says="The gradient does not pass through the weights: there is a `detach`, "
        "a `no_grad` or a `.data` on the way.",
        asks="How would training reach `w_q` and `w_k`?",
        ways=[Way(edits=[Edit(DROP, "weights = self.dropout(weights.detach())")])],
    ),
    Mutant(
        name="output_detached",
        says="The output is cut off from the gradient.",
        asks="Would training reach any weight of this layer?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.w_o(merge_heads(weights @ v)).detach(), weights"),
        ])],
    ),
    Mutant(
        name="first_sentence_for_all",
        says="All sentences use the weights of the first one.",
        asks="Does an index `0` or `[:1]` stand in your code where it should not?",
        ways=[Way(edits=[
            Edit(DROP, "weights = self.dropout(weights[:1].expand_as(weights))"),
        ])],
    ),
]
