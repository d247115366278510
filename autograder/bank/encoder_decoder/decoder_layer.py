"""The decoder layer."""

from __future__ import annotations

from autograder.bank.encoder_decoder._inputs import DECODER, layer_inputs
from autograder.oracle.promise import OF_MODULES, Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Mutant,
    Specification,
    Way,
)

_BOTH = {"tgt_mask": "causal", "memory_mask": "padding"}
_LOOK_UP = "self.cross_attention(x, memory, memory, memory_mask)"
_LINE_1 = "x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)"
_LINE_2 = "x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)"

EXERCISE = Specification(
    name="encoder_decoder/decoder_layer",
    title="The decoder layer",
    target="DecoderLayer",
    promise=Promise(
        arguments=(
            "x: B Lt d; memory: B Ls d; tgt_mask?: Lt Lt | B Lt Lt | B h Lt Lt; "
            "memory_mask?: Lt Ls | B Lt Ls | B h Lt Ls"
        ),
        results="output: B Lt d",
        on=("post_relu", "pre_both"),
        ways=OF_MODULES,
        module=True,
        dropout=("pre_both", {"rate": 0.375}),
        sizes=special(
            one_sentence=layer_inputs(DECODER, 1, 3, 4, 2, 5, ls=2),
            one_position=layer_inputs(DECODER, 2, 1, 6, 3, 5, ls=4),
            one_memory_position=layer_inputs(DECODER, 2, 3, 6, 3, 5, ls=1),
            equal_sizes=layer_inputs(
                DECODER,
                3,
                3,
                3,
                3,
                3,
                ls=3,
                masks={"tgt_mask": "both", "memory_mask": "padding"},
            ),
            masks_for_each_head=layer_inputs(
                DECODER,
                2,
                3,
                6,
                2,
                5,
                ls=4,
                masks={"tgt_mask": "heads", "memory_mask": "heads"},
            ),
            a_mask_for_the_memory_only=layer_inputs(
                DECODER, 3, 4, 6, 2, 5, ls=5, masks={"memory_mask": "padding"}
            ),
            a_mask_for_the_target_only=layer_inputs(
                DECODER, 2, 5, 6, 3, 4, ls=3, masks={"tgt_mask": "causal"}
            ),
            masks_of_two_dimensions=layer_inputs(
                DECODER,
                2,
                3,
                4,
                2,
                5,
                ls=5,
                masks={"tgt_mask": "causal", "memory_mask": "plain"},
            ),
        ),
    ),
    cases=[
        CaseKind(
            name="post_relu",
            title="post-norm, ReLU, no masks",
            inputs=layer_inputs(DECODER, 3, 4, 6, 2, 7, ls=5, pull=True),
            hint="Follow the data: self-attention, cross-attention, network, each with "
            "its norm.",
        ),
        CaseKind(
            name="pre_both",
            title="pre-norm, GELU, causal mask and source padding",
            inputs=layer_inputs(
                DECODER,
                3,
                5,
                6,
                3,
                4,
                ls=7,
                norm_first=True,
                activation="gelu",
                masks=_BOTH,
            ),
            hint="Which mask belongs to which attention?",
        ),
        CaseKind(
            name="post_both",
            title="post-norm, causal mask, source padding with a dimension for heads",
            inputs=layer_inputs(
                DECODER,
                2,
                6,
                8,
                4,
                5,
                ls=3,
                norm_first=False,
                masks={"tgt_mask": "causal", "memory_mask": "padding, 4-D"},
            ),
            hint="Which mask belongs to which attention?",
        ),
        CaseKind(
            name="square",
            title="pre-norm, as many target positions as source positions",
            inputs=layer_inputs(
                DECODER,
                3,
                4,
                6,
                2,
                5,
                ls=4,
                norm_first=True,
                masks={"tgt_mask": "both", "memory_mask": "padding"},
                pull=True,
            ),
            hint="With equal lengths, exchanged masks or sequences raise no error.",
        ),
        CaseKind(
            name="dropout",
            title="all branches dropped in training",
            inputs=layer_inputs(
                DECODER, 2, 3, 6, 2, 5, ls=4, norm_first=True, rate=1.0
            ),
            hint="If each branch is dropped, the road alone is left. What comes out "
            "then?",
        ),
        CaseKind(
            name="one_token",
            title="a target of one token, post-norm",
            inputs=layer_inputs(
                DECODER,
                4,
                1,
                6,
                3,
                5,
                ls=7,
                norm_first=False,
                activation="gelu",
                masks={"memory_mask": "padding"},
            ),
            hint="Does your layer need a target mask?",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="no_causal_mask",
            says="The target mask does not reach the self-attention: each position "
            "sees its future.",
            asks="Which argument of the self-attention is missing?",
            ways=[Way(edits=[Edit("(x, x, x, tgt_mask)", "(x, x, x)")])],
        ),
        Mutant(
            name="memory_mask_ignored",
            says="The mask of the memory is not used: source padding moves the output.",
            asks="Which argument of the cross-attention is missing?",
            ways=[Way(edits=[
                Edit(_LOOK_UP, "self.cross_attention(x, memory, memory)"),
            ])],
        ),
        Mutant(
            name="masks_swapped",
            says="The two masks are exchanged.",
            asks="Which one has a column for each position of the *source*?",
            ways=[Way(edits=[
                Edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)"),
                Edit("memory, memory, memory_mask)", "memory, memory, tgt_mask)"),
            ])],
        ),
        Mutant(
            name="causal_on_memory",
            says="The target mask is used on the memory, too. The source is known as a "
            "whole.",
            asks="May the first target word look at the last source word?",
            ways=[Way(edits=[
                Edit("memory, memory, memory_mask)", "memory, memory, tgt_mask)"),
            ])],
        ),
        Mutant(
            name="tgt_mask_from_memory",
            says="The self-attention gets the mask of the memory.",
            asks="Which of the two masks has a column for each position of the "
            "*target*?",
            ways=[Way(edits=[Edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)")])],
        ),
        Mutant(
            name="memory_asks",
            says="In cross-attention the memory asks and the target answers. It should "
            "be the other way round.",
            asks="For whom is one vector to come out: for each source position, or for "
            "each target position?",
            ways=[Way(edits=[
                Edit(_LOOK_UP,
                     "self.cross_attention(memory, x, x, None if memory_mask is None else memory_mask.transpose(-2, -1))"),
            ])],
        ),
        Mutant(
            name="values_from_target",
            says="In cross-attention the keys come from the memory, but the values "
            "from the target.",
            asks="What should a target position receive, if not something of the "
            "source?",
            ways=[Way(edits=[
                Edit(_LOOK_UP, "self.cross_attention(x, memory, x, memory_mask)"),
            ])],
        ),
        Mutant(
            name="keys_from_target",
            says="In cross-attention the values come from the memory, but the keys "
            "from the target.",
            asks="With what are the queries to be compared?",
            ways=[Way(edits=[
                Edit(_LOOK_UP, "self.cross_attention(x, x, memory, memory_mask)"),
            ])],
        ),
        Mutant(
            name="cross_on_itself",
            says="The cross-attention looks at the target, so the memory has no "
            "influence.",
            asks="Where does `memory` occur in your code?",
            ways=[Way(edits=[
                Edit(_LOOK_UP, "self.cross_attention(x, x, x, tgt_mask)"),
            ])],
        ),
        Mutant(
            name="cross_skipped",
            says="The cross-attention is not used, so the memory has no influence.",
            asks="How many sublayers has a decoder layer?",
            ways=[Way(edits=[Edit(_LINE_2, "")])],
        ),
        Mutant(
            name="self_skipped",
            says="The self-attention is not used: a target position knows nothing of "
            "earlier ones.",
            asks="How many sublayers has a decoder layer?",
            ways=[Way(edits=[Edit(_LINE_1, "")])],
        ),
        Mutant(
            name="self_on_memory",
            says="Both attentions look at the memory; none looks at the target.",
            asks="Who listens to the words that were written so far?",
            ways=[Way(edits=[
                Edit("(x, x, x, tgt_mask)", "(x, memory, memory, memory_mask)"),
            ])],
        ),
        Mutant(
            name="cross_first",
            says="Cross-attention comes before self-attention.",
            asks="In which order do the three sublayers stand?",
            ways=[Way(edits=[
                Edit(
                    """
                    x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
                    x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
                    """,
                    """
                    x = add_and_norm(x, look_up, self.norm1, self.dropout, self.norm_first)
                    x = add_and_norm(x, attend, self.norm2, self.dropout, self.norm_first)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="cross_first_own_norms",
            says="Cross-attention comes before self-attention (each with its right "
            "norm).",
            asks="In which order do the three sublayers stand?",
            ways=[Way(edits=[
                Edit(
                    """
                    x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
                    x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
                    """,
                    """
                    x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
                    x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="feed_forward_between",
            says="The feed-forward network comes before the cross-attention.",
            asks="In which order do the three sublayers stand?",
            ways=[Way(edits=[
                Edit(_LINE_2,
                     "x = add_and_norm(x, self.feed_forward, self.norm3, self.dropout, self.norm_first)"),
                Edit("            x, self.feed_forward, self.norm3,",
                     "            x, look_up, self.norm2,"),
            ])],
        ),
        Mutant(
            name="no_feed_forward",
            says="The feed-forward network is not used.",
            asks="How many sublayers has a decoder layer?",
            ways=[Way(edits=[
                Edit(
                    """
                    return add_and_norm(
                        x, self.feed_forward, self.norm3, self.dropout, self.norm_first
                    )
                    """,
                    "return x",
                ),
            ])],
        ),
        Mutant(
            name="attentions_swapped",
            says="The two attentions are exchanged: `cross_attention` looks at the "
            "target, `self_attention` at the memory.",
            asks="Which name is called in which of your little functions?",
            ways=[Way(edits=[
                Edit("return self.self_attention(x, x, x, tgt_mask)",
                     "return self.cross_attention(x, x, x, tgt_mask)"),
                Edit("return self.cross_attention(x, memory, memory, memory_mask)",
                     "return self.self_attention(x, memory, memory, memory_mask)"),
            ])],
        ),
        Mutant(
            name="one_attention",
            says="One attention does both jobs; each needs its own weights.",
            asks="How many attentions did you create?",
            ways=[Way(edits=[
                Edit("self.cross_attention = attention_class(d_model, num_heads, dropout)",
                     "self.cross_attention = self.self_attention"),
            ])],
        ),
        Mutant(
            name="second_cross",
            says="There are more weights than there should be: a second "
            "cross-attention, or another extra module.",
            asks="Which of your modules is not among the names in the docstring?",
            ways=[Way(edits=[
                Edit(
                    "self.norm_first = norm_first",
                    """
                    self.norm_first = norm_first
                    self.again = attention_class(d_model, num_heads, dropout)
                    """,
                ),
                Edit(
                    _LINE_2,
                    """
                    x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
                    x = add_and_norm(x, lambda y: self.again(y, memory, memory, memory_mask)[0], self.norm2, self.dropout, self.norm_first)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="two_norms",
            says="There are two norms for three sublayers.",
            asks="Does each sublayer have a norm of its own?",
            ways=[Way(edits=[
                Edit("self.norm3 = nn.LayerNorm(d_model)", ""),
                Edit("self.feed_forward, self.norm3", "self.feed_forward, self.norm2"),
            ])],
        ),
        Mutant(
            name="norm2_twice",
            says="`norm2` is used twice and `norm3` never.",
            asks="Which norm belongs to the feed-forward network?",
            ways=[Way(edits=[
                Edit("self.feed_forward, self.norm3", "self.feed_forward, self.norm2"),
            ])],
        ),
        Mutant(
            name="norm1_twice",
            says="`norm1` is used for both attentions.",
            asks="Which norm belongs to the cross-attention?",
            ways=[Way(edits=[Edit("look_up, self.norm2", "look_up, self.norm1")])],
        ),
        Mutant(
            name="residual_from_start",
            says="Around the cross-attention you add the layer's *input*, not what the "
            "self-attention has made of it.",
            asks="Which `x` is added in the second add & norm?",
            ways=[Way(edits=[
                Edit(
                    _LINE_1,
                    """
                    start = x
                    x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
                    """,
                ),
                Edit(
                    _LINE_2,
                    """
                    y = self.dropout(look_up(self.norm2(x) if self.norm_first else x))
                    x = start + y if self.norm_first else self.norm2(start + y)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="query_not_normed",
            says="In pre-norm the cross-attention's query is not normalised.",
            asks="Inside your little function, does the query come from its "
            "*argument*?",
            ways=[Way(edits=[
                Edit(
                    """
                    def look_up(x: Tensor) -> Tensor:
                        return self.cross_attention(x, memory, memory, memory_mask)
                    """,
                    """
                    def look_up(y: Tensor) -> Tensor:
                        return self.cross_attention(x, memory, memory, memory_mask)
                    """,
                ),
            ])],
        ),
        Mutant(
            name="memory_normed",
            says="The memory is normalised again, by the target's norm.",
            asks="Who has normalised the memory already?",
            ways=[Way(edits=[
                Edit(_LOOK_UP,
                     "self.cross_attention(x, self.norm2(memory), self.norm2(memory), memory_mask)"),
            ])],
        ),
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
            name="tgt_mask_inverted",
            says="The target mask is turned round: exactly the forbidden positions are "
            "seen.",
            asks='In this course, does True mean "may" or "may not"?',
            ways=[Way(edits=[
                Edit("(x, x, x, tgt_mask)",
                     "(x, x, x, None if tgt_mask is None else ~tgt_mask)"),
            ])],
        ),
        Mutant(
            name="own_causal_mask",
            says="Your layer masks the future although no mask was given.",
            asks="What does `tgt_mask=None` mean in the docstring?",
            ways=[Way(edits=[
                Edit("(x, x, x, tgt_mask)",
                     "(x, x, x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if tgt_mask is None else tgt_mask)"),
                Edit("super().__init__()", "super().__init__()"),
            ])],
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
            name="tuple_added",
            says="You add the pair that an attention returns; only its first part is a "
            "vector for each position.",
            asks="What does `MultiHeadAttention` return?",
            ways=[Way(edits=[
                Edit("self.cross_attention(x, memory, memory, memory_mask)[0]",
                     "self.cross_attention(x, memory, memory, memory_mask)"),
            ])],
        ),
        Mutant(
            name="tensor_unpacked",
            says="You unpack a tensor as if it were a pair. That takes the batch "
            "apart: `out, _ = ...` works for a batch of 2 only, and then it is wrong.",
            asks="What is the length of the first dimension?",
            ways=[Way(edits=[
                Edit("return self.self_attention(x, x, x, tgt_mask)[0]",
                     "out, _ = self.self_attention(x, x, x, tgt_mask)[0]; return out"),
            ])],
        ),
        Mutant(
            name="weights_taken",
            says="You take the second thing that the attention returns: its weights.",
            asks="In which order does `MultiHeadAttention` return its two results?",
            ways=[Way(edits=[
                Edit("self.cross_attention(x, memory, memory, memory_mask)[0]",
                     "self.cross_attention(x, memory, memory, memory_mask)[1]"),
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
            name="memory_detached",
            says="The values are right, but no gradient flows back into the memory, so "
            "the encoder could not learn.",
            asks="Is there a `detach()`, `.data` or `no_grad` around the memory?",
            ways=[Way(edits=[
                Edit(_LOOK_UP,
                     "self.cross_attention(x, memory.detach(), memory.detach(), memory_mask)"),
            ])],
        ),
    ],
    accepted=[
        Accepted(name="spelt_out", source="""
            class DecoderLayer(nn.Module):
                def __init__(self, d_model, num_heads, d_ff, dropout=0.0,
                             norm_first=False, activation='relu'):
                    super().__init__()
                    for name in ('cross_attention', 'self_attention'):
                        setattr(self, name, multi_head_attention.MultiHeadAttention(
                            d_model, num_heads, dropout))
                    for i in (1, 2, 3):
                        setattr(self, f'norm{i}', nn.LayerNorm(d_model))
                    self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
                    self.drop = nn.Dropout(dropout)
                    self.pre = norm_first
                def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                    if self.pre:
                        y = self.norm1(x)
                        y, _ = self.self_attention(y, y, y, tgt_mask)
                        x = x + self.drop(y)
                        y, _ = self.cross_attention(self.norm2(x), memory, memory, memory_mask)
                        x = x + self.drop(y)
                        return x + self.drop(self.feed_forward(self.norm3(x)))
                    y, _ = self.self_attention(x, x, x, tgt_mask)
                    x = self.norm1(x + self.drop(y))
                    y, _ = self.cross_attention(x, memory, memory, memory_mask)
                    x = self.norm2(x + self.drop(y))
                    return self.norm3(x + self.drop(self.feed_forward(x)))
            """),
        Accepted(name="loop", source="""
            class DecoderLayer(DecoderLayer):
                def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                    sublayers = [
                        lambda y: self.self_attention(y, y, y, tgt_mask)[0],
                        lambda y: self.cross_attention(y, memory, memory, memory_mask)[0],
                        self.feed_forward,
                    ]
                    norms = [self.norm1, self.norm2, self.norm3]
                    for f, norm in zip(sublayers, norms):
                        x = add_and_norm(x, f, norm, self.dropout, self.norm_first)
                    return x
            """),
        Accepted(name="keywords", edits=[
            Edit("(x, x, x, tgt_mask)", "(query=x, key=x, value=x, mask=tgt_mask)"),
            Edit(_LOOK_UP,
                 "self.cross_attention(x, key=memory, value=memory, mask=memory_mask)"),
        ]),
        Accepted(name="of_encoder_layer", source="""
            class DecoderLayer(nn.Module):
                def __init__(self, *args, **kwargs):
                    super().__init__()
                    a = EncoderLayer(*args, **kwargs)
                    b = EncoderLayer(*args, **kwargs)
                    self.self_attention, self.cross_attention = a.attention, b.attention
                    self.feed_forward = a.feed_forward
                    self.norm1, self.norm2, self.norm3 = a.norm1, a.norm2, b.norm1
                    self.dropout, self.norm_first = a.dropout, a.norm_first
                def forward(self, x, memory, tgt_mask=None, memory_mask=None):
                    def wrap(x, f, norm):
                        return add_and_norm(x, f, norm, self.dropout, self.norm_first)
                    x = wrap(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0], self.norm1)
                    x = wrap(x, lambda y: self.cross_attention(y, memory, memory, memory_mask)[0], self.norm2)
                    return wrap(x, self.feed_forward, self.norm3)
            """),
    ],
)
