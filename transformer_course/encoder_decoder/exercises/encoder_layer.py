"""The encoder layer."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.contract import OF_MODULES, Contract, combine, masked, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Maker, Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    ENCODER,
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


def _masked(shape: str) -> Maker:
    return layer_inputs(ENCODER, 2, 4, 6, 3, 5, masks={"mask": shape})


CASES = [
    case("post_relu", "post-norm, ReLU, no mask", layer_inputs(ENCODER, 3, 5, 6, 2, 7, pull=True),
         "Follow the data line by line: attention, add & norm 1, feed-forward network, add & norm 2."),
    case("pre_gelu", "pre-norm, GELU, a padding mask",
         layer_inputs(ENCODER, 3, 4, 6, 3, 5, norm_first=True, activation="gelu", masks={"mask": "padding"}),
         "In pre-norm the attention sees only the normalised `x`, three times."),
    case("post_padding", "post-norm, a padding mask with a dimension for heads",
         layer_inputs(ENCODER, 2, 5, 8, 4, 3, norm_first=False, masks={"mask": "padding, 4-D"}),
         "Does the mask reach the attention?"),
    case("pre_causal", "pre-norm, a causal mask, with a gradient",
         layer_inputs(ENCODER, 2, 6, 4, 2, 5, norm_first=True, masks={"mask": "causal"}, pull=True),
         "Does the mask reach the attention?"),
    case("dropout", "both branches dropped in training",
         layer_inputs(ENCODER, 2, 3, 6, 2, 5, norm_first=True, rate=EVERYTHING),
         "If every branch is dropped, only the residual stream is left. What comes out then?"),
    case("chance", "which entries are dropped, and what happens to the others",
         biases_only(layer_inputs(ENCODER, 9, 8, 12, 2, 5, norm_first=True, rate=0.375)),
         "On average, dropout leaves each entry as large as it was.", aspect="mode"),
    case("dropout_post", "both branches dropped in training, post-norm",
         layer_inputs(ENCODER, 3, 2, 6, 3, 4, norm_first=False, rate=EVERYTHING),
         "If every branch is dropped, only two norms in a row are left.", hidden_only=True),
]

MISTAKES = [
    # Mistakes in the placement of the norm, the mask, and the sublayers.
    common("placement_swapped", edit("self.norm_first = norm_first", "self.norm_first = not norm_first")),
    common("always_post", edit("self.norm_first = norm_first", "self.norm_first = False")),
    wrong("always_pre",
          "Your layer is pre-norm even if `norm_first` is False (the default).",
          "Where does your code use `norm_first`?",
          edit("self.norm_first = norm_first", "self.norm_first = True")),
    wrong("argument_ignored",
          "In pre-norm the attention sees the layer's raw input: the function that you pass to `add_and_norm` ignores "
          "its argument.",
          "What does `add_and_norm` hand to that function?",
          edit("""
              def attend(x: Tensor) -> Tensor:
                  return self.attention(x, x, x, mask)[0]
              """, """
              def attend(y: Tensor) -> Tensor:
                  return self.attention(x, x, x, mask)[0]
              """)),
    wrong("keys_not_normed",
          "In pre-norm only the query is normalised; key and value are the layer's raw input.",
          "Inside the function that you pass to `add_and_norm`, do all three come from its *argument*?",
          edit("""
              def attend(x: Tensor) -> Tensor:
                  return self.attention(x, x, x, mask)[0]
              """, """
              def attend(y: Tensor) -> Tensor:
                  return self.attention(y, x, x, mask)[0]
              """,
               "x = add_and_norm(x, attend,", "z = add_and_norm(x, attend,",
               "            x, self.feed_forward", "            z, self.feed_forward")),
    wrong("mask_ignored",
          "The mask does not reach the attention, so masked positions affect the output.",
          "Which argument of the attention is missing?",
          edit("(x, x, x, mask)", "(x, x, x)")),
    wrong("mask_inverted",
          "The mask is inverted: exactly the masked positions are visible.",
          'In this course, does True mean "may" or "may not"?',
          edit("(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)")),
    wrong("no_feed_forward",
          "The feed-forward network is not used.",
          "How many sublayers does an encoder layer have?",
          edit("""
              return add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first
              )
              """, "return x")),
    wrong("no_attention",
          "The attention is not used, so no position sees any other.",
          "How many sublayers does an encoder layer have?",
          edit("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)", ""),
          edit("x = add_and_norm(x, attend,", "_ = add_and_norm(x, attend,", name="first_lost")),
    wrong("feed_forward_first",
          "The feed-forward network comes before the attention.",
          "First listen, then think: which sublayer does which?",
          edit("x = add_and_norm(x, attend, self.norm1,", "x = add_and_norm(x, self.feed_forward, self.norm2,",
               "            x, self.feed_forward, self.norm2,", "            x, attend, self.norm1,")),
    wrong("parallel",
          "Both sublayers start from the layer's input. The network should get the output of the attention step.",
          "Which `x` goes into the second add & norm?",
          edit("x = add_and_norm(x, attend,", "y = add_and_norm(x, attend,",
               "return add_and_norm(", "return y - x + add_and_norm(")),
    # Mistakes in norms, sizes, residuals, dropout and what is returned.
    wrong("one_norm",
          "There is only one norm; each sublayer needs its own.",
          "How many LayerNorms does the text name?",
          edit("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1"), tests="`nn.LayerNorm(d_model)`"),
    wrong("norms_swapped",
          "`norm1` and `norm2` are swapped.",
          "Which one belongs to the attention?",
          edit("attend, self.norm1", "attend, self.norm2",
               "self.feed_forward, self.norm2", "self.feed_forward, self.norm1")),
    wrong("norm1_twice",
          "`norm1` is used for both sublayers, and `norm2` for none.",
          "Which norm belongs to the feed-forward network?",
          edit("self.feed_forward, self.norm2", "self.feed_forward, self.norm1")),
    wrong("batch_norm",
          "The norm is not a `LayerNorm` over the features of one position.",
          "Over which entries should the mean be taken?",
          source("""
              class EncoderLayer(EncoderLayer):
                  def __init__(self, *args, **kwargs):
                      super().__init__(*args, **kwargs)
                      for norm in (self.norm1, self.norm2):
                          norm.forward = lambda x, n=norm: (x - x.mean((0, 1))) / (
                              x.var((0, 1), False) + 1e-5) ** 0.5 * n.weight + n.bias
              """)),
    wrong("norm_over_sentence",
          "Your norm averages over the whole sentence, so positions affect each other.",
          "`nn.LayerNorm(d_model)` works on the last dimension. Does yours?",
          source("""
              class EncoderLayer(EncoderLayer):
                  def __init__(self, *args, **kwargs):
                      super().__init__(*args, **kwargs)
                      for norm in (self.norm1, self.norm2):
                          norm.forward = lambda x, n=norm: n.weight * torch.nn.functional.layer_norm(x, x.shape[1:]) + n.bias
              """)),
    wrong("unbiased_std",
          "Your own LayerNorm uses the unbiased standard deviation; the formula divides by the number of features.",
          "What is the default of `torch.std`?",
          source("""
              class EncoderLayer(EncoderLayer):
                  def __init__(self, *args, **kwargs):
                      super().__init__(*args, **kwargs)
                      for norm in (self.norm1, self.norm2):
                          norm.forward = lambda x, n=norm: n.bias + n.weight * (
                              x - x.mean(-1, True)) / (x.std(-1, keepdim=True) + 1e-6)
              """)),
    common("activation_ignored",
           edit("FeedForward(d_model, d_ff, dropout, activation)", "FeedForward(d_model, d_ff, dropout)")),
    wrong("one_head",
          "The number of heads does not reach the attention: it has just one head.",
          "What do you pass to `MultiHeadAttention`?",
          edit("d_model, num_heads, dropout", "d_model, 1, dropout")),
    wrong("returns_tuple",
          "Your layer returns a tuple; the next layer of the stack expects a tensor.",
          "The attention returns a pair. Which part of it does the next step need?",
          edit("""
              return add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first
              )
              """, """
              return add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first
              ), None
              """)),
    wrong("unpacks_wrongly",
          "You add the pair that the attention returns; only its first part has one vector per position.",
          "What does `MultiHeadAttention` return?",
          edit("(x, x, x, mask)[0]", "(x, x, x, mask)")),
    wrong("residual_missing_1",
          "The residual connection around the attention is missing.",
          "If the attention returned zero, what should come out of this step?",
          edit("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)", """
              y = self.norm1(x) if self.norm_first else x
              y = self.dropout(attend(y))
              x = y if self.norm_first else self.norm1(y)
              """)),
    wrong("residual_missing_2",
          "The residual connection around the feed-forward network is missing.",
          "If the network returned zero, what should come out of this step?",
          edit("""
              return add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first
              )
              """, """
              y = self.norm2(x) if self.norm_first else x
              y = self.dropout(self.feed_forward(y))
              return y if self.norm_first else self.norm2(y)
              """)),
    *BRANCH_DROPOUT,
    *without_dropout("no_dropout_after_attention", "to the branch of the attention", "attend, self.norm1, {}"),
    *without_dropout("no_dropout_after_network", "to the branch of the feed-forward network",
                    "self.feed_forward, self.norm2, {}"),
    *without_dropout("no_dropout_in_attention", "inside the attention", "d_model, num_heads, {}", RATE),
    *without_dropout("no_dropout_in_network", "inside the feed-forward network",
                    "FeedForward(d_model, d_ff, {}, activation)", RATE),
    wrong("dropout_outside",
          "Dropout is applied to the residual stream: with everything dropped, even `x` is lost.",
          "What should be dropped: the branch, or the sum?",
          edit("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)",
               "x = self.dropout(add_and_norm(x, attend, self.norm1, nn.Identity(), self.norm_first))",
               """
              return add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first
              )
              """, """
              return self.dropout(add_and_norm(
                  x, self.feed_forward, self.norm2, nn.Identity(), self.norm_first))
              """), tests="branches"),
    wrong("final_norm",
          "There is one norm too many, at the end of the layer.",
          "The final norm belongs to the stack. How many norms does a layer have?",
          edit("""
              return add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first
              )
              """, """
              return self.norm2(add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first))
              """)),
    wrong("detached",
          "No gradient flows back through your layer.",
          "Is there a `detach()`, `.data` or `no_grad` on the way?",
          edit("def forward(", """
              @torch.no_grad()
              def forward(
              """)),
]

ACCEPTED = [
    right("spelt_out", source("""
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
        """)),
    right("lambda", edit("""
        def attend(x: Tensor) -> Tensor:
            return self.attention(x, x, x, mask)[0]
        """, "attend = lambda y: self.attention(y, y, y, mask)[0]")),
    right("keywords", edit("self.attention(x, x, x, mask)", "self.attention(query=x, key=x, value=x, mask=mask)")),
    right("method", edit("""
        def attend(x: Tensor) -> Tensor:
            return self.attention(x, x, x, mask)[0]  # (B, L, d_model)
        """, """
        from functools import partial
        attend = partial(self._attend, mask=mask)
        """,
                         "def forward(", """
        def _attend(self, x, mask):
            return self.attention(x, x, x, mask)[0]

        def forward(
        """)),
    right("in_place_on_own", source("""
        class EncoderLayer(EncoderLayer):
            def forward(self, x, mask=None):
                for norm, f in ((self.norm1, lambda y: self.attention(y, y, y, mask)[0]),
                                (self.norm2, self.feed_forward)):
                    y = norm(x) if self.norm_first else x
                    x = self.dropout(f(y)) + x
                    x = x if self.norm_first else norm(x)
                return x
        """)),
    right("dropout_by_hand", source("""
        class ByHand(nn.Module):
            def __init__(self, rate):
                super().__init__()
                self.rate = rate
            def forward(self, x):
                if not self.training or not self.rate:
                    return x
                kept = torch.rand_like(x) >= self.rate
                return x * kept / (1 - self.rate)
        class EncoderLayer(EncoderLayer):
            def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False,
                         activation="relu"):
                super().__init__(d_model, num_heads, d_ff, dropout, norm_first, activation)
                self.dropout = ByHand(dropout)
        """)),
]

EXERCISE = Specification(
    target="EncoderLayer",
    contract=Contract(
        arguments="x: B L d; mask?: L L | B L L | B h L L", results="output: B L d", on=("post_relu", "pre_gelu"),
        ways=OF_MODULES, module=True, named=True, dropout=(("pre_gelu", "post_padding"), {"rate": 0.375}),
        sizes=combine(
            special(
                one_sentence=layer_inputs(ENCODER, 1, 3, 4, 2, 5), one_position=layer_inputs(ENCODER, 2, 1, 6, 3, 5),
                one_head=layer_inputs(ENCODER, 2, 3, 4, 1, 5),
                equal_sizes=layer_inputs(ENCODER, 3, 3, 3, 3, 3, masks={"mask": "Lq Lk"}),
                as_many_sentences_as_heads=layer_inputs(ENCODER, 2, 4, 6, 2, 3, masks={"mask": "B Lq Lk"}),
            ),
            masked(_masked, *MASKS_OF_A_LAYER),
        ),
    ),
    ready_made=("nn.TransformerEncoderLayer", "torch._transformer_encoder_layer_fwd"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
