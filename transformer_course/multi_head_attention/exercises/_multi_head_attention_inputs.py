"""Multi-head attention: inputs."""

from __future__ import annotations

from autograder.authoring.common import common, under_two_names
from autograder.authoring.notation import edit, wrong
from transformer_course.multi_head_attention.exercises._multi_head_attention_heads import (
    DROP,
    RETURN,
    SDPA,
    K,
    Q,
    V,
)

MASK = "mask = mask_for_heads(mask)"
_LAST = "self.w_o = nn.Linear(d_model, d_model)"


def _scores(closed: str) -> str:
    """Code of attention by hand; ``closed`` is the code that replaces masked scores."""
    return f"""
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            scores = {closed}
        weights = scores.softmax(-1)
        """


PROJECTIONS = [
    wrong("no_output_projection",
          "You return the merged heads as they are: `w_o` is never used.",
          "Which step lets the outputs of different heads interact?",
          edit(RETURN, "return merge_heads(weights @ v), weights")),
    wrong("output_projection_twice",
          "`w_o` is applied twice.",
          "How many arrows go through `w_o` in the drawing?",
          edit(RETURN, "return self.w_o(self.w_o(merge_heads(weights @ v))), weights")),
    wrong("projections_of_query_and_key_swapped",
          "`w_q` and `w_k` are swapped.",
          "Which layer produces the queries?",
          edit(Q, "q = split_heads(self.w_k(query), self.num_heads)",
               K, "k = split_heads(self.w_q(key), self.num_heads)")),
    wrong("projections_of_key_and_value_swapped",
          "`w_k` and `w_v` are swapped.",
          "Which layer produces what is compared, and which one what is mixed?",
          edit(K, "k = split_heads(self.w_v(key), self.num_heads)",
               V, "v = split_heads(self.w_k(value), self.num_heads)")),
    wrong("keys_projection_for_values",
          "The values go through `w_k`.",
          "Which of the three layers belongs to which argument?",
          edit(V, "v = split_heads(self.w_k(value), self.num_heads)")),
    wrong("query_projection_for_keys",
          "The keys go through `w_q`.",
          "Which of the three layers belongs to which argument?",
          edit(K, "k = split_heads(self.w_q(key), self.num_heads)")),
    wrong("residual_of_the_same",
          "When the query and the key are the same tensor, it is added to the output.",
          "What does the exercise say about a residual connection?",
          edit(RETURN, """
              output = self.w_o(merge_heads(weights @ v))
              return (output + query if query is key else output), weights
              """)),
    common("mask_in_the_state", on="self.w_o = nn.Linear(d_model, d_model)"),
    under_two_names("self.w_o = nn.Linear(d_model, d_model)",
                    "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v, self.w_o])", tests="contains"),
    wrong("one_projection_for_all",
          "Queries, keys and values all go through `w_q`.",
          "What are the other two layers for?",
          edit(K, "k = split_heads(self.w_q(key), self.num_heads)",
               V, "v = split_heads(self.w_q(value), self.num_heads)")),
    wrong("shared_layer",
          "`w_v` and `w_k` are the same layer.",
          "How many layers does your `__init__` really create?",
          edit("self.w_v = nn.Linear(d_model, d_model)", "self.w_v = self.w_k")),
    wrong("values_not_projected",
          "The values are not projected: `w_v` is never used.",
          "What happens to `value` in the drawing before it is split?",
          edit(V, "v = split_heads(value, self.num_heads)")),
    wrong("layers_without_bias",
          "Your linear layers have no bias.",
          "Which argument of `nn.Linear` did you set?",
          edit("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, d_model, bias=False)",
               "self.w_k = nn.Linear(d_model, d_model)", "self.w_k = nn.Linear(d_model, d_model, bias=False)",
               "self.w_v = nn.Linear(d_model, d_model)", "self.w_v = nn.Linear(d_model, d_model, bias=False)",
               "self.w_o = nn.Linear(d_model, d_model)", "self.w_o = nn.Linear(d_model, d_model, bias=False)"),
          tests="initialisation"),
    wrong("full_size_heads",
          "Each head has the full size `d_model`, but the heads should *share* the features.",
          "How large is one head if all of them together have `d_model` features?",
          edit("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, num_heads * d_model)",
               "self.w_k = nn.Linear(d_model, d_model)", "self.w_k = nn.Linear(d_model, num_heads * d_model)",
               "self.w_v = nn.Linear(d_model, d_model)", "self.w_v = nn.Linear(d_model, num_heads * d_model)")),
    wrong("one_head_sized_layers",
          "The layers produce the features of only one head.",
          "How many features must come out if each of `h` heads gets `d_k` of them?",
          edit("self.w_q = nn.Linear(d_model, d_model)", "self.w_q = nn.Linear(d_model, d_model // num_heads)",
               "self.w_k = nn.Linear(d_model, d_model)", "self.w_k = nn.Linear(d_model, d_model // num_heads)",
               "self.w_v = nn.Linear(d_model, d_model)", "self.w_v = nn.Linear(d_model, d_model // num_heads)")),
    wrong("projections_in_a_list",
          "`w_q` is not registered as a submodule: an ordinary list hides its layers.",
          "Which names does `dict(layer.named_parameters())` show?",
          edit("self.w_o = nn.Linear(d_model, d_model)",
               "self.w_o = [nn.Linear(d_model, d_model)][0]; self.layers = [self.w_q, self.w_k, self.w_v]; del self.w_q, self.w_k, self.w_v")),
]

