"""Causal self-attention with rotary positions and grouped heads."""

from __future__ import annotations

from autograder.bank.since_2017._inputs import (
    attention_shapes,
    looked_at,
    one_text,
    whole,
)
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
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


def _layer(batch: int, length: int, d_model: int, heads: int, groups: int) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        shapes = attention_shapes(d_model, heads, groups)
        return (
            draw.weights(**shapes)
            | whole(num_heads=heads, num_kv_heads=groups)
            | {
                "x": draw.tensor(batch, length, d_model, scale=1.0),
                "pull": draw.tensor(batch, length, d_model, scale=1.0),
            }
        )

    return inputs


_ROTATED = "q, k = rotate(q, angles), rotate(k, angles)"
_ANGLES = "angles = rotary_angles(x.size(1), q.size(-1))"

EXERCISE = Specification(
    name="since_2017/attention_layer",
    title="The attention layer",
    target="CausalAttention",
    promise=Promise(
        arguments="x: B L d",
        results="output: B L d",
        on=("grouped",),
        ways=OF_MODULES,
        module=True,
        sizes=special(
            one_position=_layer(3, 1, 8, 2, 1),
            # More than a small table has; one of 512 rows is large enough.
            a_long_text=one_text(300, 8),
            one_head=_layer(2, 3, 4, 1, 1),
            equal_sizes=_layer(4, 4, 8, 4, 4),
        ),
    ),
    cases=[
        CaseKind(
            name="grouped",
            title="4 heads, 2 of keys and values",
            inputs=looked_at(_layer(3, 5, 16, 4, 2)),
            hint="Project, split, turn queries and keys, attend causally, merge, project.",
            atol=1e-4,
        ),
        CaseKind(
            name="multi_query",
            title="3 heads, 1 of keys and values",
            inputs=_layer(2, 6, 12, 3, 1),
            hint="Keys and values have their own number of heads.",
            atol=1e-4,
        ),
        CaseKind(
            name="multi_head",
            title="2 of each",
            inputs=_layer(4, 3, 20, 2, 2),
            hint="As above.",
            atol=1e-4,
        ),
        CaseKind(
            name="more",
            title="6 heads, 3 of keys and values",
            inputs=_layer(2, 4, 24, 6, 3),
            hint="As above.",
            hidden_only=True,
            atol=1e-4,
        ),
    ],
    mutants=[
        Mutant(
            name="no_positions",
            says="Nothing is turned: the layer does not know the order of its past.",
            asks="Where do `rotary_angles` and `rotate` occur in your code?",
            ways=[Way(edits=[Edit(_ROTATED, "pass")])],
        ),
        Mutant(
            name="made_ahead",
            says="Your layer has angles for a small number of places: a longer text has no "
            "room.",
            asks="How long may a text be? What does the docstring say of `L`?",
            ways=[Way(edits=[
                Edit(_ANGLES, "angles = rotary_angles(256, q.size(-1))[: x.size(1)]"),
            ])],
        ),
        Mutant(
            name="values_turned",
            says="The values are turned as well; only queries and keys are.",
            asks="What do values carry: where something is, or what it is?",
            ways=[Way(edits=[Edit(_ROTATED, "q, k, v = rotate(q, angles), rotate(k, angles), rotate(v, angles)")])],
        ),
        Mutant(
            name="only_queries_turned",
            says="Only the queries are turned: then a score depends on the place, not on the distance.",
            asks="Whose angles are subtracted in $(m - n)\\theta$?",
            ways=[Way(edits=[Edit(_ROTATED, "q = rotate(q, angles)")])],
        ),
        Mutant(
            name="only_keys_turned",
            says="Only the keys are turned: then a score depends on the place, not on the distance.",
            asks="Whose angles are subtracted in $(m - n)\\theta$?",
            ways=[Way(edits=[Edit(_ROTATED, "k = rotate(k, angles)")])],
        ),
        Mutant(
            name="turned_before_the_split",
            says="Queries and keys are turned before they are split into heads: pairs reach across "
            "heads.",
            asks="Which $d_k$ does `rotate` see before the split?",
            ways=[
                Way(edits=[
                    Edit("q = mha.split_heads(self.w_q(x), self.num_heads)", "q = mha.split_heads(rotate(self.w_q(x), rotary_angles(x.size(1), self.w_q.out_features)), self.num_heads)"),
                    Edit("k = mha.split_heads(self.w_k(x), self.num_kv_heads)", "k = mha.split_heads(rotate(self.w_k(x), rotary_angles(x.size(1), self.w_k.out_features)), self.num_kv_heads)"),
                    Edit(_ROTATED, "pass")]),
            ],
        ),
        Mutant(
            name="input_turned",
            says="The input is turned instead of queries and keys, and so the values are, too.",
            asks="Which tensors has the distance to be visible in?",
            ways=[Way(edits=[
                Edit("q = mha.split_heads(self.w_q(x)", "x = rotate(x, rotary_angles(x.size(1), x.size(-1))); q = mha.split_heads(self.w_q(x)"),
                Edit(_ROTATED, "pass")])],
        ),
        Mutant(
            name="turned_by_heads",
            says="The angles run over the heads, not over the positions.",
            asks="Which dimension of `(B, h, L, d_k)` holds the positions?",
            ways=[Way(edits=[
                Edit(_ROTATED, "q, k = (rotate(t.transpose(1, 2), rotary_angles(t.size(1), t.size(-1))).transpose(1, 2) for t in (q, k))")])],
        ),
        Mutant(
            name="places_backwards",
            says="The places are counted from the end of the text.",
            asks="Which place has the first position, and what happens to it when the text grows?",
            ways=[Way(edits=[Edit(_ANGLES, f"{_ANGLES}.flip(0)")])],
        ),
        Mutant(
            name="other_base",
            says="The angles have another base than 10,000.",
            asks="Which base does `rotary_angles` take if nobody says anything?",
            ways=[Way(edits=[Edit(_ANGLES, "angles = rotary_angles(x.size(1), q.size(-1), base=1000.0)")])],
        ),
        Mutant(
            name="no_mask",
            says="Positions see the future: there is no causal mask.",
            asks="What is `grouped_attention` given as its mask?",
            ways=[Way(edits=[Edit(", attention.causal_mask(x.size(1)))", ")")])],
        ),
        Mutant(
            name="mask_turned_over",
            says="Positions see the future and not the past.",
            asks="Which triangle of the mask is True?",
            ways=[Way(edits=[Edit("attention.causal_mask(x.size(1))", "attention.causal_mask(x.size(1)).T")])],
        ),
        Mutant(
            name="not_oneself",
            says="A position does not see itself.",
            asks="Is the diagonal of a causal mask True?",
            ways=[Way(edits=[
                Edit("attention.causal_mask(x.size(1))", "attention.causal_mask(x.size(1)).tril(-1) | (torch.arange(x.size(1)) == 0)")])],
        ),
        Mutant(
            name="near_past_only",
            says="A position sees only its nearest past.",
            asks="How far back may a position look?",
            ways=[Way(edits=[Edit("attention.causal_mask(x.size(1))", "attention.causal_mask(x.size(1)).triu(-2)")])],
        ),
        Mutant(
            name="no_output_projection",
            says="The output projection `w_o` has no influence.",
            asks="What happens to the heads after they are merged?",
            ways=[Way(edits=[Edit("self.w_o(mha.merge_heads(heads))", "mha.merge_heads(heads)")])],
        ),
        Mutant(
            name="merged_wrongly",
            says="The heads are merged in the wrong order: numbers of positions and heads are mixed.",
            asks="Which dimensions must lie side by side before they are flattened?",
            ways=[
                Way(edits=[Edit("mha.merge_heads(heads)", "heads.reshape(x.shape)")]),
            ],
        ),
        Mutant(
            name="split_wrongly",
            says="The split gives each head the wrong numbers.",
            asks="Does head 0 own the first block of numbers, or every h-th one?",
            ways=[
                Way(edits=[
                    Edit("q = mha.split_heads(self.w_q(x), self.num_heads)", "q = self.w_q(x).unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)")]),
            ],
        ),
        Mutant(
            name="keys_as_values",
            says="The keys serve as values.",
            asks="Where is `w_v` used?",
            ways=[
                Way(edits=[Edit("v = mha.split_heads(self.w_v(x)", "v = mha.split_heads(self.w_k(x)")]),
            ],
        ),
        Mutant(
            name="full_keys",
            says="Keys and values have as many heads as the queries: `num_kv_heads` has no influence on "
            "the weights.",
            asks="How many rows has `w_k`?",
            ways=[Way(edits=[
                Edit("self.w_k = nn.Linear(d_model, num_kv_heads * d_k, bias=False)", "self.w_k = nn.Linear(d_model, num_heads * d_k, bias=False)"),
                Edit("self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)", "self.w_v = nn.Linear(d_model, num_heads * d_k, bias=False)")])],
        ),
        Mutant(
            name="biases",
            says="There are biases; the layers of this unit have none.",
            asks="What is the default of `bias` in `nn.Linear`?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, num_heads * d_k, bias=False)", "self.w_q = nn.Linear(d_model, num_heads * d_k)"),
                Edit("self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)", "self.w_o = nn.Linear(num_heads * d_k, d_model)")])],
        ),
        Mutant(
            name="numbers_not_kept",
            says="`num_heads` or `num_kv_heads` is no attribute of your module, or holds another "
            "number.",
            asks="How shall somebody who has only the module split its projections?",
            ways=[Way(edits=[
                Edit("self.num_heads, self.num_kv_heads = num_heads, num_kv_heads", "self.h, self.g = num_heads, num_kv_heads"),
                Edit("self.w_q(x), self.num_heads", "self.w_q(x), self.h"),
                Edit("self.w_k(x), self.num_kv_heads", "self.w_k(x), self.g"),
                Edit("self.w_v(x), self.num_kv_heads", "self.w_v(x), self.g")])],
        ),
        Mutant(
            name="pair_returned",
            says="You return a pair; the output alone is asked for.",
            asks="What does `forward` return, by its docstring?",
            ways=[Way(edits=[
                Edit("heads, _ = grouped", "heads, weights = grouped"),
                Edit("return self.w_o(mha.merge_heads(heads))", "return self.w_o(mha.merge_heads(heads)), weights")])],
        ),
        Mutant(
            name="residual",
            says="x is added to the result; that is the block's business.",
            asks="What does the layer return if all its weights are zero?",
            ways=[Way(edits=[Edit("return self.w_o(", "return x + self.w_o(")])],
        ),

        Mutant(
            name="table_in_the_state",
            says="Something else than the four weights stands in the `state_dict()`: a "
            "table of angles, for example.",
            asks="What does `persistent=False` do in `register_buffer`?",
            ways=[Way(edits=[
                Edit(
                    "self.num_heads, self.num_kv_heads = num_heads, num_kv_heads",
                    """
                    self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
                    self.register_buffer("angles", rotary_angles(64, d_k))
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="by_hand", source="""
            class CausalAttention(nn.Module):
                def __init__(self, d_model, num_heads, num_kv_heads):
                    super().__init__()
                    self.num_kv_heads, self.num_heads = num_kv_heads, num_heads
                    self.d_k = d_model // num_heads
                    self.w_o = nn.Linear(d_model, d_model, bias=False)
                    self.w_v = nn.Linear(d_model, self.d_k * num_kv_heads, bias=False)
                    self.w_k = nn.Linear(d_model, self.d_k * num_kv_heads, bias=False)
                    self.w_q = nn.Linear(d_model, d_model, bias=False)

                def forward(self, x):
                    b, n, d = x.shape
                    q = self.w_q(x).view(b, n, self.num_heads, self.d_k).transpose(1, 2)
                    k = self.w_k(x).view(b, n, self.num_kv_heads, self.d_k).transpose(1, 2)
                    v = self.w_v(x).view(b, n, self.num_kv_heads, self.d_k).transpose(1, 2)
                    angles = rotary_angles(n, self.d_k)
                    out = F.scaled_dot_product_attention(
                        rotate(q, angles), rotate(k, angles), v, is_causal=True, enable_gqa=True)
                    return self.w_o(out.transpose(1, 2).reshape(b, n, d))
            """),
        Accepted(name="fused", edits=[
            Edit("q = mha.split_heads(self.w_q(x), self.num_heads)", """
                every = F.linear(x, torch.cat((self.w_q.weight, self.w_k.weight, self.w_v.weight)))
                sizes = [self.w_q.out_features, self.w_k.out_features, self.w_v.out_features]
                wide, narrow, values = every.split(sizes, dim=-1)
                q = mha.split_heads(wide, self.num_heads)
                """),
            Edit("mha.split_heads(self.w_k(x), self.num_kv_heads)", "mha.split_heads(narrow, self.num_kv_heads)"),
            Edit("mha.split_heads(self.w_v(x), self.num_kv_heads)", "mha.split_heads(values, self.num_kv_heads)")]),
        Accepted(name="kept_table", edits=[
            Edit("self.num_heads, self.num_kv_heads = num_heads, num_kv_heads", """
                self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
                self.register_buffer("angles", rotary_angles(512, d_k), persistent=False)
                """),
            Edit(_ANGLES, "angles = self.angles[: x.size(1)]")]),

        Accepted(name="from_place_one", edits=[
            Edit("rotary_angles(x.size(1), q.size(-1))",
                 "rotary_angles(x.size(1), q.size(-1), 1)"),
        ]),
    ],
)
