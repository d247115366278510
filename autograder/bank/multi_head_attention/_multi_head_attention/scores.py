"""Mistakes in scaling, in the softmax, and in dropout."""

from __future__ import annotations

from autograder.bank.multi_head_attention._multi_head_attention.lines import (
    DROP,
    RETURN,
    SDPA,
)
from autograder.oracle.specification import Edit, Mutant, Way

SCALING = [
    Mutant(
        name="scaled_by_d_model",
        says="The scores are divided by the root of d_model. But what is compared "
        "are vectors of one head.",
        asks="How many products does one score add up?",
        ways=[Way(edits=[
            Edit(SDPA,
                 "_, weights = attention.scaled_dot_product_attention(q * self.num_heads ** -0.5, k, v, mask)"),
        ])],
    ),
    Mutant(
        name="scaled_by_heads",
        says="The scores are divided by the root of the number of heads.",
        asks="How many products does one score add up?",
        ways=[Way(edits=[
            Edit(SDPA,
                 "_, weights = attention.scaled_dot_product_attention(q * (k.size(-1) / self.num_heads) ** 0.5, k, v, mask)"),
        ])],
    ),
    Mutant(
        name="not_scaled",
        says="The scores are not scaled.",
        asks="What happens to the spread of the scores as `d_k` grows?",
        ways=[Way(edits=[
            Edit(SDPA,
                 "_, weights = attention.scaled_dot_product_attention(q * k.size(-1) ** 0.5, k, v, mask)"),
        ])],
    ),
    Mutant(
        name="scaled_twice",
        says="The scores are scaled twice: by you, and once more inside the "
        "function of unit 2.",
        asks="What does `scaled_dot_product_attention` do with its queries "
        "already?",
        ways=[Way(edits=[
            Edit(SDPA,
                 "_, weights = attention.scaled_dot_product_attention(q * k.size(-1) ** -0.5, k, v, mask)"),
        ])],
    ),
    Mutant(
        name="softmax_over_heads",
        says="The softmax runs over the heads.",
        asks="Of what do the shares of one query sum to one: of heads or of keys?",
        ways=[Way(edits=[
            Edit(
                SDPA,
                """
                scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
                scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
                weights = scores.softmax(1).nan_to_num()
                """,
            ),
        ])],
    ),
    Mutant(
        name="softmax_over_queries",
        says="The softmax runs over the queries.",
        asks="For one query, which numbers must sum to one?",
        ways=[Way(edits=[
            Edit(
                SDPA,
                """
                scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
                scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
                weights = scores.softmax(2).nan_to_num()
                """,
            ),
        ])],
    ),
    Mutant(
        name="softmax_twice",
        says="The weights went through a softmax twice.",
        asks="Are what `scaled_dot_product_attention` returns scores or weights?",
        ways=[Way(edits=[
            Edit(DROP, "weights = self.dropout(weights.softmax(-1))"),
        ])],
    ),
]

