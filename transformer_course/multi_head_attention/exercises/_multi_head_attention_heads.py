"""Multi-head attention: heads."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong

Q = "q = split_heads(self.w_q(query), self.num_heads)"
K = "k = split_heads(self.w_k(key), self.num_heads)"
V = "v = split_heads(self.w_v(value), self.num_heads)"
SDPA = "_, weights = attention.scaled_dot_product_attention(q, k, v, mask)"
DROP = "weights = self.dropout(weights)"
RETURN = "return self.w_o(merge_heads(weights @ v)), weights"
EVEN = "if d_model % num_heads != 0:"

SPLITTING = [
    wrong("split_by_view_only",
          "The heads hold chopped-up positions: the split reshapes straight to `(B, h, L, d_k)` without moving "
          "anything.",
          "What did Exercise 3.2 do after splitting the features into two dimensions?",
          edit(Q, "y, h = self.w_q(query), self.num_heads; q = y.reshape(y.size(0), h, y.size(1), -1)",
               K, "y, h = self.w_k(key), self.num_heads; k = y.reshape(y.size(0), h, y.size(1), -1)",
               V, "y, h = self.w_v(value), self.num_heads; v = y.reshape(y.size(0), h, y.size(1), -1)")),
    wrong("merge_by_view_only",
          "Heads and positions are not swapped back before merging, so positions are mixed.",
          "What does Exercise 3.3 do before it merges two dimensions?",
          edit(RETURN, """
              z = weights @ v
              return self.w_o(z.reshape(z.size(0), z.size(2), -1)), weights
              """)),
    wrong("merge_mixes_batch",
          "Sentences are mixed: the batch is not the first dimension before the merge.",
          "What happens to sentence 0 if you change sentence 1? What should happen?",
          edit(RETURN, """
              z = weights @ v
              return self.w_o(z.permute(2, 0, 1, 3).reshape(z.size(0), z.size(2), -1)), weights
              """)),
    wrong("heads_interleaved",
          "Heads are made of every h-th feature, in split and merge alike. Such a model trains well, but it differs "
          "from PyTorch's layer: our contract is contiguous blocks.",
          "Which features did head 0 get in Exercise 3.2?",
          edit(Q, "y, h = self.w_q(query), self.num_heads; q = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)",
               K, "y, h = self.w_k(key), self.num_heads; k = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)",
               V, "y, h = self.w_v(value), self.num_heads; v = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)",
               RETURN, """
              z = weights @ v
              return self.w_o(z.permute(0, 2, 3, 1).flatten(2)), weights
              """)),
    wrong("only_split_interleaved",
          "The split takes every h-th feature, while the merge joins blocks, so the two do not match.",
          "Does merging undo your splitting? Try it on a small tensor.",
          edit(Q, "y, h = self.w_q(query), self.num_heads; q = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)",
               K, "y, h = self.w_k(key), self.num_heads; k = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)",
               V, "y, h = self.w_v(value), self.num_heads; v = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)")),
    wrong("only_merge_interleaved",
          "The merge interleaves the features, while the split made blocks.",
          "Does merging undo your splitting? Try it on a small tensor.",
          edit(RETURN, """
              z = weights @ v
              return self.w_o(z.permute(0, 2, 3, 1).flatten(2)), weights
              """)),
    wrong("heads_merged_in_reverse",
          "The heads are merged in reverse order.",
          "Which columns of `w_o` belong to head 0?",
          edit(RETURN, """
              z = weights @ v
              return self.w_o(merge_heads(z.flip(1))), weights
              """)),
    wrong("view_of_transposed",
          "The merge is right, but a transposed tensor is not contiguous in memory, and `view` never copies.",
          "Which other function reshapes, and copies only if it must?",
          edit(RETURN, """
              z = weights @ v
              return self.w_o(z.transpose(1, 2).view(z.size(0), z.size(2), -1)), weights
              """)),
    wrong("single_head",
          "The features are not divided among heads: there is only one head, of size `d_model`.",
          "Where in `forward` do you use `self.num_heads`?",
          edit(Q, "y, h = self.w_q(query), self.num_heads; q = split_heads(y, 1)",
               K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, 1)",
               V, "y, h = self.w_v(value), self.num_heads; v = split_heads(y, 1)")),
    wrong("heads_and_size_swapped",
          "There are `d_k` heads of size `h`: the two sizes are swapped.",
          "Which of the two is the number of heads?",
          edit(Q, "y, h = self.w_q(query), self.num_heads; q = split_heads(y, y.size(-1) // h)",
               K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, y.size(-1) // h)",
               V, "y, h = self.w_v(value), self.num_heads; v = split_heads(y, y.size(-1) // h)")),
    wrong("eight_heads_always",
          "The number of heads is fixed at 8, as in the paper.",
          "Which number was passed to `__init__`?",
          edit(Q, "y, h = self.w_q(query), self.num_heads; q = split_heads(y, 8)",
               K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, 8)",
               V, "y, h = self.w_v(value), self.num_heads; v = split_heads(y, 8)")),
    wrong("first_head_everywhere",
          "All heads are copies of head 0.",
          "Which features belong to head 1?",
          edit(Q, "y, h = self.w_q(query), self.num_heads; q = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)",
               K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)",
               V, "y, h = self.w_v(value), self.num_heads; v = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)")),
    wrong("heads_averaged",
          "Every head's block holds the same features, the average of all heads.",
          "What use are several heads if their outputs are averaged at once?",
          edit(RETURN, """
              z = weights @ v
              return self.w_o(merge_heads(z.mean(1, keepdim=True).expand_as(z))), weights
              """)),
    wrong("key_length_from_query",
          "The keys are reshaped with the length of the *query*.",
          "In cross-attention, how many keys are there?",
          edit(K, "k = self.w_k(key).view(query.size(0), query.size(1), self.num_heads, -1).transpose(1, 2)")),
    wrong("value_length_from_query",
          "The values are reshaped with the length of the *query*.",
          "In cross-attention, how many values are there?",
          edit(V, "v = self.w_v(value).view(query.size(0), query.size(1), self.num_heads, -1).transpose(1, 2)")),
]

SCALING = [
    wrong("scaled_by_d_model",
          "The scores are divided by the square root of `d_model`, but the vectors that are compared belong to one "
          "head.",
          "How many products are summed in one score?",
          edit(SDPA, "_, weights = attention.scaled_dot_product_attention(q * self.num_heads ** -0.5, k, v, mask)")),
    wrong("scaled_by_queries",
          "The scores are divided by the square root of the number of queries: that is a length, not a dimension.",
          "Which dimension of `q` holds the features that are multiplied and summed?",
          edit(SDPA, "_, weights = attention.scaled_dot_product_attention("
                     "q * (q.size(-1) / q.size(-2)) ** 0.5, k, v, mask)")),
    wrong("scaled_by_heads",
          "The scores are divided by the square root of the number of heads.",
          "How many products are summed in one score?",
          edit(SDPA,
               "_, weights = attention.scaled_dot_product_attention(q * (k.size(-1) / self.num_heads) ** 0.5, k, v, mask)")),
    wrong("not_scaled",
          "The scores are not scaled.",
          "What happens to the standard deviation of the scores as `d_k` grows?",
          edit(SDPA, "_, weights = attention.scaled_dot_product_attention(q * k.size(-1) ** 0.5, k, v, mask)")),
    wrong("scaled_twice",
          "The scores are divided by `d_k` itself: the square root is missing, or they are scaled twice.",
          "How many times are the scores scaled, and by what?",
          edit(SDPA, "_, weights = attention.scaled_dot_product_attention(q * k.size(-1) ** -0.5, k, v, mask)")),
    wrong("softmax_over_heads",
          "The softmax runs over the heads.",
          "Over what should the weights of one query sum to one: heads or keys?",
          edit(SDPA, """
              scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
              scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
              weights = scores.softmax(1).nan_to_num()
              """)),
    wrong("softmax_over_queries",
          "The softmax runs over the queries.",
          "For one query, which weights must sum to one?",
          edit(SDPA, """
              scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
              scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
              weights = scores.softmax(2).nan_to_num()
              """)),
    wrong("softmax_twice",
          "The weights went through softmax twice.",
          "Does `scaled_dot_product_attention` return scores or weights?",
          edit(DROP, "weights = self.dropout(weights.softmax(-1))")),
]

NUMBER_OF_HEADS = [
    wrong("uneven_accepted",
          "Your layer accepts a number of heads that does not divide `d_model`.",
          "With 10 features, how large would each of 3 heads be, and when should the error be raised: here or in a "
          "later call?",
          edit(EVEN, "if False:"), tests="ValueError"),
    wrong("only_too_many_refused",
          "Your layer rejects only more heads than features, but 3 heads cannot share 10 features either.",
          "Which remainder must the division leave?",
          edit(EVEN, "if num_heads > d_model:"), tests="`ValueError`"),
]

DROPOUT = [
    wrong("dropout_without_mask_only",
          "When there is a mask, nothing is dropped.",
          "What does the mask have to do with dropout?",
          edit("weights = self.dropout(weights)", "weights = self.dropout(weights) if mask is None else weights")),
    wrong("dropout_missing",
          "There is no dropout on the weights in training.",
          "Where in `forward` do you call your dropout layer? Do you use what it returns?",
          edit(DROP, ""),
          edit(DROP, "self.dropout(weights)", name="dropout_discarded"),
          edit(DROP, f"if mask is not None:\n            {DROP}", name="no_dropout_without_a_mask"),
          tests="training"),
    wrong("dropout_always",
          "Dropout stays on in eval mode: `F.dropout` does not know the mode of your module.",
          "Which argument of `F.dropout` says whether you are training?",
          edit(DROP, "weights = nn.functional.dropout(weights, self.dropout.p)")),
    wrong("dropout_on_output",
          "Dropout acts on the output instead of the weights.",
          "If the weight of a key is dropped, which features of its value are missing?",
          edit(DROP, "", RETURN, "return self.dropout(self.w_o(merge_heads(weights @ v))), weights"),
          edit(DROP, "",
               RETURN, "return self.w_o(self.dropout(merge_heads(weights @ v))), weights", name="dropout_on_heads")),
    wrong("dropout_on_both",
          "Dropout acts twice: on the weights and on the output.",
          "Where does dropout appear in the drawing?",
          edit(RETURN, "return self.dropout(self.w_o(merge_heads(weights @ v))), weights")),
    wrong("dropout_on_values",
          "Dropout acts on the values instead of the weights.",
          "If the weight of a key is dropped for one query, do the other queries still attend to it?",
          edit(DROP, "v = self.dropout(v)")),
    wrong("dropout_on_queries",
          "Dropout acts before the softmax, on the queries.",
          "After dropout, which weights can be exactly zero?",
          edit(DROP, "", SDPA, "_, weights = attention.scaled_dot_product_attention(self.dropout(q), k, v, mask)")),
    wrong("dropout_on_scores",
          "Dropout acts on the scores, before the softmax, where a score of 0 is not a weight of 0.",
          "What is e^0?",
          edit(DROP, "",
               SDPA, """
              scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
              scores = self.dropout(scores)
              scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
              weights = scores.softmax(-1)
              """)),
    wrong("dropout_rate_fixed",
          "The dropout probability is fixed at 0.1.",
          "Which number was passed to `__init__`?",
          edit("nn.Dropout(dropout)", "nn.Dropout(0.1)")),
    wrong("dropped_are_kept",
          "In training mode, the weights that should be dropped are kept, and the others are dropped.",
          "Out of a hundred weights, how many should be dropped at a rate of 0.1?",
          edit("weights = self.dropout(weights)",
               "p = self.dropout.p; weights = weights * (torch.rand_like(weights) <= p) / (1 - p) if self.training and p else weights")),
    wrong("dropout_rate_of_keeping",
          "The dropout probability is `1 - dropout`: dropping and keeping are mixed up.",
          "Does `nn.Dropout(p)` drop or keep with probability `p`?",
          edit("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")),
    wrong("dropout_not_rescaled",
          "Weights are dropped, but the remaining ones are not scaled up in return.",
          "Averaged over many calls, are the training weights equal to those of eval mode?",
          edit(DROP, """
              if self.training:
                          weights = weights * (torch.rand_like(weights) >= self.dropout.p)
              """)),
    wrong("dropout_of_whole_maps",
          "Whole heads are dropped at once instead of single weights.",
          "How many random decisions does a map of `Lq` by `Lk` weights need?",
          edit("nn.Dropout(dropout)", "nn.Dropout2d(dropout)")),
    wrong("dropout_alike_for_queries",
          "A key is dropped for all queries at once, but each weight should be dropped independently.",
          "How many random decisions does a map of `Lq` by `Lk` weights need?",
          edit(DROP, "weights = weights * self.dropout(torch.ones_like(weights[:, :, :1]))")),
    wrong("dropout_of_whole_queries",
          "A query loses all its keys at once, or none, but each weight should be dropped independently.",
          "How many random decisions does a map of `Lq` by `Lk` weights need?",
          edit(DROP, "weights = weights * self.dropout(torch.ones_like(weights[..., :1]))")),
    wrong("dropout_alike_for_heads",
          "The same weights are dropped in all heads, but each weight should be dropped independently.",
          "How many random decisions do `h` maps need?",
          edit(DROP, "weights = weights * self.dropout(torch.ones_like(weights[:, :1]))")),
    wrong("dropout_alike_for_sentences",
          "The same weights are dropped in all sentences, but each weight should be dropped independently.",
          "How many random decisions does a batch of `B` sentences need?",
          edit(DROP, "weights = weights * self.dropout(torch.ones_like(weights[:1]))")),
    wrong("dropout_renormalised",
          "After dropout, the weights are rescaled to sum to one again; a row that lost all its weights becomes `nan`.",
          "According to the demonstration above, do rows sum to one in training mode?",
          edit(DROP, """
              weights = self.dropout(weights)
              weights = weights / weights.sum(-1, keepdim=True)
              """)),
    wrong("same_weights_dropped_every_time",
          "Training drops the same weights in every call.",
          "What stays the same from call to call: a seed, or a stored mask?",
          edit(DROP, """
              torch.manual_seed(0)
              weights = self.dropout(weights)
              """)),
]
