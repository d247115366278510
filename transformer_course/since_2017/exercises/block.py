"""One layer of the decoder."""

from __future__ import annotations

from autograder.authoring.contract import OF_MODULES, Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._inputs import (
    LARGE,
    block_shapes,
    faint,
    looked_at,
    one_text,
    options,
    whole,
)


def _block(
    batch: int, length: int, d_model: int, heads: int, groups: int, d_ff: int, **given: float
) -> Maker:  # fmt: skip
    def inputs(draw: Draw) -> Inputs:
        return (
            draw.weights(**block_shapes(d_model, heads, groups, d_ff))
            | whole(num_heads=heads, num_kv_heads=groups, d_ff=d_ff)
            | options(**given)
            | {
                "x": draw.tensor(batch, length, d_model, scale=LARGE),
                "pull": draw.tensor(batch, length, d_model, scale=1.0),
            }
        )

    return inputs


_FIRST = "x = x + self.attention(self.norm1(x))"
_SECOND = "return x + self.feed_forward(self.norm2(x))"

CASES = [
    case("grouped", "4 heads, 2 of keys and values", looked_at(_block(3, 5, 16, 4, 2, 21)),
         "Two branches, each with its own norm before it.", atol=1e-4),
    case("multi_query", "3 heads, 1 of keys and values, base 500 and a large epsilon",
         _block(2, 4, 12, 3, 1, 20, base=500.0, eps=8.0),
         "The base belongs to the attention, the epsilon to both norms.", atol=1e-4),
    case("faint", "small inputs, and weights that keep them small",
         faint(_block(2, 6, 8, 2, 1, 15), "x", "w_o.weight"),
         "If the components are small, the epsilon of a norm matters.", atol=1e-4),
    case("more", "another block", _block(4, 3, 20, 2, 2, 18, base=1e5, eps=4.0),
         "As above.", hidden_only=True, atol=1e-4),
]

