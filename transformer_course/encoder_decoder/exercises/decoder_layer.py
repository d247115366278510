"""The decoder layer."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.contract import OF_MODULES, Contract, combine, masked, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    DECODER,
    EVERYTHING,
    MASKS_OF_A_LAYER,
    biases_only,
    layer_inputs,
)
from transformer_course.encoder_decoder.exercises._layers import (
    BRANCH_DROPOUT,
    RATE,
    without_dropout,
)

_BOTH = {"tgt_mask": "causal", "memory_mask": "padding"}


def _masked(shape: str) -> Maker:
    masks = {"tgt_mask": shape, "memory_mask": shape}
    return layer_inputs(DECODER, 2, 3, 6, 3, 4, ls=5, masks=masks)


CASES = [
    case("post_relu", "post-norm, ReLU, no masks", layer_inputs(DECODER, 3, 4, 6, 2, 7, ls=5, pull=True),
         "Follow the data: self-attention, cross-attention, feed-forward network, each with its norm."),
    case("pre_both", "pre-norm, GELU, causal mask and source padding",
         layer_inputs(DECODER, 3, 5, 6, 3, 4, ls=7, norm_first=True, activation="gelu", masks=_BOTH),
         "Which mask belongs to which attention?"),
    case("post_both", "post-norm, causal mask, source padding with a dimension for heads",
         layer_inputs(DECODER, 2, 6, 8, 4, 5, ls=3, norm_first=False,
                      masks={"tgt_mask": "causal", "memory_mask": "padding, 4-D"}),
         "Which mask belongs to which attention?"),
    case("square", "pre-norm, as many target positions as source positions",
         layer_inputs(DECODER, 3, 4, 6, 2, 5, ls=4, norm_first=True,
                      masks={"tgt_mask": "both", "memory_mask": "padding"}, pull=True),
         "With equal lengths, swapped masks or sequences raise no error."),
    case("dropout", "all branches dropped in training",
         layer_inputs(DECODER, 2, 3, 6, 2, 5, ls=4, norm_first=True, rate=EVERYTHING),
         "If every branch is dropped, only the residual stream is left. What comes out then?"),
    case("dropout_post", "all branches dropped in training, post-norm",
         layer_inputs(DECODER, 3, 2, 6, 3, 4, ls=5, norm_first=False, rate=EVERYTHING),
         "If every branch is dropped, only three norms in a row are left."),
    case("chance", "which entries are dropped, and what happens to the others",
         biases_only(layer_inputs(DECODER, 9, 8, 12, 2, 5, ls=3, norm_first=True, rate=0.375)),
         "On average, dropout leaves each entry as large as it was.", aspect="mode"),
    case("one_token", "a target of one token, post-norm",
         layer_inputs(DECODER, 4, 1, 6, 3, 5, ls=7, norm_first=False, activation="gelu",
                      masks={"memory_mask": "padding"}),
         "Does your layer need a target mask?", hidden_only=True),
]

LOOK_UP = "self.cross_attention(x, memory, memory, memory_mask)"
LINE_1 = "x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)"
LINE_2 = "x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)"

MISTAKES = [
    # Mistakes with the two masks.
    wrong("no_causal_mask",
          "The target mask does not reach the self-attention, so each position sees the future.",
          "Which argument of the self-attention is missing?",
          edit("(x, x, x, tgt_mask)", "(x, x, x)")),
    wrong("memory_mask_ignored",
          "The memory mask is not used, so source padding affects the output.",
          "Which argument of the cross-attention is missing?",
          edit(LOOK_UP, "self.cross_attention(x, memory, memory)")),
    wrong("masks_swapped",
          "The two masks are swapped: each attention layer gets the mask meant for the other.",
          "In which order does `forward` take the two masks, and which attention layer is each of them for?",
          edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)",
               "memory, memory, memory_mask)", "memory, memory, tgt_mask)")),
    wrong("causal_on_memory",
          "The target mask is also applied to the memory, but the source is known as a whole.",
          "May the first target word look at the last source word?",
          edit("memory, memory, memory_mask)", "memory, memory, tgt_mask)")),
    wrong("tgt_mask_from_memory",
          "The self-attention gets the memory mask.",
          "Which of the two masks has a column for each position of the *target*?",
          edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)")),
    wrong("tgt_mask_inverted",
          "The target mask is inverted: exactly the masked positions are visible.",
          'In this course, does True mean "may" or "may not"?',
          edit("(x, x, x, tgt_mask)", "(x, x, x, None if tgt_mask is None else ~tgt_mask)")),
    wrong("itself_always_open",
          "Each target position sees itself, even where `tgt_mask` masks it.",
          "If a mask is given, what decides whether a position may attend to itself?",
          edit("(x, x, x, tgt_mask)",
               "(x, x, x, None if tgt_mask is None else tgt_mask | torch.eye(x.size(1)).bool())")),
    wrong("own_causal_mask",
          "Your layer masks the future even when no mask is given.",
          "What does `tgt_mask=None` mean in the docstring?",
          edit("(x, x, x, tgt_mask)",
               "(x, x, x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril() if tgt_mask is None else tgt_mask)",
               "super().__init__()", "super().__init__()")),
    # Mistakes in queries, keys and values, and in the order of the sublayers.
    wrong("memory_asks",
          "In cross-attention the queries come from the memory; they should come from the target.",
          "Should there be one output vector per source position, or one per target position?",
          edit(LOOK_UP,
               "self.cross_attention(memory, x, x, None if memory_mask is None else memory_mask.transpose(-2, -1))")),
    wrong("memory_asks_masked",
          "In cross-attention the queries come from the memory; they should come from the target.",
          "Should there be one output vector per source position, or one per target position?",
          edit(LOOK_UP, "self.cross_attention(memory, x, x, memory_mask)")),
    wrong("values_from_target",
          "In cross-attention the keys come from the memory, but the values from the target.",
          "What should a target position receive, if not information from the source?",
          edit(LOOK_UP, "self.cross_attention(x, memory, x, memory_mask)")),
    wrong("keys_from_target",
          "In cross-attention the values come from the memory, but the keys from the target.",
          "What should the queries be compared with?",
          edit(LOOK_UP, "self.cross_attention(x, x, memory, memory_mask)")),
    wrong("cross_on_itself",
          "The cross-attention attends to the target, so the memory has no influence.",
          "Where does `memory` occur in your code?",
          edit(LOOK_UP, "self.cross_attention(x, x, x, tgt_mask)")),
    wrong("cross_skipped",
          "The cross-attention is not used, so the memory has no influence.",
          "How many sublayers does a decoder layer have?",
          edit(LINE_2, "")),
    wrong("self_skipped",
          "The self-attention is not used: a target position knows nothing about earlier ones.",
          "How many sublayers does a decoder layer have?",
          edit(LINE_1, "")),
    wrong("self_on_memory",
          "Both attention modules attend to the memory, and none to the target.",
          "Which of the two should look at the words written so far?",
          edit("(x, x, x, tgt_mask)", "(x, memory, memory, memory_mask)")),
    wrong("cross_first",
          "Cross-attention comes before self-attention.",
          "In which order do the three sublayers come?",
          edit("""
              x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
              x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
              """, """
              x = add_and_norm(x, look_up, self.norm1, self.dropout, self.norm_first)
              x = add_and_norm(x, attend, self.norm2, self.dropout, self.norm_first)
              """)),
    wrong("cross_first_own_norms",
          "Cross-attention comes before self-attention (each with the right norm).",
          "In which order do the three sublayers come?",
          edit("""
              x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
              x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
              """, """
              x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
              x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
              """)),
    wrong("feed_forward_between",
          "The feed-forward network comes before the cross-attention.",
          "In which order do the three sublayers come?",
          edit(LINE_2, "x = add_and_norm(x, self.feed_forward, self.norm3, self.dropout, self.norm_first)",
               "            x, self.feed_forward, self.norm3,", "            x, look_up, self.norm2,")),
    wrong("no_feed_forward",
          "The feed-forward network is not used.",
          "How many sublayers does a decoder layer have?",
          edit("""
              return add_and_norm(
                  x, self.feed_forward, self.norm3, self.dropout, self.norm_first
              )
              """, "return x")),
    wrong("attentions_swapped",
          "The two attention modules are swapped: `cross_attention` attends to the target, `self_attention` to the "
          "memory.",
          "Which of them should get the memory?",
          edit("return self.self_attention(x, x, x, tgt_mask)", "return self.cross_attention(x, x, x, tgt_mask)",
               "return self.cross_attention(x, memory, memory, memory_mask)",
               "return self.self_attention(x, memory, memory, memory_mask)")),
    wrong("one_attention",
          "One attention module does both jobs, but each job needs its own weights.",
          "How many attention modules do you create?",
          edit("self.cross_attention = attention_class(d_model, num_heads, dropout)",
               "self.cross_attention = self.self_attention"), tests="`cross_attention`"),
    wrong("second_cross",
          "There are too many parameters: a second cross-attention, or another extra module.",
          "Which of your modules is not among the names in the docstring?",
          edit("self.norm_first = norm_first", """
              self.norm_first = norm_first
              self.again = attention_class(d_model, num_heads, dropout)
              """,
               LINE_2, """
              x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
              x = add_and_norm(x, lambda y: self.again(y, memory, memory, memory_mask)[0], self.norm2, self.dropout, self.norm_first)
              """)),
    # Mistakes in norms, residuals, dropout and what a branch returns.
    wrong("two_norms",
          "There are only two norms for three sublayers.",
          "Does each sublayer have a norm of its own?",
          edit("self.norm3 = nn.LayerNorm(d_model)", "",
               "self.feed_forward, self.norm3", "self.feed_forward, self.norm2")),
    wrong("norm2_twice",
          "`norm2` is used twice and `norm3` never.",
          "Which norm belongs to the feed-forward network?",
          edit("self.feed_forward, self.norm3", "self.feed_forward, self.norm2")),
    wrong("norms_swapped",
          "`norm2` and `norm3` are swapped: `norm2` belongs to the cross-attention, `norm3` to the feed-forward network.",
          "In which order do your three calls use the norms?",
          edit("look_up, self.norm2", "look_up, self.norm3", "self.feed_forward, self.norm3", "self.feed_forward, self.norm2")),
    wrong("norm1_twice",
          "`norm1` is used for both attention steps.",
          "Which norm belongs to the cross-attention?",
          edit("look_up, self.norm2", "look_up, self.norm1")),
    wrong("residual_from_start",
          "Around the cross-attention you add the layer's *input*, not the output of the self-attention step.",
          "Which `x` is added in the second add & norm?",
          edit(LINE_1, """
              start = x
              x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
              """,
               LINE_2, """
              y = self.dropout(look_up(self.norm2(x) if self.norm_first else x))
              x = start + y if self.norm_first else self.norm2(start + y)
              """)),
    wrong("query_not_normed",
          "In pre-norm the query of the cross-attention is not normalised.",
          "Inside the function that you pass to `add_and_norm`, does the query come from its *argument*?",
          edit("""
              def look_up(x: Tensor) -> Tensor:
                  return self.cross_attention(x, memory, memory, memory_mask)
              """, """
              def look_up(y: Tensor) -> Tensor:
                  return self.cross_attention(x, memory, memory, memory_mask)
              """)),
    wrong("memory_normed",
          "The memory is normalised again, by the target's norm.",
          "What has already normalised the memory?",
          edit(LOOK_UP, "self.cross_attention(x, self.norm2(memory), self.norm2(memory), memory_mask)"),
          tests="normalised"),
    wrong("memory_normed_in_pre",
          "In pre-norm the memory is normalised again, by the target's norm.",
          "What has already normalised the memory?",
          edit("""
              def look_up(x: Tensor) -> Tensor:
                  return self.cross_attention(x, memory, memory, memory_mask)
              """, """
              def look_up(x: Tensor) -> Tensor:
                  source = self.norm2(memory) if self.norm_first else memory
                  return self.cross_attention(x, source, source, memory_mask)
              """)),
    wrong("keys_not_normed",
          "In pre-norm only the query of the self-attention is normalised, not its keys and values.",
          "Which three arguments of the self-attention come from the normalised `x`?",
          edit("""
              def attend(x: Tensor) -> Tensor:
                  return self.self_attention(x, x, x, tgt_mask)
              """, """
              def attend(y: Tensor) -> Tensor:
                  return self.self_attention(y, x, x, tgt_mask)
              """)),
    common("placement_swapped", edit("self.norm_first = norm_first", "self.norm_first = not norm_first")),
    common("always_post", edit("self.norm_first = norm_first", "self.norm_first = False")),
    common("activation_ignored",
           edit("FeedForward(d_model, d_ff, dropout, activation)", "FeedForward(d_model, d_ff, dropout)")),
    wrong("tuple_added",
          "You add the pair that an attention returns; only its first part has one vector per position.",
          "What does `MultiHeadAttention` return?",
          edit("self.cross_attention(x, memory, memory, memory_mask)[0]",
               "self.cross_attention(x, memory, memory, memory_mask)")),
    wrong("tensor_unpacked",
          "You unpack a tensor as if it were a pair, which splits the batch: `out, _ = ...` runs only for a batch of "
          "2, and even then it is wrong.",
          "What is the size of the tensor's first dimension?",
          edit("return self.self_attention(x, x, x, tgt_mask)[0]",
               "out, _ = self.self_attention(x, x, x, tgt_mask)[0]; return out")),
    wrong("weights_taken",
          "You take the attention's second result: its weights.",
          "In which order does `MultiHeadAttention` return its two results?",
          edit("self.cross_attention(x, memory, memory, memory_mask)[0]",
               "self.cross_attention(x, memory, memory, memory_mask)[1]")),
    *BRANCH_DROPOUT,
    *without_dropout("no_dropout_after_self_attention", "to the branch of the self-attention", "attend, self.norm1, {}"),
    *without_dropout("no_dropout_after_cross_attention", "to the branch of the cross-attention",
                    "look_up, self.norm2, {}"),
    *without_dropout("no_dropout_after_network", "to the branch of the feed-forward network",
                    "self.feed_forward, self.norm3, {}"),
    *without_dropout("no_dropout_in_self_attention", "inside the self-attention",
                    "self.self_attention = attention_class(d_model, num_heads, {})", RATE),
    *without_dropout("no_dropout_in_cross_attention", "inside the cross-attention",
                    "self.cross_attention = attention_class(d_model, num_heads, {})", RATE),
    *without_dropout("no_dropout_in_network", "inside the feed-forward network",
                    "FeedForward(d_model, d_ff, {}, activation)", RATE),
    wrong("memory_detached",
          "No gradient flows back into the memory, so the encoder could not learn.",
          "Is there a `detach()`, `.data` or `no_grad` around the memory?",
          edit(LOOK_UP, "self.cross_attention(x, memory.detach(), memory.detach(), memory_mask)")),
]

ACCEPTED = [
    right("spelt_out", source("""
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
        """)),
    right("loop", source("""
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
        """)),
    right("dropout_by_hand",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) / (1 - dropout) if self.training else x")),
    right("keywords", edit("(x, x, x, tgt_mask)", "(query=x, key=x, value=x, mask=tgt_mask)",
                           LOOK_UP, "self.cross_attention(x, key=memory, value=memory, mask=memory_mask)")),
    right("of_encoder_layer", source("""
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
        """)),
]

EXERCISE = Specification(
    target="DecoderLayer",
    tests="both attentions, into",
    contract=Contract(
        arguments=(
            "x: B Lt d; memory: B Ls d; tgt_mask?: Lt Lt | B Lt Lt | B h Lt Lt; "
            "memory_mask?: Lt Ls | B Lt Ls | B h Lt Ls"
        ),
        results="output: B Lt d", on=("post_relu", "pre_both"), ways=OF_MODULES, module=True, named=True,
        dropout=(("pre_both", "post_both"), {"rate": 0.375}),
        sizes=combine(
            special(
                one_sentence=layer_inputs(DECODER, 1, 3, 4, 2, 5, ls=2),
                one_position=layer_inputs(DECODER, 2, 1, 6, 3, 5, ls=4),
                one_memory_position=layer_inputs(DECODER, 2, 3, 6, 3, 5, ls=1),
                equal_sizes=layer_inputs(
                    DECODER, 3, 3, 3, 3, 3, ls=3, masks={"tgt_mask": "Lq Lk", "memory_mask": "Lq Lk"}
                ),
                masks_of_one_shape=layer_inputs(
                    DECODER,
                    3,  # as many as heads
                    4, 6, 3, 5, ls=4, masks={"tgt_mask": "B Lq Lk", "memory_mask": "B Lq Lk"},
                ),
                a_mask_for_the_memory_only=layer_inputs(DECODER, 3, 4, 6, 2, 5, ls=5, masks={"memory_mask": "padding"}),
                a_mask_for_the_target_only=layer_inputs(DECODER, 2, 5, 6, 3, 4, ls=5, masks={"tgt_mask": "causal"}),
            ),
            masked(_masked, *MASKS_OF_A_LAYER),
        ),
    ),
    ready_made=("nn.TransformerDecoderLayer",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
