"""Self-attention."""

from __future__ import annotations

from autograder.bank.attention._inputs import projections
from autograder.bank.inputs import causal_mask, open_mask
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_ATTENTION, Promise, special
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


def _self(
    batch: int,
    length: int,
    d_model: int,
    d_k: int,
    d_v: int,
    mask: str = "",
    pull: bool = False,
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, length, d_model, scale=1.0)}
        made |= projections(draw, d_model, d_model, d_k, d_v)
        if mask == "padding":
            keep = open_mask(draw, batch, 1, length, chance=0.6)
            while keep.sum(-1).min() < 2:  # with one open entry no score matters
                keep = open_mask(draw, batch, 1, length, chance=0.6)
            made["mask"] = keep
        if mask == "causal":
            made["mask"] = causal_mask(length)
        return made | ({"pull": draw.tensor(batch, length, d_v)} if pull else {})

    return inputs


_CALL = "return scaled_dot_product_attention(q, k, v, mask)"
_PROJECT = "q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)"

EXERCISE = Specification(
    name="attention/self_attention",
    title="Self-attention",
    target="SelfAttention",
    promise=Promise(
        arguments="x: B L d; mask?: L L | B L L",
        results="output: B L e; weights: B L L",
        on=("plain", "padding"),
        ways=OF_ATTENTION,
        module=True,
        sizes=special(
            one_sentence=_self(1, 3, 4, 2, 5, mask="padding"),
            one_position=_self(3, 1, 4, 2, 5),
            equal_sizes=_self(3, 3, 3, 3, 3, mask="causal"),
            d_model_of_one=_self(2, 3, 1, 4, 5),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="2 sentences of 4 words, d_model 5, d_k 3, d_v 6",
            inputs=_self(2, 4, 5, 3, 6),
            hint="Each linear layer reads x; d_k and d_v may differ.",
        ),
        CaseKind(
            name="padding",
            title="a padding mask for each of 3 sentences",
            inputs=_self(3, 5, 4, 2, 7, mask="padding"),
            hint="The mask is handed on to attention as it is.",
            aspect="masks",
        ),
        CaseKind(
            name="causal",
            title="a causal mask: who sees whom",
            inputs=_self(2, 6, 3, 5, 4, mask="causal"),
            hint="The mask is handed on to attention as it is.",
            aspect="masks",
        ),
        CaseKind(
            name="gradient",
            title="the gradient reaches x",
            inputs=_self(3, 2, 6, 4, 5, pull=True),
            hint="Gradients flow through queries, keys and values alike.",
        ),
        CaseKind(
            name="one_word",
            title="d_k of 1 and a single sentence",
            inputs=_self(1, 3, 7, 1, 2, mask="padding"),
            hint="No size is special.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[
        Mutant(
            name="query_key_swapped",
            says="Queries and keys have changed places on their way into attention.",
            asks="In which order does your attention take its arguments?",
            ways=[
                Way(edits=[Edit("(q, k, v, mask)", "(k, q, v, mask)")]),
                Way(name="projections_swapped", edits=[
                    Edit(_PROJECT, "q, k, v = self.w_k(x), self.w_q(x), self.w_v(x)"),
                ]),
            ],
        ),
        Mutant(
            name="queries_as_keys",
            says="Queries and keys come from the same layer: `w_k` is never used.",
            asks="What a word looks for and what it offers: should they be the same?",
            ways=[Way(edits=[Edit("self.w_k(x)", "self.w_q(x)")])],
        ),
        Mutant(
            name="keys_as_queries",
            says="Queries and keys come from the same layer: `w_q` is never used.",
            asks="What a word looks for and what it offers: should they be the same?",
            ways=[Way(edits=[Edit("self.w_q(x)", "self.w_k(x)")])],
        ),
        Mutant(
            name="keys_as_values",
            says="The keys are handed out as values; `w_v` plays no part.",
            asks="What size has the output, and which layer gives that size?",
            ways=[Way(edits=[Edit("(q, k, v, mask)", "(q, k, k, mask)")])],
        ),
        Mutant(
            name="inputs_as_values",
            says="The input itself is handed out as values; `w_v` plays no part.",
            asks="Which of your three layers is never used?",
            ways=[Way(edits=[Edit("(q, k, v, mask)", "(q, k, x, mask)")])],
        ),
        Mutant(
            name="inputs_compared",
            says="The inputs themselves are compared; `w_q` and `w_k` play no part.",
            asks="Which of your three layers are never used?",
            ways=[Way(edits=[Edit("(q, k, v, mask)", "(x, x, v, mask)")])],
        ),
        Mutant(
            name="mask_dropped",
            says="The mask never reaches attention.",
            asks="How many arguments does your attention take?",
            ways=[
                Way(edits=[Edit("(q, k, v, mask)", "(q, k, v)")]),
                Way(name="mask_none", edits=[
                    Edit("(q, k, v, mask)", "(q, k, v, mask=None)"),
                ]),
            ],
        ),
        Mutant(
            name="mask_in_training_only",
            says="The mask is used in training only.",
            asks="Does it depend on the mode who may see whom?",
            ways=[Way(edits=[
                Edit("(q, k, v, mask)", "(q, k, v, mask if self.training else None)"),
            ])],
        ),
        Mutant(
            name="mask_inverted",
            says="The mask is inverted on its way: closed becomes open.",
            asks="Do both functions agree on what `True` means?",
            ways=[Way(edits=[
                Edit("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)"),
            ])],
        ),
        Mutant(
            name="always_causal",
            says="Your layer is always causal, whatever mask it is given.",
            asks="Who decides which mask is used?",
            ways=[Way(edits=[
                Edit("(q, k, v, mask)",
                     "(q, k, v, torch.ones(x.size(1), x.size(1)).tril().bool())"),
            ])],
        ),
        Mutant(
            name="output_only",
            says="You returned the output alone; the weights are wanted, too.",
            asks="What does your attention return, and what does the docstring want?",
            ways=[Way(edits=[
                Edit(_CALL, "return scaled_dot_product_attention(q, k, v, mask)[0]"),
            ])],
        ),
        Mutant(
            name="weights_first",
            says="Both results are there, but in the wrong order: output first, then "
            "weights.",
            asks="What does the docstring say comes first?",
            ways=[Way(edits=[
                Edit(_CALL, "return scaled_dot_product_attention(q, k, v, mask)[::-1]"),
            ])],
        ),
        Mutant(
            name="weights_averaged",
            says="The weights lost a dimension: `(B, L, L)` is wanted, a map for each "
            "sentence.",
            asks="Is there a mean or an index too many?",
            ways=[Way(edits=[
                Edit(
                    _CALL,
                    """
                    o, w = scaled_dot_product_attention(q, k, v, mask)
                    return o, w.mean(0)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="residual",
            says="You added the values to the output: a residual, which nobody asked "
            "for yet.",
            asks="What does the docstring say `forward` returns?",
            ways=[Way(edits=[
                Edit(
                    _CALL,
                    """
                    o, w = scaled_dot_product_attention(q, k, v, mask)
                    return o + v, w
                    """,
                ),
            ])],
        ),
        Mutant(
            name="normalised",
            says="The output is normalised: there is a layer norm which nobody asked "
            "for yet.",
            asks="What does the docstring say `forward` returns?",
            ways=[Way(edits=[
                Edit(
                    _CALL,
                    """
                    o, w = scaled_dot_product_attention(q, k, v, mask)
                    return F.layer_norm(o, o.shape[-1:]), w
                    """,
                ),
            ])],
        ),
        Mutant(
            name="activation",
            says="The projections pass through a ReLU: negative numbers are gone.",
            asks="What is between a linear layer and attention in the formula?",
            ways=[Way(edits=[
                Edit(
                    _PROJECT,
                    """
                    q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
                    q, k, v = q.relu(), k.relu(), v.relu()
                    """,
                ),
            ])],
        ),
        Mutant(
            name="output_projection",
            says="There is one more layer, an output projection. It comes with the "
            "heads in unit 3, not here.",
            asks="How many linear layers does the text ask for?",
            ways=[Way(edits=[
                Edit(
                    "self.w_v = nn.Linear(d_model, d_v)",
                    """
                    self.w_v = nn.Linear(d_model, d_v)
                    self.w_o = nn.Linear(d_v, d_v)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="value_size",
            says="`w_v` has the size of the keys. Values have a size of their own, "
            "`d_v`.",
            asks="Which size must the output have?",
            ways=[Way(edits=[
                Edit("nn.Linear(d_model, d_v)", "nn.Linear(d_model, d_k)"),
            ])],
        ),
        Mutant(
            name="key_size",
            says="`w_q` and `w_k` have the size of the values, `d_v`, not `d_k`.",
            asks="Which size do queries and keys share?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, d_k)",
                     "self.w_q = nn.Linear(d_model, d_v)"),
                Edit("self.w_k = nn.Linear(d_model, d_k)",
                     "self.w_k = nn.Linear(d_model, d_v)"),
            ])],
        ),
        Mutant(
            name="model_size",
            says="Your layers keep the size `d_model`. They should lead to `d_k`, "
            "`d_k` and `d_v`.",
            asks="What are the two arguments of `nn.Linear`?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, d_k)",
                     "self.w_q = nn.Linear(d_model, d_model)"),
                Edit("self.w_k = nn.Linear(d_model, d_k)",
                     "self.w_k = nn.Linear(d_model, d_model)"),
                Edit("self.w_v = nn.Linear(d_model, d_v)",
                     "self.w_v = nn.Linear(d_model, d_model)"),
            ])],
        ),
        Mutant(
            name="sizes_turned",
            says="The sizes of your layers are the wrong way round: from `d_k` to "
            "`d_model`.",
            asks="`nn.Linear(a, b)`: which is the size that comes in?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, d_k)",
                     "self.w_q = nn.Linear(d_k, d_model)"),
                Edit("self.w_k = nn.Linear(d_model, d_k)",
                     "self.w_k = nn.Linear(d_k, d_model)"),
                Edit("self.w_v = nn.Linear(d_model, d_v)",
                     "self.w_v = nn.Linear(d_v, d_model)"),
            ])],
        ),
        Mutant(
            name="no_bias",
            says="Your linear layers have no bias. Here they have one, PyTorch's "
            "default.",
            asks="Which argument of `nn.Linear` did you set?",
            ways=[Way(edits=[
                Edit("self.w_q = nn.Linear(d_model, d_k)",
                     "self.w_q = nn.Linear(d_model, d_k, bias=False)"),
                Edit("self.w_k = nn.Linear(d_model, d_k)",
                     "self.w_k = nn.Linear(d_model, d_k, bias=False)"),
                Edit("self.w_v = nn.Linear(d_model, d_v)",
                     "self.w_v = nn.Linear(d_model, d_v, bias=False)"),
            ])],
        ),
        Mutant(
            name="other_names",
            says="Your layers have other names than `w_q`, `w_k` and `w_v`, so no "
            "weights can be loaded into them.",
            asks="What names does the text give?",
            ways=[Way(source="""
                class SelfAttention(nn.Module):
                    def __init__(self, d_model, d_k, d_v):
                        super().__init__()
                        self.query = nn.Linear(d_model, d_k)
                        self.key = nn.Linear(d_model, d_k)
                        self.value = nn.Linear(d_model, d_v)

                    def forward(self, x, mask=None):
                        q, k, v = self.query(x), self.key(x), self.value(x)
                        return scaled_dot_product_attention(q, k, v, mask)
                """)],
        ),
        Mutant(
            name="plain_list",
            says="PyTorch cannot see your layers: they lie in a plain Python list (or "
            "are made anew in `forward`). Such layers never learn.",
            asks="What does `list(layer.parameters())` show?",
            ways=[
                Way(source="""
                    class SelfAttention(nn.Module):
                        def __init__(self, d_model, d_k, d_v):
                            super().__init__()
                            self.layers = [nn.Linear(d_model, d) for d in (d_k, d_k, d_v)]

                        def forward(self, x, mask=None):
                            q, k, v = (layer(x) for layer in self.layers)
                            return scaled_dot_product_attention(q, k, v, mask)
                    """),
                Way(name="made_in_forward", source="""
                    class SelfAttention(nn.Module):
                        def __init__(self, d_model, d_k, d_v):
                            super().__init__()
                            self.sizes = d_model, d_k, d_v

                        def forward(self, x, mask=None):
                            d_model, d_k, d_v = self.sizes
                            q, k, v = (nn.Linear(d_model, d)(x) for d in (d_k, d_k, d_v))
                            return scaled_dot_product_attention(q, k, v, mask)
                    """),
            ],
        ),
        Mutant(
            name="sequence_first",
            says="Your layer takes the positions for the batch: sentences attend to "
            "each other at the same position.",
            asks="Batch first: which dimension holds the words?",
            ways=[Way(edits=[
                Edit(_PROJECT,
                     "q, k, v = (w(x.transpose(0, 1)) for w in (self.w_q, self.w_k, self.w_v))"),
                Edit(
                    _CALL,
                    """
                    o, w = scaled_dot_product_attention(q, k, v)
                    return o.transpose(0, 1), w
                    """,
                ),
            ])],
        ),
        Mutant(
            name="batch_flattened",
            says="You joined all sentences into one long sequence, so words see other "
            "sentences.",
            asks="What shape do your weights have? `(B, L, L)` is wanted.",
            ways=[Way(edits=[
                Edit(_PROJECT,
                     "q, k, v = (w(x.flatten(0, 1)) for w in (self.w_q, self.w_k, self.w_v))"),
                Edit(
                    _CALL,
                    """
                    o, w = scaled_dot_product_attention(q, k, v)
                    return o.unflatten(0, x.shape[:2]), w
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_gradient",
            says="The numbers are right, but no gradient comes back to the input.",
            asks="Is there a `detach` or `no_grad` in your `forward`?",
            ways=[Way(edits=[
                Edit("self.w_q(x), self.w_k(x), self.w_v(x)",
                     "self.w_q(x.detach()), self.w_k(x.detach()), self.w_v(x.detach())"),
            ])],
        ),
        Mutant(
            name="dropout",
            says="Some numbers are zeroed by chance, even in evaluation: a dropout "
            "which nobody asked for.",
            asks="Does your layer give the same result twice?",
            ways=[Way(edits=[Edit("self.w_v(x)", "F.dropout(self.w_v(x), 0.3)")])],
        ),
        Mutant(
            name="scaled_by_model",
            says="The scores are scaled by the root of `d_model`, not of `d_k`.",
            asks="Which vectors are compared, and what is their size?",
            ways=[Way(edits=[
                Edit("self.w_q(x)",
                     "self.w_q(x) * (self.w_q.out_features / self.w_q.in_features) ** 0.5"),
            ])],
        ),
        Mutant(
            name="nothing_returned",
            says="`forward` computes, but returns nothing.",
            asks="Which line hands the result to the caller?",
            ways=[Way(edits=[
                Edit(_CALL, "scaled_dot_product_attention(q, k, v, mask)"),
            ])],
        ),
        Mutant(
            name="no_super",
            says="`super().__init__()` is missing, so the module cannot hold layers.",
            asks="What does the first line of the skeleton's `__init__` do?",
            ways=[Way(edits=[Edit("super().__init__()", "pass")])],
        ),
        Mutant(
            name="starts_at_zero",
            says="`w_q` starts with zeros: at first every score is the same, and the keys "
            "get no gradient.",
            asks="What does `nn.Linear` do about its first weights, and why?",
            ways=[
                Way(edits=[
                    Edit("self.w_v = nn.Linear(d_model, d_v)",
                         "self.w_v = nn.Linear(d_model, d_v); nn.init.zeros_(self.w_q.weight)"),
                ]),
            ],
        ),
        Mutant(
            name="starts_alike",
            says="`w_k` starts as a copy of `w_q`: each word then finds itself the most "
            "interesting.",
            asks="Which layers should be alike before anything is learnt?",
            ways=[Way(edits=[
                Edit("self.w_v = nn.Linear(d_model, d_v)",
                     "self.w_v = nn.Linear(d_model, d_v); self.w_k.load_state_dict(self.w_q.state_dict())"),
            ])],
        ),
        Mutant(
            name="starts_large",
            says="`w_v` starts with numbers that are far too large.",
            asks="How large are the numbers that `nn.Linear` starts with?",
            ways=[Way(edits=[
                Edit("self.w_v = nn.Linear(d_model, d_v)",
                     "self.w_v = nn.Linear(d_model, d_v); nn.init.normal_(self.w_v.weight, std=50.0)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="other_order", source="""
            class SelfAttention(nn.Module):
                def __init__(self, d_model, d_k, d_v):
                    super().__init__()
                    self.d_k = d_k
                    self.w_v = nn.Linear(d_model, d_v)
                    self.w_k = nn.Linear(d_model, d_k)
                    self.w_q = nn.Linear(d_model, d_k)
                    nn.init.xavier_uniform_(self.w_q.weight)

                def forward(self, x, mask=None):
                    scores = self.w_q(x) @ self.w_k(x).mT / self.d_k**0.5
                    if mask is not None:
                        scores = scores.masked_fill(~mask, -1e9)
                    weights = scores.softmax(-1)
                    return torch.matmul(weights, self.w_v(x)), weights
            """),
        Accepted(name="fused", source="""
            class SelfAttention(nn.Module):
                def __init__(self, d_model, d_k, d_v):
                    super().__init__()
                    self.w_q, self.w_k = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)
                    self.w_v = nn.Linear(d_model, d_v)

                def forward(self, x, mask=None):
                    layers = (self.w_q, self.w_k, self.w_v)
                    weight = torch.cat([layer.weight for layer in layers])
                    bias = torch.cat([layer.bias for layer in layers])
                    sizes = [layer.out_features for layer in layers]
                    q, k, v = F.linear(x, weight, bias).split(sizes, dim=-1)
                    return scaled_dot_product_attention(q, k, v, mask)
            """),
        Accepted(name="keywords", edits=[
            Edit(
                _CALL,
                """
                out, w = scaled_dot_product_attention(q=q, k=k, v=v, mask=mask)
                return out, w
                """,
            ),
        ]),
        Accepted(name="values_last", source="""
            class SelfAttention(nn.Module):
                def __init__(self, d_model, d_k, d_v):
                    super().__init__()
                    self.w_q = nn.Linear(d_model, d_k)
                    self.w_k = nn.Linear(d_model, d_k)
                    self.w_v = nn.Linear(d_model, d_v)

                def forward(self, x, mask=None):
                    mixed, weights = scaled_dot_product_attention(self.w_q(x), self.w_k(x), x, mask)
                    return self.w_v(mixed), weights
            """),
        Accepted(name="per_sentence", source="""
            class SelfAttention(nn.Module):
                def __init__(self, d_model, d_k, d_v):
                    super().__init__()
                    self.w_q = nn.Linear(d_model, d_k)
                    self.w_k = nn.Linear(d_model, d_k)
                    self.w_v = nn.Linear(d_model, d_v)

                def forward(self, x, mask=None):
                    B, L, _ = x.shape
                    mask = torch.ones(B, L, L).bool() if mask is None else mask.expand(B, L, L)
                    outputs, maps = [], []
                    for sentence, keep in zip(x, mask):
                        q, k, v = self.w_q(sentence), self.w_k(sentence), self.w_v(sentence)
                        o, w = scaled_dot_product_attention(q, k, v, keep)
                        outputs.append(o)
                        maps.append(w)
                    return torch.stack(outputs), torch.stack(maps)
            """),
        Accepted(name="parameters_and_einsum", source="""
            class SelfAttention(nn.Module):
                def __init__(self, d_model, d_k, d_v):
                    super().__init__()
                    for name, size in (("w_q", d_k), ("w_k", d_k), ("w_v", d_v)):
                        self.add_module(name, nn.Linear(d_model, size))

                def forward(self, x, mask=None):
                    scores = torch.einsum("bid,bjd->bij", self.w_q(x), self.w_k(x))
                    scores = scores * self.w_q.out_features ** -0.5
                    if mask is not None:
                        scores = scores + torch.log(mask.to(scores.dtype))
                    weights = torch.softmax(scores, dim=2)
                    return torch.einsum("bij,bjd->bid", weights, self.w_v(x)), weights
            """),
    ],
)