MISTAKES = [
    wrong("post_norm",
          "Your block is post-norm: it normalises the sum.",
          "What is normalised in a pre-norm layer: the branch's input or the sum?",
          edit(_FIRST, "x = self.norm1(x + self.attention(x))",
               _SECOND, "return self.norm2(x + self.feed_forward(x))")),
    wrong("norm_after_the_branch",
          "You normalise the branch's output, not its input.",
          "In `attention(norm1(x))`, what happens first?",
          edit("self.attention(self.norm1(x))", "self.norm1(self.attention(x))",
               "self.feed_forward(self.norm2(x))", "self.norm2(self.feed_forward(x))")),
    wrong("no_first_residual",
          "x is not added to the output of the attention.",
          "What should the block return if all weights of its branches are zero?",
          edit(_FIRST, "x = self.attention(self.norm1(x))")),
    wrong("no_second_residual",
          "x is not added to the output of the feed-forward network.",
          "What should the block return if all weights of its branches are zero?",
          edit(_SECOND, "return self.feed_forward(self.norm2(x))")),
    wrong("no_residuals",
          "x is added to the output of neither branch.",
          "What should the block return if all weights of its branches are zero?",
          edit(_FIRST, "x = self.attention(self.norm1(x))", _SECOND, "return self.feed_forward(self.norm2(x))")),
    wrong("no_first_norm",
          "`norm1` has no influence.",
          "What is the input of the attention?",
          edit("self.attention(self.norm1(x))", "self.attention(x)")),
    wrong("no_second_norm",
          "`norm2` has no influence.",
          "What is the input of the feed-forward network?",
          edit("self.feed_forward(self.norm2(x))", "self.feed_forward(x)")),
    wrong("in_pieces",
          "A long text is read in pieces that do not see each other.",
          "What does the 65th position know about the 64th?",
          edit(_FIRST, "x = torch.cat([p + self.attention(self.norm1(p)) for p in x.split(64, dim=1)], dim=1)")),
    wrong("norms_exchanged",
          "The two norms are swapped.",
          "Which norm comes before the attention?",
          edit("self.attention(self.norm1(x))", "self.attention(self.norm2(x))",
               "self.feed_forward(self.norm2(x))", "self.feed_forward(self.norm1(x))")),
    wrong("one_norm_twice",
          "`norm1` is used twice, `norm2` never.",
          "How many norms does the block have, and where is the second one used?",
          edit("self.norm2(x))", "self.norm1(x))")),
    wrong("one_norm_shared",
          "Both norms are the same module, so one weight is missing.",
          "Is `norm2` a module of its own?",
          edit("self.norm2 = RMSNorm(d_model, eps)", "self.norm2 = self.norm1")),
    wrong("side_by_side",
          "Both branches see the block's input: they work in parallel, not one after the other.",
          "Does the second branch see what the first has found?",
          source("""
              class Block(nn.Module):
                  def __init__(self, d_model, num_heads, num_kv_heads, d_ff, base=1e4, eps=1e-6):
                      super().__init__()
                      self.norm1, self.norm2 = RMSNorm(d_model, eps), RMSNorm(d_model, eps)
                      self.attention = CausalAttention(d_model, num_heads, num_kv_heads, base)
                      self.feed_forward = SwiGLU(d_model, d_ff)

                  def forward(self, x):
                      return x + self.attention(self.norm1(x)) + self.feed_forward(self.norm2(x))
              """)),
    wrong("residual_from_the_norm",
          "The *normalised* x is added, so a norm interrupts the residual stream.",
          "What exactly is to the left of the plus sign?",
          edit(_FIRST, "x = self.norm1(x); x = x + self.attention(x)",
               _SECOND, "x = self.norm2(x); return x + self.feed_forward(x)")),
    wrong("second_from_the_input",
          "The second sum adds the block's input, not the result of the first sum.",
          "What is `x` in the second line?",
          edit(_FIRST, "first, x = x, x + self.attention(self.norm1(x))",
               _SECOND, "return first + self.feed_forward(self.norm2(x))")),
    wrong("order_exchanged",
          "The feed-forward network comes before the attention.",
          "Which branch is the first one?",
          edit(_FIRST, "x = x + self.feed_forward(self.norm2(x))",
               _SECOND, "return x + self.attention(self.norm1(x))")),
    wrong("no_feed_forward",
          "The feed-forward network has no influence.",
          "How many branches does a block have?",
          edit(_SECOND, "return x")),
    wrong("no_attention",
          "The attention has no influence: positions do not see each other.",
          "How many branches does a block have?",
          edit(_FIRST, "pass")),
    wrong("layer_norms",
          "Your norms are LayerNorms: they have a bias and subtract the mean.",
          "Which norm did you build in 7.1?",
          edit("self.norm1 = RMSNorm(d_model, eps)", "self.norm1 = nn.LayerNorm(d_model, eps)",
               "self.norm2 = RMSNorm(d_model, eps)", "self.norm2 = nn.LayerNorm(d_model, eps)")),
    wrong("other_epsilon",
          "Your norms use PyTorch's default epsilon, not the one that the block is given.",
          "Which epsilon does `nn.RMSNorm` use by default?",
          edit("self.norm1 = RMSNorm(d_model, eps)", "self.norm1 = nn.RMSNorm(d_model)",
               "self.norm2 = RMSNorm(d_model, eps)", "self.norm2 = nn.RMSNorm(d_model)")),
    wrong("epsilon_ignored",
          "The epsilon of your norms is always 1e-6: `eps` has no influence.",
          "Which argument of `RMSNorm` is the epsilon?",
          edit("self.norm1 = RMSNorm(d_model, eps)", "self.norm1 = RMSNorm(d_model)",
               "self.norm2 = RMSNorm(d_model, eps)", "self.norm2 = RMSNorm(d_model)")),
    wrong("one_epsilon",
          "Only one of the two norms gets the epsilon.",
          "How many norms does the block have?",
          edit("self.norm2 = RMSNorm(d_model, eps)", "self.norm2 = RMSNorm(d_model)")),
    wrong("base_ignored",
          "The attention's base is always 10,000: `base` has no influence.",
          "Which part of the block rotates queries and keys, and which arguments does it get?",
          edit("num_kv_heads, base)", "num_kv_heads)")),
    wrong("heads_exchanged",
          "`num_heads` and `num_kv_heads` are swapped, or one of them is used for both.",
          "In which order does `CausalAttention` take its arguments?",
          edit("CausalAttention(d_model, num_heads, num_kv_heads, base)",
               "CausalAttention(d_model, num_heads, num_heads, base)")),
    wrong("in_place",
          "Your block changes x.",
          "Is `x += …` the same as `x = x + …` for the caller, who still has x?",
          edit(_FIRST, "x += self.attention(self.norm1(x))")),
    wrong("other_names",
          "The submodules do not have the names in the contract.",
          "What are the four parts called?",
          source("""
              class Block(nn.Module):
                  def __init__(self, d_model, num_heads, num_kv_heads, d_ff, base=1e4, eps=1e-6):
                      super().__init__()
                      self.ln1, self.ln2 = RMSNorm(d_model, eps), RMSNorm(d_model, eps)
                      self.attn = CausalAttention(d_model, num_heads, num_kv_heads, base)
                      self.mlp = SwiGLU(d_model, d_ff)

                  def forward(self, x):
                      x = x + self.attn(self.ln1(x))
                      return x + self.mlp(self.ln2(x))
              """)),
]

ACCEPTED = [
    right("named_branches", source("""
        class Block(nn.Module):
            def __init__(self, d_model, num_heads, num_kv_heads, d_ff, base=1e4, eps=1e-6):
                super().__init__()
                self.feed_forward = SwiGLU(d_model, d_ff)
                self.attention = CausalAttention(d_model, num_heads, num_kv_heads, base=base)
                self.norm2 = RMSNorm(d_model, eps=eps)
                self.norm1 = RMSNorm(d_model, eps=eps)

            def forward(self, x):
                for norm, branch in ((self.norm1, self.attention), (self.norm2, self.feed_forward)):
                    x = x + branch(norm(x))
                return x
        """)),
    right("two_steps", edit(_FIRST, "seen = self.attention(self.norm1(x)); x = torch.add(x, seen)",
                            _SECOND, "thought = self.feed_forward(self.norm2(x)); return torch.add(x, thought)")),
    right("pytorchs_norms", edit("self.norm1 = RMSNorm(d_model, eps)", "self.norm1 = nn.RMSNorm(d_model, eps=eps)",
                                 "self.norm2 = RMSNorm(d_model, eps)", "self.norm2 = nn.RMSNorm(d_model, eps=eps)")),
]

EXERCISE = Specification(
    name="since_2017/block", title="The block", target="Block",
    contract=Contract(
        arguments="x: B L d", results="output: B L d", on=("grouped",), ways=OF_MODULES, module=True,
        sizes=special(
            one_position=_block(3, 1, 8, 2, 1, 12), seventy_positions=one_text(70, 8, scale=LARGE),
            one_text=_block(1, 5, 8, 4, 2, 9), equal_sizes=_block(4, 4, 8, 4, 4, 12),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
