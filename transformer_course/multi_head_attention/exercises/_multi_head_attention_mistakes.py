"""Wrong solutions of the exercise on multi-head attention, which its cases must detect."""

from __future__ import annotations

from itertools import chain

from autograder.authoring.common import common, under_two_names
from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Variant

DROP = "self.dropout(weights)"
ATTENTION = "_, weights = attention.scaled_dot_product_attention(q, k, v, mask)"
_NAMES = ("query", "key", "value")
_Q, _K, _V = (f"split_heads(self.w_{name[0]}({name}), self.num_heads)" for name in _NAMES)
ARGUMENTS = "(q, k, v, mask)"
_MASK = "mask_for_heads(mask)"
MERGED = "merge_heads(weights @ v)"
OUTPUT = f"self.w_o({MERGED})"
_RETURN = f"return {OUTPUT}, weights"
_LAST = "self.w_o = nn.Linear(d_model, d_model)"


def _split_wrongly(heads: str, *pairs: str, name: str = "") -> Variant:
    """Return a variant of the solution that splits queries, keys and values wrongly.

    ``heads`` is code that splits features ``y`` into ``h`` heads. ``pairs`` are
    further edits: a string of the solution, then its replacement, and so on.
    """
    calls = (f"(lambda y, h: {heads})(self.w_{x[0]}({x}), self.num_heads)" for x in _NAMES)
    return edit(*chain(*zip((_Q, _K, _V), calls, strict=True)), *pairs, name=name)


def _replace_layers(layer: str, letters: str = "qkv", name: str = "") -> Variant:
    """Return a variant of the solution whose projections are made by other code.

    ``layer`` is the code that makes ``w_<letter>``, for each of the ``letters``.
    """
    return edit(
        *chain(*((f"self.w_{x} = nn.Linear(d_model, d_model)", f"self.w_{x} = {layer}") for x in letters)), name=name
    )


def write_attention(
    closed: str = 'scores.masked_fill(~mask, float("-inf"))', scores: str = "scores", weights: str = "scores.softmax(-1)"
) -> str:
    """Return code that computes attention weights from ``q``, ``k`` and ``mask``.

    The arguments are code too: for the masked scores, for a change to the scores
    before masking, and for the weights.
    """
    return f"""
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        scores = {scores}
        scores = scores if mask is None else {closed}
        weights = {weights}
        """


_WITHOUT_HEADS = (
    *chain(*((call, f"self.w_{x[0]}({x})") for call, x in zip((_Q, _K, _V), _NAMES, strict=True))),
    _MASK, "mask", MERGED, "weights @ v",
)
_INTERLEAVED = "y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"
_MERGED_INTERLEAVED = "(weights @ v).permute(0, 2, 3, 1).flatten(2)"

