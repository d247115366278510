"""Cases and mistakes for an exercise: the decoder layer."""

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


def _mask_future(draw: Draw, Lt: int) -> torch.Tensor:
    return causal_mask(Lt)


def _mask_source(draw: Draw, B: int, Ls: int) -> torch.Tensor:
    return draw_padding_mask(draw, B, Ls)[:, None]


CASES = [
    case("post_relu", "post-norm, ReLU, no masks", sizes(B=3, Lt=4, Ls=5, d_model=6, num_heads=2, d_ff=7),
         "Follow the data: self-attention, cross-attention, feed-forward network, each with its norm."),
    case("pre_both", "pre-norm, GELU, causal mask and source padding",
         sizes(B=3, Lt=5, Ls=7, d_model=6, num_heads=3, d_ff=4, norm_first=True, activation="gelu",
               tgt_mask=_mask_future, memory_mask=_mask_source),
         "Which mask belongs to which attention?"),
    case("post_both", "post-norm, causal mask, source padding with a dimension for heads",
         sizes(B=2, Lt=6, Ls=3, d_model=8, num_heads=4, d_ff=5, norm_first=False, tgt_mask=_mask_future,
               memory_mask=lambda draw, B, Ls: draw_padding_mask(draw, B, Ls)[:, None, None]),
         "Which mask belongs to which attention?"),
    case("square", "pre-norm, as many target positions as source positions",
         sizes(B=3, Lt=4, Ls=4, d_model=6, num_heads=2, d_ff=5, norm_first=True,
               tgt_mask=lambda draw, B, Lt: draw_padding_mask(draw, B, Lt)[:, None] & causal_mask(Lt),
               memory_mask=_mask_source),
         "With equal lengths, swapped masks or sequences raise no error."),
    case("dropout", "all branches dropped in training",
         sizes(B=2, Lt=3, Ls=4, d_model=6, num_heads=2, d_ff=5, norm_first=True, dropout=EVERYTHING),
         "If every branch is dropped, only the residual stream is left. What comes out then?"),
    case("dropout_post", "all branches dropped in training, post-norm",
         sizes(B=3, Lt=2, Ls=5, d_model=6, num_heads=3, d_ff=4, norm_first=False, dropout=EVERYTHING),
         "If every branch is dropped, only three norms in a row are left."),
    case("chance", "which entries are dropped, and what happens to the others",
         sizes(B=9, Lt=8, Ls=3, d_model=12, num_heads=2, d_ff=5, norm_first=True, dropout=0.375),
         "On average, dropout leaves each entry as large as it was.", aspect="mode"),
    case("one_token", "a target of one token, post-norm",
         sizes(B=4, Lt=1, Ls=7, d_model=6, num_heads=3, d_ff=5, norm_first=False, activation="gelu",
               memory_mask=_mask_source),
         "Does your layer need a target mask?", hidden_only=True),
]

_LOOK_UP = "self.cross_attention(x, memory, memory, memory_mask)"
_LINE_1 = "x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)"
_LINE_2 = "x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)"
_ATTEND = """
    def attend(x: Tensor) -> Tensor:
        return self.self_attention(x, x, x, tgt_mask)
    """
_LOOKING_UP = f"""
    def look_up(x: Tensor) -> Tensor:
        return {_LOOK_UP}
    """