INPUTS = [
    wrong("self_attention_only",
          "Keys and values are computed from `query`: that is self-attention, whatever the caller passes.",
          "Which argument does each of the three layers read?",
          edit(K, "k = split_heads(self.w_k(query), self.num_heads)",
               V, "v = split_heads(self.w_v(query), self.num_heads)")),
    wrong("values_from_key",
          "The values are computed from `key`; the argument `value` is never used.",
          "Can `key` and `value` be different tensors, and which one does each projection read?",
          edit(V, "v = split_heads(self.w_v(key), self.num_heads)")),
    wrong("keys_from_value",
          "The keys are computed from `value`; the argument `key` is never used.",
          "Which argument is compared with the query?",
          edit(K, "k = split_heads(self.w_k(value), self.num_heads)")),
    wrong("keys_from_query",
          "Queries and keys are mixed up: the keys are computed from `query`, or the two are swapped in the call to "
          "attention.",
          "Which argument does `w_k` read, and which one comes first in the call to attention?",
          edit(K, "k = split_heads(self.w_k(query), self.num_heads)")),
    wrong("residual_added",
          "The query is added to the output. This residual connection comes in unit 4, outside this layer.",
          "What is the last step in the drawing?",
          edit(RETURN, "return query + self.w_o(merge_heads(weights @ v)), weights"), tests="normalisation"),
    wrong("norm_added",
          "The output is normalised. This comes in unit 4, outside this layer.",
          "What is the last step in the drawing?",
          edit(RETURN, """
              out = self.w_o(merge_heads(weights @ v))
              return nn.functional.layer_norm(out, out.shape[-1:]), weights
              """)),
    wrong("residual_and_norm_added",
          "There is a residual connection as well as a normalisation. Both come in unit 4, outside this layer.",
          "What is the last step in the drawing?",
          edit(RETURN, """
              out = query + self.w_o(merge_heads(weights @ v))
              return nn.functional.layer_norm(out, out.shape[-1:]), weights
              """)),
    wrong("activation_added",
          "There is a ReLU before `w_o`, which the definition does not have.",
          "What does the formula at the top of this unit put between Concat and W^O?",
          edit(RETURN, "return self.w_o(merge_heads(weights @ v).relu()), weights")),
]

