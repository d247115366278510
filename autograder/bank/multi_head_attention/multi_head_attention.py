"""Multi-head attention."""

from __future__ import annotations

import torch

from autograder.bank.multi_head_attention._inputs import (
    linear_parameters,
    multi_head_inputs,
)
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, both, masked, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _weights_made_visible(draw: Draw) -> Inputs:
    """Values such that each head's output is its weights, twice over (see the probe)."""
    batch, h, lq, lk = 2, 3, 4, 5
    d_model = h * 2 * lk
    square = (d_model, d_model)
    made = linear_parameters(
        draw, 0.125, w_q=square, w_k=square, w_v=square, w_o=square
    )
    for name in ("w_v", "w_o"):
        made[f"weights.{name}.weight"] = torch.eye(d_model)
        made[f"weights.{name}.bias"] = torch.zeros(d_model)
    rates = torch.tensor([0.25, 0.375, 0.5])
    return made | {
        "query": draw.tensor(batch, lq, d_model, scale=1.0),
        "key": draw.tensor(batch, lk, d_model, scale=1.0),
        "value": torch.eye(lk).repeat(1, 2 * h).expand(batch, -1, -1).clone(),
        "num_heads": torch.tensor(h),
        "rate": rates[int(draw.ids(0, 3))],
    }


_Q = "q = split_heads(self.w_q(query), self.num_heads)"
_K = "k = split_heads(self.w_k(key), self.num_heads)"
_V = "v = split_heads(self.w_v(value), self.num_heads)"
_MASK = "mask = mask_for_heads(mask)"
_SDPA = "_, weights = attention.scaled_dot_product_attention(q, k, v, mask)"
_DROP = "weights = self.dropout(weights)"
_RETURN = "return self.w_o(merge_heads(weights @ v)), weights"
_EVEN = "if d_model % num_heads != 0:"

def _three_heads(mask: tuple[int, ...]) -> Maker:
    return multi_head_inputs(2, 3, 2, lq=4, lk=5, mask=mask)