MISTAKES = [
    wrong("no_causal_mask", "The target mask does not reach the self-attention, so each position sees the future.",
          "Which argument of the self-attention is missing?",
          edit("(x, x, x, tgt_mask)", "(x, x, x)")),
    wrong("memory_mask_ignored", "The memory mask is not used, so source padding affects the output.",
          "Which argument of the cross-attention is missing?",
          edit(_LOOK_UP, "self.cross_attention(x, memory, memory)")),
    wrong("masks_swapped", "An attention gets the mask that is meant for the other one.",
          "In which order does `forward` take the two masks, and which attention is each of them for?",
          edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)",
               "memory, memory, memory_mask)", "memory, memory, tgt_mask)"),
          edit("memory, memory, memory_mask)", "memory, memory, tgt_mask)", name="causal_on_memory"),
          edit("(x, x, x, tgt_mask)", "(x, x, x, memory_mask)", name="tgt_mask_from_memory")),
    wrong("tgt_mask_inverted", "The target mask is inverted: exactly the masked positions are visible.",
          'In this course, does True mean "may" or "may not"?',
          edit("(x, x, x, tgt_mask)", "(x, x, x, None if tgt_mask is None else ~tgt_mask)")),
    wrong("itself_always_open", "Each target position sees itself, even where `tgt_mask` masks it.",
          "If a mask is given, what decides whether a position may attend to itself?",
          edit("(x, x, x, tgt_mask)",
               "(x, x, x, None if tgt_mask is None else tgt_mask | torch.eye(x.size(1)).bool())")),
    wrong("own_causal_mask", "Your layer masks the future even when no mask is given.",
          "What does `tgt_mask=None` mean in the docstring?",
          edit("(x, x, x, tgt_mask)", "(x, x, x, attention.causal_mask(x.size(1)) if tgt_mask is None else tgt_mask)")),
    wrong("memory_asks", "In cross-attention the queries come from the memory; they should come from the target.",
          "Should there be one output vector per source position, or one per target position?",
          edit(_LOOK_UP,
               "self.cross_attention(memory, x, x, None if memory_mask is None else memory_mask.transpose(-2, -1))"),
          edit(_LOOK_UP, "self.cross_attention(memory, x, x, memory_mask)", name="memory_asks_masked")),
    wrong("keys_or_values_from_target",
          "In cross-attention only the keys or only the values come from the memory; both should.",
          "What are the queries compared with, and what should a target position receive?",
          edit(_LOOK_UP, "self.cross_attention(x, memory, x, memory_mask)"),
          edit(_LOOK_UP, "self.cross_attention(x, x, memory, memory_mask)", name="keys_from_target")),
    wrong("memory_unused", "The memory has no effect: the cross-attention is not used, or it attends to the target.",
          "Where does `memory` occur in your code?",
          edit(_LOOK_UP, "self.cross_attention(x, x, x, tgt_mask)"),
          edit(_LINE_2, "", name="cross_skipped")),
    wrong("self_unused",
          "A target position knows nothing about earlier ones: the self-attention is not used, or it attends to the "
          "memory.",
          "Which of the two attentions should look at the words written so far?",
          edit(_LINE_1, ""),
          edit("(x, x, x, tgt_mask)", "(x, memory, memory, memory_mask)", name="self_on_memory")),
    wrong("another_order", "The three sublayers come in another order.",
          "In which order does the text name self-attention, cross-attention and feed-forward network?",
          edit(_LINE_1, _LINE_1.replace("attend", "look_up"), _LINE_2, _LINE_2.replace("look_up", "attend")),
          edit("attend, self.norm1", "look_up, self.norm3", _LINE_2, _LINE_1,
               "look_up, self.norm3", "look_up, self.norm2", name="cross_first_own_norms"),
          edit(_LINE_2, "x = add_and_norm(x, self.feed_forward, self.norm3, self.dropout, self.norm_first)",
               "            x, self.feed_forward, self.norm3,", "            x, look_up, self.norm2,",
               name="feed_forward_between")),
    wrong("no_feed_forward", "The feed-forward network is not used.",
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
    wrong("module_shared", "Two sublayers share an attention or a norm, but each needs its own.",
          "How many attentions and how many norms do you create?",
          edit("self.cross_attention = attention_class(d_model, num_heads, dropout)",
               "self.cross_attention = self.self_attention"),
          edit("self.norm3 = nn.LayerNorm(d_model)", "",
               "self.feed_forward, self.norm3", "self.feed_forward, self.norm2", name="two_norms"),
          tests="`cross_attention`"),
    wrong("second_cross", "There are too many parameters: a second cross-attention, or another extra module.",
          "Which of your modules is not among the names in the docstring?",
          edit("self.norm_first = norm_first",
               "self.norm_first = norm_first; self.again = attention_class(d_model, num_heads, dropout)",
               _LINE_2, f"{_LINE_2}; x = x + self.again(x, memory, memory, memory_mask)[0]")),
    wrong("norms_swapped",
          "Not every sublayer uses its own norm: `norm2` belongs to the cross-attention, `norm3` to the feed-forward "
          "network.",
          "In which order do your three calls use the norms?",
          edit("look_up, self.norm2", "look_up, self.norm3",
               "self.feed_forward, self.norm3", "self.feed_forward, self.norm2"),
          edit("self.feed_forward, self.norm3", "self.feed_forward, self.norm2", name="norm2_twice"),
          edit("look_up, self.norm2", "look_up, self.norm1", name="norm1_twice")),
    wrong("residual_from_start",
          "Around the cross-attention you add the layer's *input*, not the output of the self-attention step.",
          "Which `x` is added in the second add & norm?",
          edit(_LINE_1, """
              start = x
              x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
              """,
               _LINE_2, """
              y = self.dropout(look_up(self.norm2(x) if self.norm_first else x))
              x = start + y if self.norm_first else self.norm2(start + y)
              """)),
    wrong("argument_ignored",
          "In pre-norm an attention gets raw vectors of the target: as query of the cross-attention, or as keys and "
          "values of the self-attention.",
          "Inside the functions that you pass to `add_and_norm`, do these come from the *argument*?",
          edit(_LOOKING_UP, _LOOKING_UP.replace("up(x", "up(y")),
          edit(_ATTEND, _ATTEND.replace("attend(x", "attend(y").replace("(x, x", "(y, x"), name="keys_not_normed")),
    wrong("memory_normed", "The memory is normalised again, by the target's norm, at least in pre-norm.",
          "What has already normalised the memory?",
          edit(_LOOK_UP, "self.cross_attention(x, self.norm2(memory), self.norm2(memory), memory_mask)"),
          edit(_LOOKING_UP, """
              def look_up(x: Tensor) -> Tensor:
                  source = self.norm2(memory) if self.norm_first else memory
                  return self.cross_attention(x, source, source, memory_mask)
              """, name="memory_normed_in_pre"), tests="normalised"),
    common("placement_swapped", edit("self.norm_first = norm_first", "self.norm_first = not norm_first")),
    common("always_post", edit("self.norm_first = norm_first", "self.norm_first = False")),
    wrong("one_sublayer_post", "Of the three sublayers, one is post-norm even when `norm_first` is True.",
          "What does each of your three calls to `add_and_norm` get for `norm_first`?",
          edit("self.norm3, self.dropout, self.norm_first", "self.norm3, self.dropout, False"),
          edit("self.norm2, self.dropout, self.norm_first", "self.norm2, self.dropout, False", name="second_post"),
          edit("self.norm1, self.dropout, self.norm_first", "self.norm1, self.dropout, False", name="first_post")),
    common("activation_ignored",
           edit("FeedForward(d_model, d_ff, dropout, activation)", "FeedForward(d_model, d_ff, dropout)")),
    wrong("not_the_first", "An attention returns the pair (output, weights), and you do not take just its first part.",
          "Which of the two has one vector per position?",
          edit(f"{_LOOK_UP}[0]", _LOOK_UP),
          edit(f"{_LOOK_UP}[0]", f"{_LOOK_UP}[1]", name="weights_taken")),
    wrong("tensor_unpacked",
          "You unpack a tensor as if it were a pair, which splits the batch: `out, _ = ...` runs only for a batch of "
          "2, and even then it is wrong.",
          "What is the size of the tensor's first dimension?",
          edit("return self.self_attention(x, x, x, tgt_mask)[0]",
               "out, _ = self.self_attention(x, x, x, tgt_mask)[0]; return out")),
    *BRANCH_DROPOUT,
    leave_out_dropout("no_dropout_after_self_attention", "to the branch of the self-attention", "attend, self.norm1, {}"),
    leave_out_dropout("no_dropout_after_cross_attention", "to the branch of the cross-attention",
                      "look_up, self.norm2, {}"),
    leave_out_dropout("no_dropout_after_network", "to the branch of the feed-forward network",
                      "self.feed_forward, self.norm3, {}"),
    leave_out_dropout("no_dropout_in_self_attention", "inside the self-attention",
                      "self.self_attention = attention_class(d_model, num_heads, {})", RATE),
    leave_out_dropout("no_dropout_in_cross_attention", "inside the cross-attention",
                      "self.cross_attention = attention_class(d_model, num_heads, {})", RATE),
    leave_out_dropout("no_dropout_in_network", "inside the feed-forward network",
                      "FeedForward(d_model, d_ff, {}, activation)", RATE),
    wrong("memory_detached", "No gradient flows back into the memory, so the encoder could not learn.",
          "Is there a `detach()`, `.data` or `no_grad` around the memory?",
          edit(_LOOK_UP, "self.cross_attention(x, memory.detach(), memory.detach(), memory_mask)")),
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
]

_MASKS = ("1 {}", "B 1 1 {}", "B num_heads Lt {}")


def _mask_both(shape: str) -> dict[str, str]:
    """Map "tgt_mask" and "memory_mask" to shapes that differ only in the number of keys.

    In ``shape``, such as "B Lt {}", ``{}`` stands for that number.
    """
    return {"tgt_mask": shape.format("Lt"), "memory_mask": shape.format("Ls")}


EXERCISE = Specification(
    target="DecoderLayer", results="output", tests="both attentions", fixed="d_model num_heads",
    contract=Contract(
        on=("post_relu", "pre_both"), named=True, dropout=(("pre_both", "post_both"), {"make.dropout": 0.375}),
        sizes={
            "masks of one shape": {"Ls": 4, "num_heads": 3, **_mask_both("B Lt {}")},  # with as many heads as sentences
            "a mask for the memory only": {"memory_mask": _mask_source},
            "a mask for the target only": {"tgt_mask": _mask_future},
            **{f"masks ({shape.format('L').replace(' ', ', ')})": _mask_both(shape) for shape in _MASKS},
        },
    ),
    ready_made=("nn.TransformerDecoderLayer",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
