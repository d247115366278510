"""The encoder layer."""

from __future__ import annotations

from autograder.bank.encoder_decoder._inputs import ENCODER, layer_inputs
from autograder.oracle.promise import OF_MODULES, Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Mutant,
    Specification,
    Way,
)

EXERCISE = Specification(
    name="encoder_decoder/encoder_layer",
    title="The encoder layer",
    target="EncoderLayer",
    promise=Promise(
        arguments="x: B L d; mask?: L L | B L L | B h L L",
        results="output: B L d",
        on=("post_relu", "pre_gelu"),
        ways=OF_MODULES,
        module=True,
        dropout=("pre_gelu", {"rate": 0.375}),
        sizes=special(
            one_sentence=layer_inputs(ENCODER, 1, 3, 4, 2, 5),
            one_position=layer_inputs(ENCODER, 2, 1, 6, 3, 5),
            one_head=layer_inputs(ENCODER, 2, 3, 4, 1, 5, masks={"mask": "both"}),
            equal_sizes=layer_inputs(ENCODER, 3, 3, 3, 3, 3, masks={"mask": "both"}),
            a_mask_for_each_head=layer_inputs(
                ENCODER, 2, 3, 6, 2, 5, masks={"mask": "heads"}
            ),
        ),
    ),
    cases=[
        CaseKind(
            name="post_relu",
            title="post-norm, ReLU, no mask",
            inputs=layer_inputs(ENCODER, 3, 5, 6, 2, 7, pull=True),
            hint="Follow the data line by line: attention, add & norm 1, network, add "
            "& norm 2.",
        ),
        CaseKind(
            name="pre_gelu",
            title="pre-norm, GELU, a padding mask",
            inputs=layer_inputs(
                ENCODER,
                3,
                4,
                6,
                3,
                5,
                norm_first=True,
                activation="gelu",
                masks={"mask": "padding"},
            ),
            hint="In pre-norm the attention sees the normalised x only: three times "
            "the same.",
        ),
        CaseKind(
            name="post_padding",
            title="post-norm, a padding mask with a dimension for heads",
            inputs=layer_inputs(
                ENCODER, 2, 5, 8, 4, 3, norm_first=False, masks={"mask": "padding, 4-D"}
            ),
            hint="Does the mask reach the attention?",
        ),
        CaseKind(
            name="pre_causal",
            title="pre-norm, a causal mask, with a gradient",
            inputs=layer_inputs(
                ENCODER,
                2,
                6,
                4,
                2,
                5,
                norm_first=True,
                masks={"mask": "causal"},
                pull=True,
            ),
            hint="Does the mask reach the attention?",
        ),
        CaseKind(
            name="dropout",
            title="both branches dropped in training",
            inputs=layer_inputs(ENCODER, 2, 3, 6, 2, 5, norm_first=True, rate=1.0),
            hint="If each branch is dropped, the road alone is left. What comes out "
            "then?",
        ),
        CaseKind(
            name="dropout_post",
            title="both branches dropped in training, post-norm",
            inputs=layer_inputs(ENCODER, 3, 2, 6, 3, 4, norm_first=False, rate=1.0),
            hint="If each branch is dropped, two norms of the road are left.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="placement_swapped",
            says="Pre-norm and post-norm are exchanged.",
            asks="Do you hand on `norm_first`, or its opposite?",
            ways=[Way(edits=[
                Edit("self.norm_first = norm_first",
                     "self.norm_first = not norm_first"),
            ])],
        ),
        Mutant(
            name="always_post",
            says="Your layer is post-norm, even if `norm_first` is True.",
            asks="Who tells `add_and_norm` about `norm_first`?",
            ways=[Way(edits=[
                Edit("self.norm_first = norm_first", "self.norm_first = False"),
            ])],
        ),
        Mutant(
            name="always_pre",
            says="Your layer is pre-norm, even if `norm_first` is False (the default).",
            asks="Who tells `add_and_norm` about `norm_first`?",
            ways=[Way(edits=[
                Edit("self.norm_first = norm_first", "self.norm_first = True"),
            ])],
        ),
        Mutant(
            name="keys_not_normed",
            says="In pre-norm only the query is normalised; key and value are the "
            "layer's raw input.",
            asks="Inside your little function, do all three come from its *argument*?",
            ways=[Way(edits=[
                Edit(
                    """
                    def attend(x: Tensor) -> Tensor:
                        return self.attention(x, x, x, mask)[0]
                    """,
                    """
                    def attend(y: Tensor) -> Tensor:
                        return self.attention(y, x, x, mask)[0]
                    """,
                ),
                Edit("x = add_and_norm(x, attend,", "z = add_and_norm(x, attend,"),
                Edit("            x, self.feed_forward",
                     "            z, self.feed_forward"),
            ])],
        ),
        Mutant(
            name="mask_ignored",
            says="The mask does not reach the attention: masked positions move "
            "outputs.",
            asks="Which argument of the attention is missing?",
            ways=[Way(edits=[Edit("(x, x, x, mask)", "(x, x, x)")])],
        ),
        Mutant(
            name="mask_inverted",
            says="The mask is turned round: exactly the forbidden positions are seen.",
            asks='In this course, does True mean "may" or "may not"?',
            ways=[Way(edits=[
                Edit("(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)"),
            ])],
        ),
        Mutant(
            name="no_feed_forward",
            says="The feed-forward network is not used.",
            asks="How many sublayers has an encoder layer?",
            ways=[Way(edits=[
                Edit(
                    """
                    return add_and_norm(
                        x, self.feed_forward, self.norm2, self.dropout, self.norm_first
                    )
                    """,
                    "return x",
                ),
            ])],
        ),
        Mutant(
            name="no_attention",
            says="The attention is not used: no position listens to another one.",
            asks="How many sublayers has an encoder layer?",
            ways=[
                Way(edits=[
                    Edit("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)",
                         ""),
                ]),
                Way(name="first_lost", edits=[
                    Edit("x = add_and_norm(x, attend,", "_ = add_and_norm(x, attend,"),
                ]),
            ],
        ),
        Mutant(
            name="feed_forward_first",
            says="The feed-forward network comes before the attention.",
            asks="First listen, then think: which is which?",
            ways=[Way(edits=[
                Edit("x = add_and_norm(x, attend, self.norm1,",
                     "x = add_and_norm(x, self.feed_forward, self.norm2,"),
                Edit("            x, self.feed_forward, self.norm2,",
                     "            x, attend, self.norm1,"),
            ])],
        ),
        Mutant(
            name="parallel",
            says="Both sublayers start from the layer's input. The network should get "
            "what the attention has made of it.",
            asks="Which `x` do you hand to the second `add_and_norm`?",
            ways=[Way(edits=[
                Edit("x = add_and_norm(x, attend,", "y = add_and_norm(x, attend,"),
                Edit("return add_and_norm(", "return y - x + add_and_norm("),
            ])],
        ),
        Mutant(
            name="one_norm",
            says="There is one norm for both sublayers; each needs its own.",
            asks="How many LayerNorms are among the layer's names?",
            ways=[Way(edits=[
                Edit("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1"),
            ])],
        ),
        Mutant(
            name="norms_swapped",
            says="`norm1` and `norm2` are exchanged.",
            asks="Which one belongs to the attention?",
            ways=[Way(edits=[
                Edit("attend, self.norm1", "attend, self.norm2"),
                Edit("self.feed_forward, self.norm2", "self.feed_forward, self.norm1"),
            ])],
        ),
        Mutant(
            name="norm1_twice",
            says="`norm1` is used for both sublayers, and `norm2` for none.",
            asks="Which norm belongs to the feed-forward network?",
            ways=[Way(edits=[
                Edit("self.feed_forward, self.norm2", "self.feed_forward, self.norm1"),
            ])],
        ),
        Mutant(
            name="batch_norm",
            says="The norm is not a `LayerNorm` over the features of one position.",
            asks="Over which numbers is the mean to be taken?",
            ways=[Way(source="""
                class EncoderLayer(EncoderLayer):
                    def __init__(self, *args, **kwargs):
                        super().__init__(*args, **kwargs)
                        for norm in (self.norm1, self.norm2):
                            norm.forward = lambda x, n=norm: (x - x.mean((0, 1))) / (
                                x.var((0, 1), False) + 1e-5) ** 0.5 * n.weight + n.bias
                """)],
        ),
        Mutant(
            name="norm_over_sentence",
            says="Your norm takes its mean over the whole sentence, so positions move "
            "each other.",
            asks="`nn.LayerNorm(d_model)` works on the last dimension. Does yours?",
            ways=[Way(source="""
                class EncoderLayer(EncoderLayer):
                    def __init__(self, *args, **kwargs):
                        super().__init__(*args, **kwargs)
                        for norm in (self.norm1, self.norm2):
                            norm.forward = lambda x, n=norm: n.weight * torch.nn.functional.layer_norm(x, x.shape[1:]) + n.bias
                """)],
        ),
        Mutant(
            name="unbiased_std",
            says="Your own LayerNorm divides by the unbiased standard deviation; the "
            "formula's divides by the number of features.",
            asks="What is the default of `torch.std`?",
            ways=[Way(source="""
                class EncoderLayer(EncoderLayer):
                    def __init__(self, *args, **kwargs):
                        super().__init__(*args, **kwargs)
                        for norm in (self.norm1, self.norm2):
                            norm.forward = lambda x, n=norm: n.bias + n.weight * (
                                x - x.mean(-1, True)) / (x.std(-1, keepdim=True) + 1e-6)
                """)],
        ),
        Mutant(
            name="activation_ignored",
            says="`activation` does not reach the feed-forward network.",
            asks="Which arguments does `FeedForward` take?",
            ways=[Way(edits=[
                Edit("FeedForward(d_model, d_ff, dropout, activation)",
                     "FeedForward(d_model, d_ff, dropout)"),
            ])],
        ),
        Mutant(
            name="one_head",
            says="The number of heads does not reach the attention: there is one head.",
            asks="What do you hand to `MultiHeadAttention`?",
            ways=[Way(edits=[
                Edit("d_model, num_heads, dropout", "d_model, 1, dropout"),
            ])],
        ),
        Mutant(
            name="returns_tuple",
            says="Your layer returns a tuple. The next layer of the stack wants a "
            "tensor.",
            asks="Attention returns two things. Which one goes on?",
            ways=[Way(edits=[
                Edit(
                    """
                    return add_and_norm(
                        x, self.feed_forward, self.norm2, self.dropout, self.norm_first
                    )
                    """,
                    """
                    return add_and_norm(
                        x, self.feed_forward, self.norm2, self.dropout, self.norm_first
                    ), None
                    """,
                ),
            ])],
        ),
        Mutant(
            name="unpacks_wrongly",
            says="You add the pair that the attention returns; only its first part is "
            "a vector for each position.",
            asks="What does `MultiHeadAttention` return?",
            ways=[Way(edits=[Edit("(x, x, x, mask)[0]", "(x, x, x, mask)")])],
        ),
        Mutant(
            name="residual_missing_1",
            says="The residual connection around the attention is missing.",
            asks="If the attention returned zero, what should come out of it?",
            ways=[Way(edits=[
                Edit(
                    "x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)",
                    """
                    y = self.norm1(x) if self.norm_first else x
                    y = self.dropout(attend(y))
                    x = y if self.norm_first else self.norm1(y)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="residual_missing_2",
            says="The residual connection around the feed-forward network is missing.",
            asks="If the network returned zero, what should come out of it?",
            ways=[Way(edits=[
                Edit(
                    """
                    return add_and_norm(
                        x, self.feed_forward, self.norm2, self.dropout, self.norm_first
                    )
                    """,
                    """
                    y = self.norm2(x) if self.norm_first else x
                    y = self.dropout(self.feed_forward(y))
                    return y if self.norm_first else self.norm2(y)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="no_branch_dropout",
            says="In training, the branches are not dropped.",
            asks="Three places get dropout. Which ones does your code reach?",
            ways=[Way(edits=[
                Edit("self.dropout = nn.Dropout(dropout)",
                     "self.dropout = nn.Identity()"),
            ])],
        ),
        Mutant(
            name="dropout_outside",
            says="Dropout stands on the road: with everything dropped, even `x` is "
            "lost.",
            asks="What is dropped: the branch, or the sum?",
            ways=[Way(edits=[
                Edit("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)",
                     "x = self.dropout(add_and_norm(x, attend, self.norm1, nn.Identity(), self.norm_first))"),
                Edit(
                    """
                    return add_and_norm(
                        x, self.feed_forward, self.norm2, self.dropout, self.norm_first
                    )
                    """,
                    """
                    return self.dropout(add_and_norm(
                        x, self.feed_forward, self.norm2, nn.Identity(), self.norm_first))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="final_norm",
            says="There is one norm too many, at the end of the layer.",
            asks="The final norm belongs to the stack. How many has a layer?",
            ways=[Way(edits=[
                Edit(
                    """
                    return add_and_norm(
                        x, self.feed_forward, self.norm2, self.dropout, self.norm_first
                    )
                    """,
                    """
                    return self.norm2(add_and_norm(
                        x, self.feed_forward, self.norm2, self.dropout, self.norm_first))
                    """,
                ),
            ])],
        ),
        Mutant(
            name="detached",
            says="The values are right, but no gradient flows back through your layer.",
            asks="Is there a `detach()`, `.data` or `no_grad` on the way?",
            ways=[Way(edits=[
                Edit(
                    "def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:",
                    """
                    @torch.no_grad()
                    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
                    """,
                ),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="spelt_out", source="""
            class EncoderLayer(nn.Module):
                def __init__(self, d_model, num_heads, d_ff, dropout=0.0,
                             norm_first=False, activation='relu'):
                    super().__init__()
                    self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
                    self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
                    self.attention = multi_head_attention.MultiHeadAttention(
                        d_model, num_heads, dropout)
                    self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)
                    self.pre = norm_first
                def forward(self, x, mask=None):
                    if self.pre:
                        y = self.norm1(x)
                        attended, weights = self.attention(y, y, y, mask)
                        x = x + self.drop1(attended)
                        return x + self.drop2(self.feed_forward(self.norm2(x)))
                    attended, weights = self.attention(x, x, x, mask=mask)
                    x = self.norm1(x + self.drop1(attended))
                    return self.norm2(x + self.drop2(self.feed_forward(x)))
            """),
        Accepted(name="lambda", edits=[
            Edit(
                """
                def attend(x: Tensor) -> Tensor:
                    return self.attention(x, x, x, mask)[0]
                """,
                "attend = lambda y: self.attention(y, y, y, mask)[0]",
            ),
        ]),
        Accepted(name="keywords", edits=[
            Edit("self.attention(x, x, x, mask)",
                 "self.attention(query=x, key=x, value=x, mask=mask)"),
        ]),
        Accepted(name="method", edits=[
            Edit(
                """
                def attend(x: Tensor) -> Tensor:
                    return self.attention(x, x, x, mask)[0]  # (B, L, d_model)
                """,
                """
                from functools import partial
                attend = partial(self._attend, mask=mask)
                """,
            ),
            Edit(
                "def forward(",
                """
                def _attend(self, x, mask):
                    return self.attention(x, x, x, mask)[0]

                def forward(
                """,
            ),
        ]),
        Accepted(name="in_place_on_own", source="""
            class EncoderLayer(EncoderLayer):
                def forward(self, x, mask=None):
                    for norm, f in ((self.norm1, lambda y: self.attention(y, y, y, mask)[0]),
                                    (self.norm2, self.feed_forward)):
                        y = norm(x) if self.norm_first else x
                        x = self.dropout(f(y)) + x
                        x = x if self.norm_first else norm(x)
                    return x
            """),
    ],
)
