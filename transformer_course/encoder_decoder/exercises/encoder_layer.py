"""Cases and mistakes for an exercise: the encoder layer."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.inputs import causal_mask
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification
from transformer_course.encoder_decoder.exercises._inputs import (
    EVERYTHING,
    draw_padding_mask,
)
from transformer_course.encoder_decoder.exercises._layers import (
    BRANCH_DROPOUT,
    RATE,
    leave_out_dropout,
)


def _mask_padding(draw: Draw, B: int, L: int) -> torch.Tensor:
    return draw_padding_mask(draw, B, L)[:, None]


def _mask_future(draw: Draw, L: int) -> torch.Tensor:
    return causal_mask(L)


CASES = [
    case("post_relu", "post-norm, ReLU, no mask", sizes(B=3, L=5, d_model=6, num_heads=2, d_ff=7),
         "Follow the data line by line: attention, add & norm 1, feed-forward network, add & norm 2."),
    case("pre_gelu", "pre-norm, GELU, a padding mask",
         sizes(B=3, L=4, d_model=6, num_heads=3, d_ff=5, norm_first=True, activation="gelu", mask=_mask_padding),
         "In pre-norm the attention sees only the normalised `x`, three times."),
    case("post_padding", "post-norm, a padding mask with a dimension for heads",
         sizes(B=2, L=5, d_model=8, num_heads=4, d_ff=3, norm_first=False,
               mask=lambda draw, B, L: draw_padding_mask(draw, B, L)[:, None, None]),
         "Does the mask reach the attention?"),
    case("pre_causal", "pre-norm, a causal mask",
         sizes(B=2, L=6, d_model=4, num_heads=2, d_ff=5, norm_first=True, mask=_mask_future),
         "Does the mask reach the attention?"),
    case("dropout", "both branches dropped in training",
         sizes(B=2, L=3, d_model=6, num_heads=2, d_ff=5, norm_first=True, dropout=EVERYTHING),
         "If every branch is dropped, only the residual stream is left. What comes out then?"),
    case("chance", "which entries are dropped, and what happens to the others",
         sizes(B=9, L=8, d_model=12, num_heads=2, d_ff=5, norm_first=True, dropout=0.375),
         "On average, dropout leaves each entry as large as it was.", aspect="mode"),
    case("dropout_post", "both branches dropped in training, post-norm",
         sizes(B=3, L=2, d_model=6, num_heads=3, d_ff=4, norm_first=False, dropout=EVERYTHING),
         "If every branch is dropped, only two norms in a row are left.", hidden_only=True),
]

_FIRST = "x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)"
_LAST = """
    return add_and_norm(
        x, self.feed_forward, self.norm2, self.dropout, self.norm_first
    )
    """
_ATTEND = """
    def attend(x: Tensor) -> Tensor:
        return self.attention(x, x, x, mask)[0]
    """

MISTAKES = [
    common("placement_swapped", edit("self.norm_first = norm_first", "self.norm_first = not norm_first")),
    common("always_post", edit("self.norm_first = norm_first", "self.norm_first = False")),
    wrong("always_pre", "Your layer is pre-norm even if `norm_first` is False (the default).",
          "Where does your code use `norm_first`?",
          edit("self.norm_first = norm_first", "self.norm_first = True")),
    wrong("one_sublayer_post", "Of the two sublayers, one is post-norm even when `norm_first` is True.",
          "What does each of your two calls to `add_and_norm` get for `norm_first`?",
          edit("self.norm2, self.dropout, self.norm_first", "self.norm2, self.dropout, False"),
          edit("self.norm1, self.dropout, self.norm_first", "self.norm1, self.dropout, False",
               name="attention_post")),
    wrong("argument_ignored",
          "In pre-norm the keys and values, if not the queries as well, come from the layer's raw input, not from your "
          "function's argument.",
          "What does `add_and_norm` hand to that function, and do query, key and value all come from it?",
          edit(_ATTEND, _ATTEND.replace("attend(x", "attend(y")),
          edit(_ATTEND, _ATTEND.replace("attend(x", "attend(y").replace("(x, x", "(y, x"),
               "x = add_and_norm(x, attend,", "z = add_and_norm(x, attend,",
               "            x, self.feed_forward", "            z, self.feed_forward", name="keys_not_normed")),
    wrong("mask_ignored", "The mask does not reach the attention, so masked positions affect the output.",
          "Which argument of the attention is missing?",
          edit("(x, x, x, mask)", "(x, x, x)")),
    wrong("mask_inverted", "The mask is inverted: exactly the masked positions are visible.",
          'In this course, does True mean "may" or "may not"?',
          edit("(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)")),
    wrong("no_feed_forward", "The feed-forward network is not used.",
          "How many sublayers does an encoder layer have?",
          edit(_LAST, "return x")),
    wrong("no_attention", "The attention is not used, so no position sees any other.",
          "How many sublayers does an encoder layer have?",
          edit(_FIRST, ""),
          edit("x = add_and_norm(x, attend,", "_ = add_and_norm(x, attend,", name="first_lost")),
    wrong("feed_forward_first", "The feed-forward network comes before the attention.",
          "First listen, then think: which sublayer does which?",
          edit("x = add_and_norm(x, attend, self.norm1,", "x = add_and_norm(x, self.feed_forward, self.norm2,",
               "            x, self.feed_forward, self.norm2,", "            x, attend, self.norm1,")),
    wrong("parallel",
          "Both sublayers start from the layer's input. The network should get the output of the attention step.",
          "Which `x` goes into the second add & norm?",
          edit("x = add_and_norm(x, attend,", "y = add_and_norm(x, attend,",
               "return add_and_norm(", "return y - x + add_and_norm(")),
    wrong("one_norm", "There is only one norm; each sublayer needs its own.",
          "How many LayerNorms does the text name?",
          edit("self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1"), tests="`nn.LayerNorm(d_model)`"),
    wrong("norms_swapped",
          "The two sublayers do not use the right norms: `norm1` belongs to the attention, `norm2` to the network.",
          "Which norm does each of your two calls to `add_and_norm` get?",
          edit("attend, self.norm1", "attend, self.norm2",
               "self.feed_forward, self.norm2", "self.feed_forward, self.norm1"),
          edit("self.feed_forward, self.norm2", "self.feed_forward, self.norm1", name="norm1_twice")),
    common("activation_ignored",
           edit("FeedForward(d_model, d_ff, dropout, activation)", "FeedForward(d_model, d_ff, dropout)")),
    wrong("one_head", "The number of heads does not reach the attention: it has just one head.",
          "What do you pass to `MultiHeadAttention`?",
          edit("d_model, num_heads, dropout", "d_model, 1, dropout")),
    wrong("returns_tuple", "Your layer returns a tuple; the next layer of the stack expects a tensor.",
          "The attention returns a pair. Which part of it does the next step need?",
          edit(_LAST, """
              return add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first
              ), None
              """)),
    wrong("unpacks_wrongly",
          "You add the pair that the attention returns; only its first part has one vector per position.",
          "What does `MultiHeadAttention` return?",
          edit("(x, x, x, mask)[0]", "(x, x, x, mask)")),
    wrong("residual_missing",
          "The residual connection around the attention or around the feed-forward network is missing.",
          "If that sublayer returned zero, what should come out of its step?",
          edit(_FIRST, """
              y = self.norm1(x) if self.norm_first else x
              y = self.dropout(attend(y))
              x = y if self.norm_first else self.norm1(y)
              """),
          edit(_LAST, """
              y = self.norm2(x) if self.norm_first else x
              y = self.dropout(self.feed_forward(y))
              return y if self.norm_first else self.norm2(y)
              """, name="residual_missing_2")),
    *BRANCH_DROPOUT,
    leave_out_dropout("no_dropout_after_attention", "to the branch of the attention", "attend, self.norm1, {}"),
    leave_out_dropout("no_dropout_after_network", "to the branch of the feed-forward network",
                      "self.feed_forward, self.norm2, {}"),
    leave_out_dropout("no_dropout_in_attention", "inside the attention", "d_model, num_heads, {}", RATE),
    leave_out_dropout("no_dropout_in_network", "inside the feed-forward network",
                      "FeedForward(d_model, d_ff, {}, activation)", RATE),
    wrong("dropout_outside", "Dropout is applied to the residual stream: with everything dropped, even `x` is lost.",
          "What should be dropped: the branch, or the sum?",
          edit(_FIRST,
               "x = self.dropout(add_and_norm(x, attend, self.norm1, nn.Identity(), self.norm_first))",
               _LAST, """
              return self.dropout(add_and_norm(
                  x, self.feed_forward, self.norm2, nn.Identity(), self.norm_first))
              """), tests="branches"),
    wrong("final_norm", "There is one norm too many, at the end of the layer.",
          "The final norm belongs to the stack. How many norms does a layer have?",
          edit(_LAST, """
              return self.norm2(add_and_norm(
                  x, self.feed_forward, self.norm2, self.dropout, self.norm_first))
              """)),
    wrong("detached", "No gradient flows back through your layer.",
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
    right("lambda", edit(_ATTEND, "attend = lambda y: self.attention(y, y, y, mask)[0]")),
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

_MASKS = ("1 L", "1 1 L", "B 1 L", "B L L", "1 num_heads 1 L", "B 1 L L", "B num_heads L L")

EXERCISE = Specification(
    target="EncoderLayer", results="output", fixed="d_model num_heads",
    contract=Contract(
        on=("post_relu", "pre_gelu"), named=True, dropout=(("pre_gelu", "post_padding"), {"make.dropout": 0.375}),
        sizes={
            "one head": {"num_heads": 1},
            "as many sentences as heads": {"B": 2, "mask": "B L L"},
            **{f"a mask ({shape.replace(' ', ', ')})": {"mask": shape} for shape in _MASKS},
        },
    ),
    ready_made=("nn.TransformerEncoderLayer", "torch._transformer_encoder_layer_fwd"),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