DROPOUT = [
    Mutant(
        name="dropout_without_mask_only",
        says="Beside a mask, nothing is dropped.",
        asks="What has the mask to do with dropout?",
        ways=[Way(edits=[
            Edit("weights = self.dropout(weights)",
                 "weights = self.dropout(weights) if mask is None else weights"),
        ])],
    ),
    Mutant(
        name="dropout_missing",
        says="There is no dropout on the weights in training.",
        asks="Where in `forward` do you call your dropout layer? Do you use what "
        "it returns?",
        ways=[
            Way(edits=[Edit(DROP, "")]),
            Way(name="dropout_discarded", edits=[
                Edit(DROP, "self.dropout(weights)"),
            ]),
            Way(name="no_dropout_without_a_mask", edits=[
                Edit(DROP, f"if mask is not None:\n            {DROP}"),
            ]),
        ],
    ),
    Mutant(
        name="dropout_always",
        says="Dropout stays on in evaluation: `F.dropout` does not know the mode "
        "of your module.",
        asks="Which argument of `F.dropout` says whether we are training?",
        ways=[Way(edits=[
            Edit(DROP, "weights = nn.functional.dropout(weights, self.dropout.p)"),
        ])],
    ),
    Mutant(
        name="dropout_on_output",
        says="Dropout acts on the output, not on the weights.",
        asks="If the weight of a key is dropped, which features of its value are "
        "missing?",
        ways=[
            Way(edits=[
                Edit(DROP, ""),
                Edit(RETURN,
                     "return self.dropout(self.w_o(merge_heads(weights @ v))), weights"),
            ]),
            Way(name="dropout_on_heads", edits=[
                Edit(DROP, ""),
                Edit(RETURN,
                     "return self.w_o(self.dropout(merge_heads(weights @ v))), weights"),
            ]),
        ],
    ),
    Mutant(
        name="dropout_on_both",
        says="Dropout acts twice: on the weights and on the output.",
        asks="Where in the drawing does the word dropout stand?",
        ways=[Way(edits=[
            Edit(RETURN,
                 "return self.dropout(self.w_o(merge_heads(weights @ v))), weights"),
        ])],
    ),
    Mutant(
        name="dropout_on_values",
        says="Dropout acts on the values, not on the weights.",
        asks="If the weight of a key is dropped for one query, do the others still "
        "see it?",
        ways=[Way(edits=[Edit(DROP, "v = self.dropout(v)")])],
    ),
    Mutant(
        name="dropout_on_queries",
        says="Dropout acts before the softmax, on the queries.",
        asks="After dropout, which weights can be exactly zero?",
        ways=[Way(edits=[
            Edit(DROP, ""),
            Edit(SDPA,
                 "_, weights = attention.scaled_dot_product_attention(self.dropout(q), k, v, mask)"),
        ])],
    ),
    Mutant(
        name="dropout_on_scores",
        says="Dropout acts on the scores, before the softmax. A score of zero is "
        "no weight of zero.",
        asks="What is the share of a key whose score is 0?",
        ways=[Way(edits=[
            Edit(DROP, ""),
            Edit(
                SDPA,
                """
                scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
                scores = self.dropout(scores)
                scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
                weights = scores.softmax(-1)
                """,
            ),
        ])],
    ),
    Mutant(
        name="dropout_rate_fixed",
        says="The probability of dropping is fixed to 0.1.",
        asks="Which number was given when the layer was made?",
        ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")])],
    ),
    Mutant(
        name="dropped_are_kept",
        says="In training, the weights that were to be dropped are kept, and the others "
        "dropped.",
        asks="Of a hundred weights, how many are dropped at a rate of 0.1?",
        ways=[Way(edits=[
            Edit("weights = self.dropout(weights)",
                 "p = self.dropout.p; weights = weights * (torch.rand_like(weights) <= p) / (1 - p) if self.training and p else weights"),
        ])],
    ),
    Mutant(
        name="dropout_rate_of_keeping",
        says="The probability of dropping is `1 - dropout`: dropping and keeping "
        "are mixed up.",
        asks="Does `nn.Dropout(p)` drop or keep with probability `p`?",
        ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")])],
    ),
    Mutant(
        name="dropout_not_rescaled",
        says="Weights are dropped, but those that stay are not made larger in "
        "return.",
        asks="Is the average of many draws equal to the weights of evaluation?",
        ways=[Way(edits=[
            Edit(
                DROP,
                """
                if self.training:
                            weights = weights * (torch.rand_like(weights) >= self.dropout.p)
                """,
            ),
        ])],
    ),
    Mutant(
        name="dropout_of_whole_maps",
        says="Whole heads are dropped at once, not single weights.",
        asks="What is different between `nn.Dropout` and `nn.Dropout2d`?",
        ways=[Way(edits=[Edit("nn.Dropout(dropout)", "nn.Dropout2d(dropout)")])],
    ),
    Mutant(
        name="dropout_alike_for_queries",
        says="A key is dropped for all queries at once; each weight should have "
        "its own fate.",
        asks="How many random decisions are needed for a map of `Lq` times `Lk`?",
        ways=[Way(edits=[
            Edit(DROP,
                 "weights = weights * self.dropout(torch.ones_like(weights[:, :, :1]))"),
        ])],
    ),
    Mutant(
        name="dropout_of_whole_queries",
        says="A query loses all its keys at once, or none; each weight should have "
        "its own fate.",
        asks="How many random decisions are needed for a map of `Lq` times `Lk`?",
        ways=[Way(edits=[
            Edit(DROP,
                 "weights = weights * self.dropout(torch.ones_like(weights[..., :1]))"),
        ])],
    ),
    Mutant(
        name="dropout_alike_for_heads",
        says="The same weights are dropped in all heads; each weight should have "
        "its own fate.",
        asks="How many random decisions are needed for `h` maps?",
        ways=[Way(edits=[
            Edit(DROP,
                 "weights = weights * self.dropout(torch.ones_like(weights[:, :1]))"),
        ])],
    ),
    Mutant(
        name="dropout_alike_for_sentences",
        says="The same weights are dropped in all sentences; each weight should "
        "have its own fate.",
        asks="How many random decisions are needed for a batch of `B` sentences?",
        ways=[Way(edits=[
            Edit(DROP,
                 "weights = weights * self.dropout(torch.ones_like(weights[:1]))"),
        ])],
    ),
    Mutant(
        name="dropout_renormalised",
        says="After dropout the weights are made to sum to one again; a row that "
        "lost all its weights becomes `nan`.",
        asks="Does the demonstration above say that rows sum to one in training?",
        ways=[Way(edits=[
            Edit(
                DROP,
                """
                weights = self.dropout(weights)
                weights = weights / weights.sum(-1, keepdim=True)
                """,
            ),
        ])],
    ),
    Mutant(
        name="same_weights_dropped_every_time",
        says="Training drops the same weights in every call.",
        asks="What is the same in each call: a seed that is set anew, or a mask that is "
        "kept?",
        ways=[Way(edits=[
            Edit(
                DROP,
                """
                torch.manual_seed(0)
                weights = self.dropout(weights)
                """,
            ),
        ])],
    ),
]