_HEADS = [
    wrong("split_by_view_only",
          "The heads hold chopped-up positions: the split reshapes straight to `(B, h, L, d_k)` without moving "
          "anything.",
          "What did Exercise 3.2 do after splitting the features into two dimensions?",
          _split_wrongly("y.reshape(y.size(0), h, y.size(1), -1)")),
    wrong("merge_by_view_only", "Heads and positions are not swapped back before merging, so positions are mixed.",
          "What does Exercise 3.3 do before it merges two dimensions?",
          edit(MERGED, "(weights @ v).reshape(query.shape)")),
    wrong("merge_mixes_batch", "Sentences are mixed: the batch is not the first dimension before the merge.",
          "What happens to sentence 0 if you change sentence 1? What should happen?",
          edit(MERGED, "(weights @ v).permute(2, 0, 1, 3).reshape(query.shape)")),
    wrong("heads_interleaved",
          "Heads are made of every h-th feature, in split and merge alike. Such a model trains well, but it differs "
          "from PyTorch's layer: our contract is contiguous blocks.",
          "Which features did head 0 get in Exercise 3.2?",
          _split_wrongly(_INTERLEAVED, MERGED, _MERGED_INTERLEAVED)),
    wrong("split_and_merge_differ",
          "Of split and merge, one makes blocks of features, while the other takes every h-th feature, so they do not "
          "match.",
          "Does merging undo your splitting? Try it on a small tensor.",
          _split_wrongly(_INTERLEAVED),
          edit(MERGED, _MERGED_INTERLEAVED, name="only_merge_interleaved")),
    wrong("heads_merged_in_reverse", "The heads are merged in reverse order.",
          "Which columns of `w_o` belong to head 0?",
          edit(MERGED, "merge_heads((weights @ v).flip(1))")),
    wrong("view_of_transposed",
          "The merge is right, but a transposed tensor is not contiguous in memory, and `view` never copies.",
          "Which other function reshapes, and copies only if it must?",
          edit(MERGED, "(weights @ v).transpose(1, 2).view(query.shape)")),
    wrong("never_split",
          "The features are never split into heads: a single attention compares all `d_model` of them, and its weights "
          "have no dimension for the heads.",
          "Which function of this unit turns `(B, L, d_model)` into one sequence per head, and where do you call it?",
          edit(*_WITHOUT_HEADS, ARGUMENTS, "(q * self.num_heads ** 0.5, k, v, mask)"),
          edit(*_WITHOUT_HEADS, name="never_split_scaled_by_d_model")),
    wrong("another_number_of_heads", "Your layer does not split into `num_heads` heads.",
          "Which number was passed to `__init__`, and which one goes into each split?",
          _split_wrongly("split_heads(y, 1)"),
          _split_wrongly("split_heads(y, y.size(-1) // h)", name="heads_and_size_swapped"),
          _split_wrongly("split_heads(y, 8)", name="eight_heads_always")),
    wrong("heads_alike", "Every head's block holds the same features: those of head 0, or the average of all heads.",
          "What use are several heads if they all say the same?",
          _split_wrongly("split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
          edit(MERGED, "merge_heads((weights @ v).mean(1, keepdim=True).expand_as(q))", name="heads_averaged")),
    wrong("length_from_query", "Keys or values are reshaped with the length of the *query*.",
          "In cross-attention, how many keys and values are there?",
          edit(_K, "self.w_k(key).view(*query.shape[:2], self.num_heads, -1).transpose(1, 2)"),
          edit(_V, "self.w_v(value).view(*query.shape[:2], self.num_heads, -1).transpose(1, 2)",
               name="value_length_from_query")),
    wrong("uneven_accepted", "Your layer accepts a number of heads that does not divide `d_model`.",
          "With 10 features, how large would each of 3 heads be, and when should the error be raised: here or in a "
          "later call?",
          edit("if d_model % num_heads != 0:", "if False:"),
          edit("if d_model % num_heads != 0:", "if num_heads > d_model:", name="only_too_many_refused"),
          tests="ValueError; `ValueError`"),
]

_SCORES = [
    wrong("not_scaled",
          "The scores are not divided once by the square root of the size of a head: they are not scaled, scaled twice, or "
          "scaled by another number.",
          "How many products are summed in one score, and where is it scaled already?",
          edit(ARGUMENTS, "(q * k.size(-1) ** 0.5, k, v, mask)"),
          edit(ARGUMENTS, "(q * k.size(-1) ** -0.5, k, v, mask)", name="scaled_twice"),
          edit(ARGUMENTS, "(q * self.num_heads ** -0.5, k, v, mask)", name="scaled_by_d_model"),
          edit(ARGUMENTS, "(q * (q.size(-1) / q.size(-2)) ** 0.5, k, v, mask)", name="scaled_by_queries"),
          edit(ARGUMENTS, "(q * (k.size(-1) / self.num_heads) ** 0.5, k, v, mask)", name="scaled_by_heads")),
    wrong("softmax_over_another_dimension", "The softmax runs over the heads or the queries instead of the keys.",
          "For one query of one head, which weights must sum to one?",
          edit(ATTENTION, write_attention(weights="scores.softmax(1).nan_to_num()")),
          edit(ATTENTION, write_attention(weights="scores.softmax(2).nan_to_num()"), name="softmax_over_queries")),
    wrong("softmax_twice", "The weights went through softmax twice.",
          "Does `scaled_dot_product_attention` return scores or weights?",
          edit(DROP, "self.dropout(weights.softmax(-1))")),
]

_LAYERS = [
    wrong("output_projection_not_once", "`w_o` is not applied exactly once: it is never used, or it is applied twice.",
          "How many arrows go through `w_o` in the drawing?",
          edit(OUTPUT, MERGED),
          edit(OUTPUT, f"self.w_o({OUTPUT})", name="output_projection_twice")),
    wrong("projections_mixed_up",
          "`w_q`, `w_k` and `w_v` are mixed up: some argument goes through the layer of another one.",
          "Which of the three layers belongs to which argument?",
          edit("self.w_q(query)", "self.w_k(query)", "self.w_k(key)", "self.w_q(key)"),
          edit("self.w_k(key)", "self.w_v(key)", "self.w_v(value)", "self.w_k(value)", name="key_and_value_swapped"),
          edit("self.w_v(value)", "self.w_k(value)", name="keys_projection_for_values"),
          edit("self.w_k(key)", "self.w_q(key)", name="query_projection_for_keys"),
          edit("self.w_k(key)", "self.w_q(key)", "self.w_v(value)", "self.w_q(value)", name="one_for_all")),
    wrong("values_not_projected", "The values are not projected: `w_v` is never used.",
          "What happens to `value` in the drawing before it is split?",
          edit("self.w_v(value)", "value")),
    wrong("shared_layer", "`w_v` and `w_k` are the same layer.",
          "How many layers does your `__init__` really create?",
          edit("self.w_v = nn.Linear(d_model, d_model)", "self.w_v = self.w_k")),
    wrong("layers_without_bias", "Your linear layers have no bias.",
          "Which argument of `nn.Linear` did you set?",
          _replace_layers("nn.Linear(d_model, d_model, bias=False)", "qkvo"), tests="initialisation"),
    wrong("layers_of_another_size",
          "`w_q`, `w_k` and `w_v` do not produce `d_model` features, which all heads together should *share*.",
          "How large is one head if all of them together have `d_model` features?",
          _replace_layers("nn.Linear(d_model, num_heads * d_model)"),
          _replace_layers("nn.Linear(d_model, d_model // num_heads)", name="one_head_sized_layers")),
    wrong("projections_in_a_list", "`w_q` is not registered as a submodule: an ordinary list hides its layers.",
          "Which names does `dict(layer.named_parameters())` show?",
          edit(_LAST, f"{_LAST}\nself.layers = [self.w_q, self.w_k, self.w_v]\ndel self.w_q, self.w_k, self.w_v")),
    common("mask_in_the_state", on=_LAST),
    under_two_names(_LAST, "self.layers = nn.ModuleList([self.w_q, self.w_k, self.w_v, self.w_o])", tests="contains"),
    wrong("start_not_random", "Not all layers start at random, each with weights of its own.",
          "How does `nn.Linear` initialise its weights, and what could ever make two features or layers different that "
          "start alike?",
          edit(_LAST, f"{_LAST}\nfor p in self.parameters():\n    nn.init.constant_(p, 0.1)"),
          edit(_LAST, f"{_LAST}; nn.init.zeros_(self.w_o.weight)", name="starts_at_zero"),
          edit(_LAST, f"{_LAST}; self.w_k.load_state_dict(self.w_q.state_dict())", name="starts_alike")),
    wrong("arguments_mixed_up",
          "The keys or the values are not computed from their own argument: the keys from `key`, the values from "
          "`value`.",
          "Which argument does each of the three layers read, and in which order do their results go into attention?",
          edit("self.w_k(key)", "self.w_k(query)", "self.w_v(value)", "self.w_v(query)"),
          edit("self.w_v(value)", "self.w_v(key)", name="values_from_key"),
          edit("self.w_k(key)", "self.w_k(value)", name="keys_from_value"),
          edit("self.w_k(key)", "self.w_k(query)", name="keys_from_query")),
    wrong("residual_or_norm_added",
          "There is a residual connection or a normalisation. Both come in unit 4, outside this layer.",
          "What is the last step in the drawing?",
          edit(OUTPUT, f"query + {OUTPUT}"),
          edit(OUTPUT, f"nn.functional.layer_norm({OUTPUT}, query.shape[-1:])", name="norm_added"),
          edit(OUTPUT, f"nn.functional.layer_norm(query + {OUTPUT}, query.shape[-1:])", name="residual_and_norm"),
          edit(OUTPUT, f"{OUTPUT} + (query if query is key else 0)", name="residual_of_the_same"),
          tests="normalisation"),
    wrong("activation_added", "There is a ReLU before `w_o`, which the definition does not have.",
          "What does the formula at the top of this unit put between Concat and W^O?",
          edit(MERGED, f"{MERGED}.relu()")),
]

_MASKS = [
    wrong("mask_ignored", "The mask is never used.",
          "Which arguments does `scaled_dot_product_attention` take?",
          edit(ARGUMENTS, "(q, k, v)")),
    wrong("mask_inverted", "The mask is inverted: allowed positions are masked.",
          "What does `True` mean in the masks of this course? And in PyTorch's layer?",
          edit(_MASK, "None if mask is None else ~mask_for_heads(mask)")),
    wrong("mask_without_heads", "The mask is passed on as it is, so the batch of a 3-D mask lines up with the heads.",
          "What was Exercise 3.5 for?",
          edit(_MASK, "mask"), tests="section"),
    wrong("mask_unsqueezed", "A mask gets one more dimension after its first, even if it is not 3-D.",
          "What does your code do with a mask `(Lq, Lk)`, and with `(B, h, Lq, Lk)`?",
          edit(_MASK, "mask if mask is None else mask.unsqueeze(1)"),
          edit(_MASK, "mask if mask is None or mask.dim() == 2 else mask.unsqueeze(1)",
               name="mask_unsqueezed_unless_flat")),
    wrong("flat_mask_by_sentence",
          "When there are as many sentences as queries, you read a 2-D mask as `(B, Lk)`, but in our contract it is "
          "`(Lq, Lk)`.",
          "Should the meaning of a mask depend on the number of sentences?",
          edit(_MASK, "mask_for_heads(mask[:, None] if mask is not None and mask.shape[:-1] == query.shape[:1] and "
                      "mask.dim() == 2 else mask)")),
    wrong("zeros_closed", "If no mask is given, your layer masks keys whose vector is zero.",
          "Where should the layer learn which positions are padding?",
          edit(_MASK, "mask_for_heads((key != 0).any(-1)[:, None] if mask is None else mask)")),
    wrong("mask_of_the_first", "All heads, sentences or queries get the mask of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(_MASK, "mask if mask is None else mask_for_heads(mask)[:, :1]"),
          edit(_MASK, "mask if mask is None else mask_for_heads(mask)[:1]", name="mask_of_first_sentence"),
          edit(_MASK, "mask if mask is None else mask_for_heads(mask)[:, :, :1]", name="mask_of_first_query")),
    wrong("mask_on_first_head_only",
          "Only head 0 respects the mask; through the other heads, forbidden positions still affect the output.",
          "To which heads does the mask apply?",
          edit(_MASK, "mask if mask is None else "
                      "mask_for_heads(mask) | (torch.arange(self.num_heads) > 0)[:, None, None]")),
    wrong("mask_after_softmax",
          "The mask is applied after the softmax, so the weights of a query no longer sum to one.",
          "When must forbidden keys be removed so that the other weights still sum to one?",
          edit(ARGUMENTS, "(q, k, v)", DROP, "self.dropout(weights if mask is None else weights * mask)")),
    wrong("closed_by_a_number",
          "Masked keys get a number as their score, such as 0 or a large negative one, but other scores can be lower.",
          "Which number is below all others?",
          edit(ATTENTION, write_attention("scores.masked_fill(~mask, 0)")),
          edit(ATTENTION, write_attention("scores.masked_fill(~mask, -10)"), name="masked_scores_minus_ten"),
          edit(ATTENTION, write_attention("scores.masked_fill(~mask, -1e4)"), name="masked_scores_minus_10000"),
          edit(ATTENTION, write_attention("scores - 1e4 * (~mask)"), name="closed_by_a_sum")),
    wrong("one_result_masked", "Of the output and the returned weights, only one respects the mask.",
          "Are the weights that you return the ones that produced the output?",
          edit(OUTPUT, "self.w_o(merge_heads(attention.scaled_dot_product_attention(q, k, v)[0]))"),
          edit(_RETURN, f"return {OUTPUT}, attention.scaled_dot_product_attention(q, k, v)[1]",
               name="unmasked_weights_returned")),
    wrong("mask_changed", "The shape of the caller's own mask has changed.",
          "What does the underscore at the end of a method's name mean?",
          edit(_MASK, "mask if mask is None or mask.dim() != 3 else mask.unsqueeze_(1)")),
]

_RESULTS = [
    wrong("weights_in_another_shape",
          "The returned weights are not `(B, h, Lq, Lk)`: a map for each head of each sentence.",
          "Where are the batch and the heads in the weights that you return?",
          edit(_RETURN, f"return {OUTPUT}, weights.mean(1)"),
          edit(_RETURN, f"return {OUTPUT}, weights.transpose(0, 1)", name="weights_heads_first"),
          edit(_RETURN, f"return {OUTPUT}, weights.flatten(0, 1)", name="weights_folded")),
    wrong("scores_returned", "You return the scores instead of the weights.",
          "What should the rows of the weights sum to?",
          edit(_RETURN, f"return {OUTPUT}, q @ k.transpose(-2, -1) / q.size(-1) ** 0.5")),
    common("only_output", edit(_RETURN, f"return {OUTPUT}")),
    common("results_swapped", edit(_RETURN, f"return weights, {OUTPUT}")),
    wrong("no_gradient",
          "No gradient flows through the attention weights or the output: there is a `detach`, a `no_grad` or a "
          "`.data` on the way.",
          "How would training reach all weights of this layer, `w_q` and `w_k` included?",
          edit(DROP, "self.dropout(weights.detach())"),
          edit(OUTPUT, f"{OUTPUT}.detach()", name="output_detached")),
    wrong("first_sentence_for_all", "All sentences use the weights of the first one.",
          "Is there an index `0` or `[:1]` in your code that should not be there?",
          edit(DROP, "self.dropout(weights[:1].expand_as(weights))")),
]

MISTAKES = [*_HEADS, *_SCORES, *_LAYERS, *_MASKS, *_RESULTS]