EXERCISE = Specification(
    name="multi_head_attention/multi_head_attention",
    title="Multi-head attention",
    target="MultiHeadAttention",
    promise=Promise(
        arguments='query: B Lq d; key: B Lk d; value: B Lk d; mask?: Lq Lk | B Lq Lk | B h Lq Lk',
        results='output: B Lq d; weights: B h Lq Lk',
        on=('plain', 'padding'),
        ways=OF_MODULES,
        module=True,
        dropout=('plain', {'rate': 0.375}),
        sizes=both(special(one_sentence=multi_head_inputs(1, 2, 3, lq=4, lk=5, mask=(1, 4, 5)), one_query=multi_head_inputs(2, 3, 4, lq=1, lk=5, mask=(2, 1, 5)), one_key=multi_head_inputs(2, 3, 4, lq=5, lk=1), heads_of_size_one=multi_head_inputs(2, 3, 1, lq=4, lk=5, mask=(4, 5)), equal_sizes=multi_head_inputs(3, 3, 3, lq=3, lk=3, mask=(3, 3, 3)), equal_sizes_and_four_dimensions=multi_head_inputs(2, 2, 2, lq=2, lk=2, mask=(2, 2, 2, 2))), masked(_three_heads, one_Lk=(1, 5), one_Lq_Lk=(1, 4, 5), B_1_Lk=(2, 1, 5), B_Lq_Lk=(2, 4, 5), B_1_1_Lk=(2, 1, 1, 5), B_1_Lq_Lk=(2, 1, 4, 5), one_h_Lq_Lk=(1, 3, 4, 5), B_h_1_Lk=(2, 3, 1, 5), one_h_1_Lk=(1, 3, 1, 5), B_h_Lq_Lk=(2, 3, 4, 5))),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="three different inputs, no mask; sizes that cannot be shared out",
            inputs=multi_head_inputs(2, 3, 4, lq=5, lk=7, refuse=True),
            hint="Print the shape after each step and compare with hint 2.",
        ),
        CaseKind(
            name="padding",
            title="a padding mask (B, 1, Lk), and gradients",
            inputs=multi_head_inputs(3, 2, 3, lq=4, lk=5, mask=(3, 1, 5), pull=True),
            hint="Every head must respect the mask, and every input needs its "
            "gradient.",
        ),
        CaseKind(
            name="queries_and_keys",
            title="a mask (Lq, Lk), and large scores",
            inputs=multi_head_inputs(2, 4, 3, lq=6, lk=5, mask=(6, 5), scale=1.5),
            hint="A mask of two dimensions holds for all sentences and heads.",
        ),
        CaseKind(
            name="a_mask_per_head",
            title="a mask for each head (B, h, Lq, Lk)",
            inputs=multi_head_inputs(2, 3, 5, lq=4, lk=6, mask=(2, 3, 4, 6)),
            hint="Each head has its own mask here.",
        ),
        CaseKind(
            name="as_many_sentences_as_heads",
            title="a mask (B, Lq, Lk), with as many sentences as heads",
            inputs=multi_head_inputs(3, 3, 2, lq=5, lk=4, mask=(3, 5, 4)),
            hint="A mask of three dimensions holds for all heads, and differs by "
            "sentence.",
        ),
        CaseKind(
            name="dropout",
            title="dropout in training, and none in evaluation",
            inputs=_weights_made_visible,
            hint="Dropout belongs on the attention weights, after the softmax, with "
            "the probability that was given.",
        ),
        CaseKind(
            name="single_head",
            title="a single head, one sentence",
            inputs=multi_head_inputs(1, 1, 6, lq=3, lk=4, mask=(1, 3, 4)),
            hint="Nothing changes in principle with one head.",
            hidden_only=True,
        ),
    ],
    mutants=[
        # Splitting and merging.
        Mutant(
            name="split_by_view_only",
            says="The heads hold chopped-up positions: the split reshapes straight to "
            "`(B, h, L, d_k)` and moves nothing.",
            asks="What did Exercise 3.2 do after cutting the features in two?",
            ways=[Way(edits=[
                Edit(_Q,
                     "y, h = self.w_q(query), self.num_heads; q = y.reshape(y.size(0), h, y.size(1), -1)"),
                Edit(_K,
                     "y, h = self.w_k(key), self.num_heads; k = y.reshape(y.size(0), h, y.size(1), -1)"),
                Edit(_V,
                     "y, h = self.w_v(value), self.num_heads; v = y.reshape(y.size(0), h, y.size(1), -1)"),
            ])],
        ),
        Mutant(
            name="merge_by_view_only",
            says="Heads and positions are not swapped back before merging, so "
            "positions are mixed.",
            asks="What does Exercise 3.3 do before it joins two dimensions?",
            ways=[
                Way(edits=[
                    Edit(
                        _RETURN,
                        """
                        z = weights @ v
                        return self.w_o(z.reshape(z.size(0), z.size(2), -1)), weights
                        """,
                    ),
                ]),
                Way(name="merge_by_contiguous_view", edits=[
                    Edit(
                        _RETURN,
                        """
                        z = weights @ v
                        return self.w_o(z.contiguous().view(z.size(0), z.size(2), -1)), weights
                        """,
                    ),
                ]),
            ],
        ),
        Mutant(
            name="merge_mixes_batch",
            says="Sentences are mixed: before the merge the batch does not stand "
            "first.",
            asks="What happens to sentence 0 if you change sentence 1? What should "
            "happen?",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
                    """
                    z = weights @ v
                    return self.w_o(z.permute(2, 0, 1, 3).reshape(z.size(0), z.size(2), -1)), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="heads_interleaved",
            says="Heads are made of every h-th feature, in split and merge alike. Such "
            "a model trains well, but it is another layer than PyTorch's: our contract "
            "is blocks.",
            asks="Which features did head 0 get in Exercise 3.2?",
            ways=[Way(edits=[
                Edit(_Q,
                     "y, h = self.w_q(query), self.num_heads; q = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
                Edit(_K,
                     "y, h = self.w_k(key), self.num_heads; k = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
                Edit(_V,
                     "y, h = self.w_v(value), self.num_heads; v = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
                Edit(
                    _RETURN,
                    """
                    z = weights @ v
                    return self.w_o(z.permute(0, 2, 3, 1).flatten(2)), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="only_split_interleaved",
            says="The split deals out every h-th feature, the merge joins blocks: they "
            "do not fit.",
            asks="Does merging undo your splitting? Try it on a small tensor.",
            ways=[Way(edits=[
                Edit(_Q,
                     "y, h = self.w_q(query), self.num_heads; q = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
                Edit(_K,
                     "y, h = self.w_k(key), self.num_heads; k = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
                Edit(_V,
                     "y, h = self.w_v(value), self.num_heads; v = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            ])],
        ),
        Mutant(
            name="only_merge_interleaved",
            says="The merge deals the features out in turn, while the split made "
            "blocks.",
            asks="Does merging undo your splitting? Try it on a small tensor.",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
                    """
                    z = weights @ v
                    return self.w_o(z.permute(0, 2, 3, 1).flatten(2)), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="heads_merged_in_reverse",
            says="The heads are merged in reverse order.",
            asks="Which columns of `w_o` belong to head 0?",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
                    """
                    z = weights @ v
                    return self.w_o(merge_heads(z.flip(1))), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="view_of_transposed",
            says="The merge is right, but a transposed tensor lies scattered in "
            "memory, and `view` never copies.",
            asks="Which other function reshapes, and copies where it must?",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
                    """
                    z = weights @ v
                    return self.w_o(z.transpose(1, 2).view(z.size(0), z.size(2), -1)), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="single_head",
            says="The features are not shared out: there is only one head, of size "
            "d_model.",
            asks="Where in `forward` do you use `self.num_heads`?",
            ways=[Way(edits=[
                Edit(_Q,
                     "y, h = self.w_q(query), self.num_heads; q = split_heads(y, 1)"),
                Edit(_K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, 1)"),
                Edit(_V,
                     "y, h = self.w_v(value), self.num_heads; v = split_heads(y, 1)"),
            ])],
        ),
        Mutant(
            name="heads_and_size_swapped",
            says="There are `d_k` heads of size `h`: the two numbers have changed "
            "places.",
            asks="Which of the two is the number of heads?",
            ways=[Way(edits=[
                Edit(_Q,
                     "y, h = self.w_q(query), self.num_heads; q = split_heads(y, y.size(-1) // h)"),
                Edit(_K,
                     "y, h = self.w_k(key), self.num_heads; k = split_heads(y, y.size(-1) // h)"),
                Edit(_V,
                     "y, h = self.w_v(value), self.num_heads; v = split_heads(y, y.size(-1) // h)"),
            ])],
        ),
        Mutant(
            name="eight_heads_always",
            says="The number of heads is fixed to 8, the paper's number.",
            asks="Which number was given when the layer was made?",
            ways=[Way(edits=[
                Edit(_Q,
                     "y, h = self.w_q(query), self.num_heads; q = split_heads(y, 8)"),
                Edit(_K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, 8)"),
                Edit(_V,
                     "y, h = self.w_v(value), self.num_heads; v = split_heads(y, 8)"),
            ])],
        ),
        Mutant(
            name="first_head_everywhere",
            says="All heads are copies of head 0.",
            asks="Which features belong to head 1?",
            ways=[Way(edits=[
                Edit(_Q,
                     "y, h = self.w_q(query), self.num_heads; q = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
                Edit(_K,
                     "y, h = self.w_k(key), self.num_heads; k = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
                Edit(_V,
                     "y, h = self.w_v(value), self.num_heads; v = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
            ])],
        ),
        Mutant(
            name="heads_averaged",
            says="Every head's block holds the same average of all heads.",
            asks="What is the use of several heads if their answers are averaged at "
            "once?",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
                    """
                    z = weights @ v
                    return self.w_o(merge_heads(z.mean(1, keepdim=True).expand_as(z))), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="key_length_from_query",
            says="The keys are reshaped with the length of the *query*.",
            asks="In cross-attention, how many keys are there?",
            ways=[Way(edits=[
                Edit(_K,
                     "k = self.w_k(key).view(query.size(0), query.size(1), self.num_heads, -1).transpose(1, 2)"),
            ])],
        ),
        Mutant(
            name="value_length_from_query",
            says="The values are reshaped with the length of the *query*.",
            asks="In cross-attention, how many values are there?",
            ways=[Way(edits=[
                Edit(_V,
                     "v = self.w_v(value).view(query.size(0), query.size(1), self.num_heads, -1).transpose(1, 2)"),
            ])],
        ),
        # Scaling and softmax.
        Mutant(
            name="scaled_by_d_model",
            says="The scores are divided by the root of d_model. But what is compared "
            "are vectors of one head.",
            asks="How many products does one score add up?",
            ways=[Way(edits=[
                Edit(_SDPA,
                     "_, weights = attention.scaled_dot_product_attention(q * self.num_heads ** -0.5, k, v, mask)"),
            ])],
        ),
        Mutant(
            name="scaled_by_heads",
            says="The scores are divided by the root of the number of heads.",
            asks="How many products does one score add up?",
            ways=[Way(edits=[
                Edit(_SDPA,
                     "_, weights = attention.scaled_dot_product_attention(q * (k.size(-1) / self.num_heads) ** 0.5, k, v, mask)"),
            ])],
        ),
        Mutant(
            name="not_scaled",
            says="The scores are not scaled.",
            asks="What happens to the spread of the scores as `d_k` grows?",
            ways=[Way(edits=[
                Edit(_SDPA,
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
                Edit(_SDPA,
                     "_, weights = attention.scaled_dot_product_attention(q * k.size(-1) ** -0.5, k, v, mask)"),
            ])],
        ),
        Mutant(
            name="softmax_over_heads",
            says="The softmax runs over the heads.",
            asks="Of what do the shares of one query sum to one: of heads or of keys?",
            ways=[Way(edits=[
                Edit(
                    _SDPA,
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
                    _SDPA,
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
                Edit(_DROP, "weights = self.dropout(weights.softmax(-1))"),
            ])],
        ),
        # Projections.
        Mutant(
            name="no_output_projection",
            says="The merged heads come back as they are: `w_o` is not used.",
            asks="Which line lets the answers of different heads meet?",
            ways=[Way(edits=[
                Edit(_RETURN, "return merge_heads(weights @ v), weights"),
            ])],
        ),
        Mutant(
            name="output_projection_twice",
            says="`w_o` is applied twice.",
            asks="How many arrows go through `w_o` in the drawing?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.w_o(self.w_o(merge_heads(weights @ v))), weights"),
            ])],
        ),
        Mutant(
            name="projections_of_query_and_key_swapped",
            says="`w_q` and `w_k` have changed places.",
            asks="Which layer makes the queries?",
            ways=[Way(edits=[
                Edit(_Q, "q = split_heads(self.w_k(query), self.num_heads)"),
                Edit(_K, "k = split_heads(self.w_q(key), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="projections_of_key_and_value_swapped",
            says="`w_k` and `w_v` have changed places.",
            asks="Which layer makes what is mixed, and which one what is compared?",
            ways=[Way(edits=[
                Edit(_K, "k = split_heads(self.w_v(key), self.num_heads)"),
                Edit(_V, "v = split_heads(self.w_k(value), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="keys_projection_for_values",
            says="The values go through `w_k`.",
            asks="Is the third line of a copied block still the same as the second?",
            ways=[Way(edits=[
                Edit(_V, "v = split_heads(self.w_k(value), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="query_projection_for_keys",
            says="The keys go through `w_q`.",
            asks="Is the second line of a copied block still the same as the first?",
            ways=[Way(edits=[
                Edit(_K, "k = split_heads(self.w_q(key), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="one_projection_for_all",
            says="Queries, keys and values all go through `w_q`.",
            asks="What are the other two layers for?",
            ways=[Way(edits=[
                Edit(_K, "k = split_heads(self.w_q(key), self.num_heads)"),
                Edit(_V, "v = split_heads(self.w_q(value), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="shared_layer",
            says="`w_v` and `w_k` are one and the same layer.",
            asks="How many layers does your `__init__` really make?",
            ways=[Way(edits=[
                Edit("self.w_v = nn.Linear(d_model, d_model)", "self.w_v = self.w_k"),
            ])],
        ),
        Mutant(
            name="values_not_projected",
            says="The values are not projected: `w_v` is not used.",
            asks="What happens to `value` in the drawing before it is split?",
            ways=[Way(edits=[Edit(_V, "v = split_heads(value, self.num_heads)")])],
        ),
        Mutant(
            name="layers_without_bias",
            says="The layers have no bias.",
            asks="Which argument of `nn.Linear` did you set?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, d_model)",
                     "self.w_q = nn.Linear(d_model, d_model, bias=False)"),
                Edit("self.w_k = nn.Linear(d_model, d_model)",
                     "self.w_k = nn.Linear(d_model, d_model, bias=False)"),
                Edit("self.w_v = nn.Linear(d_model, d_model)",
                     "self.w_v = nn.Linear(d_model, d_model, bias=False)"),
                Edit("self.w_o = nn.Linear(d_model, d_model)",
                     "self.w_o = nn.Linear(d_model, d_model, bias=False)"),
            ])],
        ),
        Mutant(
            name="full_size_heads",
            says="Each head got the full size d_model; the heads are to *share* the "
            "features.",
            asks="Which size has one head if all together have d_model?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, d_model)",
                     "self.w_q = nn.Linear(d_model, num_heads * d_model)"),
                Edit("self.w_k = nn.Linear(d_model, d_model)",
                     "self.w_k = nn.Linear(d_model, num_heads * d_model)"),
                Edit("self.w_v = nn.Linear(d_model, d_model)",
                     "self.w_v = nn.Linear(d_model, num_heads * d_model)"),
            ])],
        ),
        Mutant(
            name="one_head_sized_layers",
            says="The layers make the features of one head only.",
            asks="How many features must come out, if each of `h` heads gets `d_k` of "
            "them?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, d_model)",
                     "self.w_q = nn.Linear(d_model, d_model // num_heads)"),
                Edit("self.w_k = nn.Linear(d_model, d_model)",
                     "self.w_k = nn.Linear(d_model, d_model // num_heads)"),
                Edit("self.w_v = nn.Linear(d_model, d_model)",
                     "self.w_v = nn.Linear(d_model, d_model // num_heads)"),
            ])],
        ),
        Mutant(
            name="projections_in_a_list",
            says="`w_q` is not known as a parameter of the module: an ordinary list "
            "hides its layers.",
            asks="Which names does `dict(layer.named_parameters())` show?",
            ways=[Way(edits=[
                Edit("self.w_o = nn.Linear(d_model, d_model)",
                     "self.w_o = [nn.Linear(d_model, d_model)][0]; self.layers = [self.w_q, self.w_k, self.w_v]; del self.w_q, self.w_k, self.w_v"),
            ])],
        ),
        # The three inputs.
        Mutant(
            name="self_attention_only",
            says="Keys and values are made from `query`: that is self-attention, "
            "whatever the caller asks for.",
            asks="Which argument does each of the three layers read?",
            ways=[Way(edits=[
                Edit(_K, "k = split_heads(self.w_k(query), self.num_heads)"),
                Edit(_V, "v = split_heads(self.w_v(query), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="values_from_key",
            says="The values are made from `key`; the argument `value` is not used.",
            asks="Is the third line of a copied block still the same as the second?",
            ways=[Way(edits=[
                Edit(_V, "v = split_heads(self.w_v(key), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="keys_from_value",
            says="The keys are made from `value`; the argument `key` is not used.",
            asks="Which argument is compared with the query?",
            ways=[Way(edits=[
                Edit(_K, "k = split_heads(self.w_k(value), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="keys_from_query",
            says="The keys are made from `query`.",
            asks="Which argument does `w_k` read?",
            ways=[Way(edits=[
                Edit(_K, "k = split_heads(self.w_k(query), self.num_heads)"),
            ])],
        ),
        Mutant(
            name="residual_added",
            says="The query is added to the output. This residual comes in unit 4, "
            "outside this layer.",
            asks="What is the last step in the drawing?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return query + self.w_o(merge_heads(weights @ v)), weights"),
            ])],
        ),
        Mutant(
            name="norm_added",
            says="The output is normalised. This comes in unit 4, outside this layer.",
            asks="What is the last step in the drawing?",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
                    """
                    out = self.w_o(merge_heads(weights @ v))
                    return nn.functional.layer_norm(out, out.shape[-1:]), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="residual_and_norm_added",
            says="There are a residual and a normalisation. Both come in unit 4, "
            "outside this layer.",
            asks="What is the last step in the drawing?",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
                    """
                    out = query + self.w_o(merge_heads(weights @ v))
                    return nn.functional.layer_norm(out, out.shape[-1:]), weights
                    """,
                ),
            ])],
        ),
        Mutant(
            name="activation_added",
            says="There is a ReLU before `w_o`; the definition has none.",
            asks="What does the formula at the top of this unit put between Concat and "
            "W^O?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.w_o(merge_heads(weights @ v).relu()), weights"),
            ])],
        ),
        # Masks.
        Mutant(
            name="mask_ignored",
            says="The mask is not used.",
            asks="Which arguments does `scaled_dot_product_attention` take?",
            ways=[Way(edits=[
                Edit(_SDPA,
                     "_, weights = attention.scaled_dot_product_attention(q, k, v)"),
            ])],
        ),
        Mutant(
            name="mask_inverted",
            says="The mask works the wrong way round: what may be seen is hidden.",
            asks="What does `True` mean in the masks of this course? And in PyTorch's "
            "layer?",
            ways=[Way(edits=[
                Edit(_MASK, "mask = None if mask is None else ~mask_for_heads(mask)"),
            ])],
        ),
        Mutant(
            name="mask_without_heads",
            says="The mask is passed on as it came: one of three dimensions then meets "
            "the heads with its batch.",
            asks="What was Exercise 3.5 for?",
            ways=[
                Way(edits=[Edit(_MASK, "")]),
                Way(name="mask_dimension_in_front", edits=[
                    Edit(_MASK,
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
                Edit(_MASK, "mask = mask if mask is None else mask.unsqueeze(1)"),
            ])],
        ),
        Mutant(
            name="mask_unsqueezed_unless_flat",
            says="A mask that already has its heads is given a fifth dimension.",
            asks="What does your code do with a mask `(B, h, Lq, Lk)`?",
            ways=[Way(edits=[
                Edit(_MASK,
                     "mask = mask if mask is None or mask.dim() == 2 else mask.unsqueeze(1)"),
            ])],
        ),
        Mutant(
            name="mask_of_first_head",
            says="All heads got the mask of head 0.",
            asks="What if the mask says something else for each head?",
            ways=[Way(edits=[
                Edit(_MASK,
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
                    _MASK,
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
                Edit(_MASK,
                     "mask = mask if mask is None else mask_for_heads(mask)[:1]"),
            ])],
        ),
        Mutant(
            name="mask_of_first_query",
            says="All queries got the mask of the first one.",
            asks="Which masks have more than one row?",
            ways=[Way(edits=[
                Edit(_MASK,
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
                    _SDPA,
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
                        _SDPA,
                        """
                        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
                        scores = scores if mask is None else scores.masked_fill(~mask, 0)
                        weights = scores.softmax(-1)
                        """,
                    ),
                ]),
                Way(name="masked_scores_tiny", edits=[
                    Edit(
                        _SDPA,
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
                    _SDPA,
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
                    _RETURN,
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
                    _MASK,
                    """
                    if mask is not None and mask.dim() == 3:
                                mask.unsqueeze_(1)
                    """,
                ),
            ])],
        ),
        # What comes back.
        Mutant(
            name="weights_averaged",
            says="The weights are averaged over the heads; each head's map is asked "
            "for.",
            asks="What does `(B, h, Lq, Lk)` say about the number of maps?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.w_o(merge_heads(weights @ v)), weights.mean(1)"),
            ])],
        ),
        Mutant(
            name="weights_heads_first",
            says="The weights have shape `(h, B, Lq, Lk)`: the heads stand before the "
            "batch.",
            asks="Which dimension comes first in this course, always?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.w_o(merge_heads(weights @ v)), weights.transpose(0, 1)"),
            ])],
        ),
        Mutant(
            name="weights_folded",
            says="The weights have batch and heads in one dimension.",
            asks="How many dimensions does `(B, h, Lq, Lk)` have?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.w_o(merge_heads(weights @ v)), weights.flatten(0, 1)"),
            ])],
        ),
        Mutant(
            name="scores_returned",
            says="The scores come back in place of the weights.",
            asks="What do the rows of the weights sum to?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.w_o(merge_heads(weights @ v)), q @ k.transpose(-2, -1) / q.size(-1) ** 0.5"),
            ])],
        ),
        Mutant(
            name="unmasked_weights_returned",
            says="The output respects the mask, but the weights that come back do not.",
            asks="Are the weights that you return those that made the output?",
            ways=[Way(edits=[
                Edit(
                    _RETURN,
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
                Edit(_RETURN, "return self.w_o(merge_heads(weights @ v))"),
            ])],
        ),
        Mutant(
            name="results_swapped",
            says="Output and weights come back in the wrong order.",
            asks="Which of the two comes first, by the conventions of this course?",
            ways=[Way(edits=[
                Edit(_RETURN, "return weights, self.w_o(merge_heads(weights @ v))"),
            ])],
        ),
        Mutant(
            name="no_gradient",
            says="The gradient does not pass through the weights: there is a `detach`, "
            "a `no_grad` or a `.data` on the way.",
            asks="How would training reach `w_q` and `w_k`?",
            ways=[Way(edits=[Edit(_DROP, "weights = self.dropout(weights.detach())")])],
        ),
        Mutant(
            name="output_detached",
            says="The output is cut off from the gradient.",
            asks="Would training reach any weight of this layer?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.w_o(merge_heads(weights @ v)).detach(), weights"),
            ])],
        ),
        Mutant(
            name="first_sentence_for_all",
            says="All sentences use the weights of the first one.",
            asks="Does an index `0` or `[:1]` stand in your code where it should not?",
            ways=[Way(edits=[
                Edit(_DROP, "weights = self.dropout(weights[:1].expand_as(weights))"),
            ])],
        ),
        # The number of heads.
        Mutant(
            name="uneven_accepted",
            says="A number of heads that does not divide d_model is accepted.",
            asks="How large would each of 3 heads be if there are 10 features?",
            ways=[Way(edits=[Edit(_EVEN, "if False:")])],
        ),
        Mutant(
            name="only_too_many_refused",
            says="Only more heads than features are refused; 3 heads cannot share 10 "
            "features either.",
            asks="Which remainder must the division leave?",
            ways=[Way(edits=[Edit(_EVEN, "if num_heads > d_model:")])],
        ),
        # Dropout.
        Mutant(
            name="dropout_missing",
            says="There is no dropout on the weights in training.",
            asks="Where in `forward` do you call your dropout layer? Do you use what "
            "it returns?",
            ways=[
                Way(edits=[Edit(_DROP, "")]),
                Way(name="dropout_discarded", edits=[
                    Edit(_DROP, "self.dropout(weights)"),
                ]),
            ],
        ),
        Mutant(
            name="dropout_always",
            says="Dropout stays on in evaluation: `F.dropout` does not know the mode "
            "of your module.",
            asks="Which argument of `F.dropout` says whether we are training?",
            ways=[Way(edits=[
                Edit(_DROP, "weights = nn.functional.dropout(weights, self.dropout.p)"),
            ])],
        ),
        Mutant(
            name="dropout_on_output",
            says="Dropout acts on the output, not on the weights.",
            asks="If the weight of a key is dropped, which features of its value are "
            "missing?",
            ways=[
                Way(edits=[
                    Edit(_DROP, ""),
                    Edit(_RETURN,
                         "return self.dropout(self.w_o(merge_heads(weights @ v))), weights"),
                ]),
                Way(name="dropout_on_heads", edits=[
                    Edit(_DROP, ""),
                    Edit(_RETURN,
                         "return self.w_o(self.dropout(merge_heads(weights @ v))), weights"),
                ]),
            ],
        ),
        Mutant(
            name="dropout_on_both",
            says="Dropout acts twice: on the weights and on the output.",
            asks="Where in the drawing does the word dropout stand?",
            ways=[Way(edits=[
                Edit(_RETURN,
                     "return self.dropout(self.w_o(merge_heads(weights @ v))), weights"),
            ])],
        ),
        Mutant(
            name="dropout_on_values",
            says="Dropout acts on the values, not on the weights.",
            asks="If the weight of a key is dropped for one query, do the others still "
            "see it?",
            ways=[Way(edits=[Edit(_DROP, "v = self.dropout(v)")])],
        ),
        Mutant(
            name="dropout_on_queries",
            says="Dropout acts before the softmax, on the queries.",
            asks="After dropout, which weights can be exactly zero?",
            ways=[Way(edits=[
                Edit(_DROP, ""),
                Edit(_SDPA,
                     "_, weights = attention.scaled_dot_product_attention(self.dropout(q), k, v, mask)"),
            ])],
        ),
        Mutant(
            name="dropout_on_scores",
            says="Dropout acts on the scores, before the softmax. A score of zero is "
            "no weight of zero.",
            asks="What is the share of a key whose score is 0?",
            ways=[Way(edits=[
                Edit(_DROP, ""),
                Edit(
                    _SDPA,
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
                    _DROP,
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
                Edit(_DROP,
                     "weights = weights * self.dropout(torch.ones_like(weights[:, :, :1]))"),
            ])],
        ),
        Mutant(
            name="dropout_of_whole_queries",
            says="A query loses all its keys at once, or none; each weight should have "
            "its own fate.",
            asks="How many random decisions are needed for a map of `Lq` times `Lk`?",
            ways=[Way(edits=[
                Edit(_DROP,
                     "weights = weights * self.dropout(torch.ones_like(weights[..., :1]))"),
            ])],
        ),
        Mutant(
            name="dropout_alike_for_heads",
            says="The same weights are dropped in all heads; each weight should have "
            "its own fate.",
            asks="How many random decisions are needed for `h` maps?",
            ways=[Way(edits=[
                Edit(_DROP,
                     "weights = weights * self.dropout(torch.ones_like(weights[:, :1]))"),
            ])],
        ),
        Mutant(
            name="dropout_alike_for_sentences",
            says="The same weights are dropped in all sentences; each weight should "
            "have its own fate.",
            asks="How many random decisions are needed for a batch of `B` sentences?",
            ways=[Way(edits=[
                Edit(_DROP,
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
                    _DROP,
                    """
                    weights = self.dropout(weights)
                    weights = weights / weights.sum(-1, keepdim=True)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="same_weights_dropped_every_time",
            says="Training drops the same weights in every call: something resets the "
            "random numbers inside `forward`.",
            asks="What does a fixed seed do to a layer that should be random?",
            ways=[Way(edits=[
                Edit(
                    _DROP,
                    """
                    torch.manual_seed(0)
                    weights = self.dropout(weights)
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="view_transpose_by_hand", source="""
            import math
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if d_model % num_heads:
                        raise ValueError("d_model must be a multiple of num_heads")
                    self.num_heads = num_heads
                    self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                    self.w_q = nn.Linear(d_model, d_model)
                    self.w_k = nn.Linear(d_model, d_model)
                    self.w_v = nn.Linear(d_model, d_model)
                    self.w_o = nn.Linear(d_model, d_model)
                    self.drop = nn.Dropout(dropout)

                def forward(self, query, key, value, mask=None):
                    B, Lq, D = query.shape
                    Lk = key.shape[1]
                    q = self.w_q(query).view(B, Lq, self.h, self.d_k).transpose(1, 2)
                    k = self.w_k(key).view(B, Lk, self.h, self.d_k).transpose(1, 2)
                    v = self.w_v(value).view(B, Lk, self.h, self.d_k).transpose(1, 2)
                    scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d_k)
                    if mask is not None:
                        if mask.dim() == 3:
                            mask = mask.unsqueeze(1)
                        scores = scores.masked_fill(mask == 0, float("-inf"))
                    attn = torch.softmax(scores, dim=-1)
                    out = torch.matmul(self.drop(attn), v)
                    out = out.transpose(1, 2).contiguous().view(B, Lq, D)
                    return self.w_o(out), attn
            """),
        Accepted(name="einsum_and_minus_1e9", source="""
            import torch.nn.functional as F
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if d_model % num_heads:
                        raise ValueError("d_model must be a multiple of num_heads")
                    self.num_heads = num_heads
                    self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                    self.w_q = nn.Linear(d_model, d_model)
                    self.w_k = nn.Linear(d_model, d_model)
                    self.w_v = nn.Linear(d_model, d_model)
                    self.w_o = nn.Linear(d_model, d_model)
                    pass

                def forward(self, query, key, value, mask=None):
                    q = self.w_q(query).unflatten(2, (self.h, self.d_k))
                    k = self.w_k(key).unflatten(2, (self.h, self.d_k))
                    v = self.w_v(value).unflatten(2, (self.h, self.d_k))
                    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.d_k ** -0.5
                    mask = mask_for_heads(mask)
                    if mask is not None:
                        scores = torch.where(mask, scores, -1e9)
                    weights = F.dropout(scores.softmax(-1), self.p, self.training)
                    out = torch.einsum("bhqk,bkhd->bqhd", weights, v)
                    return self.w_o(out.flatten(2)), weights
            """),
        Accepted(name="loop_over_heads", source="""
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if d_model % num_heads:
                        raise ValueError("d_model must be a multiple of num_heads")
                    self.num_heads = num_heads
                    self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                    self.w_q = nn.Linear(d_model, d_model)
                    self.w_k = nn.Linear(d_model, d_model)
                    self.w_v = nn.Linear(d_model, d_model)
                    self.w_o = nn.Linear(d_model, d_model)
                    self.drop = nn.Dropout(p=dropout)

                def forward(self, query, key, value, mask=None):
                    outs, maps = [], []
                    full = None if mask is None else mask_for_heads(mask).expand(-1, self.h, -1, -1)
                    q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
                    for i in range(self.h):
                        part = slice(i * self.d_k, (i + 1) * self.d_k)
                        m = None if full is None else full[:, i]
                        _, w = attention.scaled_dot_product_attention(
                            q[..., part], k[..., part], v[..., part], m)
                        w = self.drop(w)
                        outs.append(w @ v[..., part])
                        maps.append(w)
                    return self.w_o(torch.cat(outs, dim=-1)), torch.stack(maps, dim=1)
            """),
        Accepted(name="fused_kernel_for_the_output", source="""
            import torch.nn.functional as F
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if d_model % num_heads:
                        raise ValueError("d_model must be a multiple of num_heads")
                    self.num_heads = num_heads
                    self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                    self.w_q = nn.Linear(d_model, d_model)
                    self.w_k = nn.Linear(d_model, d_model)
                    self.w_v = nn.Linear(d_model, d_model)
                    self.w_o = nn.Linear(d_model, d_model)
                    pass

                def forward(self, query, key, value, mask=None):
                    q, k, v = (split_heads(w(x), self.h) for w, x in
                               ((self.w_q, query), (self.w_k, key), (self.w_v, value)))
                    mask = mask_for_heads(mask)
                    p = self.p if self.training else 0.0
                    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
                    with torch.no_grad():
                        weights = attention.scaled_dot_product_attention(q, k, v, mask)[1]
                    return self.w_o(merge_heads(out)), weights
            """),
        Accepted(name="bmm_with_folded_batch", source="""
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if d_model % num_heads:
                        raise ValueError("d_model must be a multiple of num_heads")
                    self.num_heads = num_heads
                    self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                    self.w_q = nn.Linear(d_model, d_model)
                    self.w_k = nn.Linear(d_model, d_model)
                    self.w_v = nn.Linear(d_model, d_model)
                    self.w_o = nn.Linear(d_model, d_model)
                    self.drop = nn.Dropout(dropout)

                def forward(self, query, key, value, mask=None):
                    B, Lq, Lk = query.size(0), query.size(1), key.size(1)
                    def fold(y):
                        return y.view(B, -1, self.h, self.d_k).transpose(1, 2).reshape(
                            B * self.h, -1, self.d_k)
                    q, k, v = fold(self.w_q(query)), fold(self.w_k(key)), fold(self.w_v(value))
                    scores = torch.bmm(q / self.d_k ** 0.5, k.transpose(1, 2))
                    if mask is not None:
                        m = mask_for_heads(mask).expand(B, self.h, Lq, Lk).reshape(-1, Lq, Lk)
                        bias = torch.zeros_like(scores).masked_fill_(~m, float("-inf"))
                        scores = scores + bias
                    weights = self.drop(nn.Softmax(dim=-1)(scores))
                    out = torch.bmm(weights, v).view(B, self.h, Lq, self.d_k)
                    out = out.permute(0, 2, 1, 3).reshape(B, Lq, -1)
                    return (self.w_o(out), weights.view(B, self.h, Lq, Lk))
            """),
        Accepted(name="pytorchs_own_function", source="""
            import torch.nn.functional as F
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if d_model % num_heads:
                        raise ValueError("d_model must be a multiple of num_heads")
                    self.num_heads = num_heads
                    self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                    self.w_q = nn.Linear(d_model, d_model)
                    self.w_k = nn.Linear(d_model, d_model)
                    self.w_v = nn.Linear(d_model, d_model)
                    self.w_o = nn.Linear(d_model, d_model)
                    pass

                def forward(self, query, key, value, mask=None):
                    B, Lq, D = query.shape
                    Lk = key.size(1)
                    blocked = None
                    if mask is not None:
                        blocked = (~mask_for_heads(mask)).expand(B, self.h, Lq, Lk).flatten(0, 1)
                    ws = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight])
                    bs = torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])
                    out, weights = F.multi_head_attention_forward(
                        query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1),
                        D, self.h, ws, bs, None, None, False, self.p,
                        self.w_o.weight, self.w_o.bias, training=self.training,
                        attn_mask=blocked, average_attn_weights=False)
                    return out.transpose(0, 1), weights
            """),
        Accepted(name="other_order_other_initialisation", source="""
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    assert d_model % num_heads == 0, "d_model must be divisible by num_heads"
                    self.d_k = d_model // num_heads
                    self.h = num_heads
                    self.attn_drop = nn.Dropout(dropout)
                    for name in ("w_o", "w_v", "w_k", "w_q"):
                        layer = nn.Linear(d_model, d_model)
                        nn.init.xavier_uniform_(layer.weight)
                        nn.init.zeros_(layer.bias)
                        setattr(self, name, layer)

                def forward(self, query, key, value, mask=None):
                    q = torch.stack(self.w_q(query).split(self.d_k, dim=-1), dim=1)
                    k = torch.stack(self.w_k(key).split(self.d_k, dim=-1), dim=1)
                    v = torch.stack(self.w_v(value).split(self.d_k, dim=-1), dim=1)
                    q = q * self.d_k ** -0.25
                    k = k * self.d_k ** -0.25
                    scores = q @ k.mT
                    if mask is not None:
                        while mask.dim() < 4:
                            mask = mask.unsqueeze(-3)
                        scores.masked_fill_(mask.logical_not(), torch.finfo(scores.dtype).min)
                    scores = scores - scores.max(dim=-1, keepdim=True).values
                    weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
                    heads = self.attn_drop(weights) @ v
                    return self.w_o(torch.cat(list(heads.unbind(1)), dim=-1)), weights
            """),
        Accepted(name="three_inputs_in_one_product", source="""
            class MultiHeadAttention(nn.Module):
                def __init__(self, d_model, num_heads, dropout=0.0):
                    super().__init__()
                    if d_model % num_heads:
                        raise ValueError("d_model must be a multiple of num_heads")
                    self.num_heads = num_heads
                    self.h, self.d_k, self.p = num_heads, d_model // num_heads, dropout
                    self.w_q = nn.Linear(d_model, d_model)
                    self.w_k = nn.Linear(d_model, d_model)
                    self.w_v = nn.Linear(d_model, d_model)
                    self.w_o = nn.Linear(d_model, d_model)
                    self.dropout = nn.Dropout(dropout)

                def forward(self, query, key, value, mask=None):
                    shapes = (query, "w_q"), (key, "w_k"), (value, "w_v")
                    heads = []
                    for x, name in shapes:
                        layer = getattr(self, name)
                        w = layer.weight.view(self.h, self.d_k, -1)
                        b = layer.bias.view(self.h, 1, self.d_k)
                        heads.append(torch.einsum("bld,hkd->bhlk", x, w) + b)
                    q, k, v = heads
                    _, weights = attention.scaled_dot_product_attention(q, k, v, mask_for_heads(mask))
                    weights = self.dropout(weights)
                    w_o = self.w_o.weight.view(-1, self.h, self.d_k)
                    return torch.einsum("bhqk,ohk->bqo", weights @ v, w_o) + self.w_o.bias, weights
            """),
        Accepted(name="dropout_by_hand", edits=[
            Edit(
                _DROP,
                """
                p = self.dropout.p
                if self.training and p > 0:
                    keep = torch.rand_like(weights) >= p
                    weights = weights * keep / (1 - p)
                """,
            ),
        ]),
    ],
)