MASKS = [
    wrong("mask_ignored",
          "The mask is never used.",
          "Which arguments does `scaled_dot_product_attention` take?",
          edit(SDPA, "_, weights = attention.scaled_dot_product_attention(q, k, v)")),
    wrong("mask_inverted",
          "The mask is inverted: allowed positions are masked.",
          "What does `True` mean in the masks of this course? And in PyTorch's layer?",
          edit(MASK, "mask = None if mask is None else ~mask_for_heads(mask)")),
    wrong("mask_without_heads",
          "The mask is passed on as it is, so the batch of a 3-D mask lines up with the heads.",
          "What was Exercise 3.5 for?",
          edit(MASK, ""), tests="section"),
    wrong("mask_always_unsqueezed",
          "Every mask gets one extra dimension, after its first. That suits only 3-D masks.",
          "What does your code do with a mask `(Lq, Lk)`, and with `(B, h, Lq, Lk)`?",
          edit(MASK, "mask = mask if mask is None else mask.unsqueeze(1)")),
    wrong("mask_unsqueezed_unless_flat",
          "A mask that already has its heads gets a fifth dimension.",
          "What does your code do with a mask `(B, h, Lq, Lk)`?",
          edit(MASK, "mask = mask if mask is None or mask.dim() == 2 else mask.unsqueeze(1)")),
    wrong("zeros_closed",
          "If no mask is given, your layer masks keys whose vector is zero.",
          "Where should the layer learn which positions are padding?",
          edit(MASK, "mask = mask_for_heads((key != 0).any(-1)[:, None] if mask is None else mask)")),
    wrong("mask_of_first_head",
          "All heads get the mask of head 0.",
          "What if each head has a different mask?",
          edit(MASK, "mask = mask if mask is None else mask_for_heads(mask)[:, :1]")),
    wrong("mask_on_first_head_only",
          "Only head 0 respects the mask; through the other heads, forbidden positions still affect the output.",
          "To which heads does the mask apply?",
          edit(MASK, """
              if mask is not None:
                          first = torch.arange(self.num_heads)[:, None, None] == 0
                          mask = mask_for_heads(mask) | ~first
              """)),
    wrong("mask_of_first_sentence",
          "All sentences get the mask of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(MASK, "mask = mask if mask is None else mask_for_heads(mask)[:1]")),
    wrong("mask_of_first_query",
          "All queries get the mask of the first one.",
          "Which masks have more than one row?",
          edit(MASK, "mask = mask if mask is None else mask_for_heads(mask)[:, :, :1]")),
    wrong("mask_after_softmax",
          "The mask is applied after the softmax, so the weights of a query no longer sum to one.",
          "When must forbidden keys be removed so that the other weights still sum to one?",
          edit(SDPA, """
              _, weights = attention.scaled_dot_product_attention(q, k, v)
              weights = weights if mask is None else weights * mask
              """)),
    wrong("masked_scores_zero",
          "Forbidden scores are set to 0, which is a score like any other.",
          "Which score gives a weight of zero after the softmax?",
          edit(SDPA, """
              scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
              scores = scores if mask is None else scores.masked_fill(~mask, 0)
              weights = scores.softmax(-1)
              """)),
    wrong("masked_scores_minus_ten",
          "Forbidden scores are set to a number that is low, but not low enough.",
          "Is the weight of a forbidden key exactly zero, even if all scores are low?",
          edit(SDPA, """
              scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
              scores = scores if mask is None else scores.masked_fill(~mask, -10)
              weights = scores.softmax(-1)
              """)),
    wrong("mask_forgotten_for_output",
          "The weights are masked, but the output is computed without the mask.",
          "Which weights does your output use?",
          edit(RETURN, """
              free, _ = attention.scaled_dot_product_attention(q, k, v)
              return self.w_o(merge_heads(free)), weights
              """)),
    wrong("mask_changed",
          "The shape of the caller's own mask has changed.",
          "What does the underscore at the end of a method's name mean?",
          edit(MASK, """
              if mask is not None and mask.dim() == 3:
                          mask.unsqueeze_(1)
              """)),
]

RESULTS = [
    wrong("weights_averaged",
          "The attention weights are averaged over the heads, but each head should have its own map.",
          "What does `(B, h, Lq, Lk)` say about the number of maps?",
          edit(RETURN, "return self.w_o(merge_heads(weights @ v)), weights.mean(1)")),
    wrong("weights_heads_first",
          "In your weights, the head dimension comes before the batch dimension.",
          "Which dimension comes first in this course, always?",
          edit(RETURN, "return self.w_o(merge_heads(weights @ v)), weights.transpose(0, 1)")),
    wrong("weights_folded",
          "Batch and heads are folded into one dimension of the weights.",
          "How many dimensions does `(B, h, Lq, Lk)` have?",
          edit(RETURN, "return self.w_o(merge_heads(weights @ v)), weights.flatten(0, 1)")),
    wrong("scores_returned",
          "You return the scores instead of the weights.",
          "What should the rows of the weights sum to?",
          edit(RETURN, "return self.w_o(merge_heads(weights @ v)), q @ k.transpose(-2, -1) / q.size(-1) ** 0.5")),
    wrong("unmasked_weights_returned",
          "The output respects the mask, but the weights that you return do not.",
          "Are the weights that you return the ones that produced the output?",
          edit(RETURN, """
              _, free = attention.scaled_dot_product_attention(q, k, v)
              return self.w_o(merge_heads(weights @ v)), free
              """)),
    common("only_output", edit(RETURN, "return self.w_o(merge_heads(weights @ v))")),
    common("results_swapped", edit(RETURN, "return weights, self.w_o(merge_heads(weights @ v))")),
    wrong("no_gradient",
          "No gradient flows through the attention weights: there is a `detach`, a `no_grad` or a `.data` on the way.",
          "How would training reach `w_q` and `w_k`?",
          edit(DROP, "weights = self.dropout(weights.detach())")),
    wrong("output_detached",
          "No gradient flows back from the output.",
          "Would training reach any weight of this layer?",
          edit(RETURN, "return self.w_o(merge_heads(weights @ v)).detach(), weights")),
    wrong("first_sentence_for_all",
          "All sentences use the weights of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(DROP, "weights = self.dropout(weights[:1].expand_as(weights))")),
]

STATES = [
    wrong("starts_at_zero",
          "One of your layers starts at zero, so everything before it gets no gradient at first.",
          "How does `nn.Linear` initialise its weights, and why?",
          edit(_LAST, f"{_LAST}; nn.init.zeros_(self.w_o.weight)")),
    wrong("starts_constant",
          "All weights start with the same value.",
          "What could ever make two heads, or two features, different?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = nn.Dropout(dropout)\nfor p in self.parameters():\n    nn.init.constant_(p, 0.1)")),
    wrong("starts_alike",
          "Queries and keys start with the same weights.",
          "At first, how would word A's score for B compare with B's score for A?",
          edit(_LAST, f"{_LAST}; self.w_k.load_state_dict(self.w_q.state_dict())")),
    wrong("closed_by_a_number",
          "Masked keys get a large negative score, but scores can be more negative than that.",
          "Which number is below all others?",
          edit(SDPA, _scores("scores.masked_fill(~mask, -1e4)")),
          edit(SDPA, _scores("scores - 1e4 * (~mask)"), name="closed_by_a_sum")),
    wrong("flat_mask_by_sentence",
          "When there are as many sentences as queries, you read a 2-D mask as `(B, Lk)`, but in our contract it is "
          "`(Lq, Lk)`.",
          "Should the meaning of a mask depend on the number of sentences?",
          edit(MASK, """
              if mask is not None and mask.dim() == 2 and len(mask) == len(query):
                  mask = mask[:, None]
              mask = mask_for_heads(mask)
              """)),
    wrong("dropout_in_place",
          "Dropout writes into the weights that the softmax needs for its gradient, so training stops with an error.",
          "What does `inplace=True` overwrite, and what still needs it?",
          edit(DROP, "weights = nn.functional.dropout(weights, self.dropout.p, self.training, inplace=True)")),
]
