"""One layer of the decoder."""

from __future__ import annotations

from autograder.bank.since_2017._inputs import (
    LARGE,
    block_shapes,
    faint,
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


def _block(
    batch: int, length: int, d_model: int, heads: int, groups: int, d_ff: int
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return (
            draw.weights(**block_shapes(d_model, heads, groups, d_ff))
            | whole(num_heads=heads, num_kv_heads=groups, d_ff=d_ff)
            | {
                "x": draw.tensor(batch, length, d_model, scale=LARGE),
                "pull": draw.tensor(batch, length, d_model, scale=1.0),
            }
        )

    return inputs


_FIRST = "x = x + self.attention(self.norm1(x))"
_SECOND = "return x + self.feed_forward(self.norm2(x))"

EXERCISE = Specification(
    name="since_2017/block",
    title="The block",
    target="Block",
    promise=Promise(
        arguments="x: B L d",
        results="output: B L d",
        on=("grouped",),
        ways=OF_MODULES,
        module=True,
        sizes=special(
            one_position=_block(3, 1, 8, 2, 1, 12),
            seventy_positions=one_text(70, 8, scale=LARGE),
            one_text=_block(1, 5, 8, 4, 2, 9),
            equal_sizes=_block(4, 4, 8, 4, 4, 12),
        ),
    ),
    cases=[
        CaseKind(
            name="grouped",
            title="4 heads, 2 of keys and values",
            inputs=looked_at(_block(3, 5, 16, 4, 2, 21)),
            hint="Two branches, each with its own norm before it.",
            atol=1e-4,
        ),
        CaseKind(
            name="multi_query",
            title="3 heads, 1 of keys and values",
            inputs=_block(2, 4, 12, 3, 1, 20),
            hint="Two branches, each with its own norm before it.",
            atol=1e-4,
        ),
        CaseKind(
            name="faint",
            title="numbers near zero, and weights that give hardly more",
            inputs=faint(_block(2, 6, 8, 2, 1, 15), "x", "w_o.weight"),
            hint="Among small numbers, the epsilon of a norm counts.",
            atol=1e-4,
        ),
        CaseKind(
            name="more",
            title="another block",
            inputs=_block(4, 3, 20, 2, 2, 18),
            hint="As above.",
            hidden_only=True,
            atol=1e-4,
        ),
    ],
    mutants=[
        Mutant(
            name="post_norm",
            says="Your block is post-norm: the norm is taken of the sum.",
            asks="What is normalised in a pre-norm layer: the branch's input or the sum?",
            ways=[Way(edits=[
                Edit(_FIRST, "x = self.norm1(x + self.attention(x))"),
                Edit(_SECOND, "return self.norm2(x + self.feed_forward(x))")])],
        ),
        Mutant(
            name="norm_after_the_branch",
            says="The norm is taken of what the branch gives, not of what it gets.",
            asks="In `attention(norm1(x))`, what happens first?",
            ways=[Way(edits=[
                Edit("self.attention(self.norm1(x))", "self.norm1(self.attention(x))"),
                Edit("self.feed_forward(self.norm2(x))", "self.norm2(self.feed_forward(x))")])],
        ),
        Mutant(
            name="no_first_residual",
            says="x is not added to the attention's branch.",
            asks="What should the block give if all weights of its branches are zero?",
            ways=[Way(edits=[Edit(_FIRST, "x = self.attention(self.norm1(x))")])],
        ),
        Mutant(
            name="no_second_residual",
            says="x is not added to the feed-forward branch.",
            asks="What should the block give if all weights of its branches are zero?",
            ways=[Way(edits=[Edit(_SECOND, "return self.feed_forward(self.norm2(x))")])],
        ),
        Mutant(
            name="no_residuals",
            says="x is added to neither branch.",
            asks="What should the block give if all weights of its branches are zero?",
            ways=[Way(edits=[
                Edit(_FIRST, "x = self.attention(self.norm1(x))"), Edit(_SECOND, "return self.feed_forward(self.norm2(x))")])],
        ),
        Mutant(
            name="no_first_norm",
            says="`norm1` has no influence.",
            asks="What does the attention get?",
            ways=[Way(edits=[Edit("self.attention(self.norm1(x))", "self.attention(x)")])],
        ),
        Mutant(
            name="no_second_norm",
            says="`norm2` has no influence.",
            asks="What does the feed-forward network get?",
            ways=[Way(edits=[Edit("self.feed_forward(self.norm2(x))", "self.feed_forward(x)")])],
        ),
        Mutant(
            name="in_pieces",
            says="A long text is read in pieces that do not see each other.",
            asks="What does the 65th position know of the 64th?",
            ways=[Way(edits=[Edit(_FIRST, "x = torch.cat([p + self.attention(self.norm1(p)) for p in x.split(64, dim=1)], dim=1)")])],
        ),
        Mutant(
            name="norms_exchanged",
            says="The two norms have changed places.",
            asks="Which norm stands before the attention?",
            ways=[Way(edits=[
                Edit("self.attention(self.norm1(x))", "self.attention(self.norm2(x))"),
                Edit("self.feed_forward(self.norm2(x))", "self.feed_forward(self.norm1(x))")])],
        ),
        Mutant(
            name="one_norm_twice",
            says="`norm1` is used twice, `norm2` never.",
            asks="How many norms does the block have, and who uses the second?",
            ways=[Way(edits=[Edit("self.norm2(x))", "self.norm1(x))")])],
        ),
        Mutant(
            name="one_norm_shared",
            says="Both norms are one and the same: there is a weight too few.",
            asks="Is `norm2` a module of its own?",
            ways=[Way(edits=[Edit("self.norm2 = RMSNorm(d_model)", "self.norm2 = self.norm1")])],
        ),
        Mutant(
            name="side_by_side",
            says="Both branches see the block's input: they work side by side, not one after the other.",
            asks="Does the second branch see what the first has found?",
            ways=[
                Way(source="""
                    class Block(nn.Module):
                        def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
                            super().__init__()
                            self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)
                            self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
                            self.feed_forward = SwiGLU(d_model, d_ff)

                        def forward(self, x):
                            return x + self.attention(self.norm1(x)) + self.feed_forward(self.norm2(x))
                    """),
            ],
        ),
        Mutant(
            name="residual_from_the_norm",
            says="The *normed* x is added: the straight way through the block is blocked by a norm.",
            asks="What exactly stands left of the plus?",
            ways=[Way(edits=[
                Edit(_FIRST, "x = self.norm1(x); x = x + self.attention(x)"),
                Edit(_SECOND, "x = self.norm2(x); return x + self.feed_forward(x)")])],
        ),
        Mutant(
            name="second_from_the_input",
            says="The second sum adds the block's input, not what the attention has made of it.",
            asks="What is $x$ in the second line?",
            ways=[Way(edits=[
                Edit(_FIRST, "first, x = x, x + self.attention(self.norm1(x))"),
                Edit(_SECOND, "return first + self.feed_forward(self.norm2(x))")])],
        ),
        Mutant(
            name="order_exchanged",
            says="The feed-forward network comes before the attention.",
            asks="Which branch is the first one?",
            ways=[Way(edits=[
                Edit(_FIRST, "x = x + self.feed_forward(self.norm2(x))"),
                Edit(_SECOND, "return x + self.attention(self.norm1(x))")])],
        ),
        Mutant(
            name="no_feed_forward",
            says="The feed-forward network has no influence.",
            asks="How many branches does a block have?",
            ways=[Way(edits=[Edit(_SECOND, "return x")])],
        ),
        Mutant(
            name="no_attention",
            says="The attention has no influence: positions do not see each other.",
            asks="How many branches does a block have?",
            ways=[Way(edits=[Edit(_FIRST, "pass")])],
        ),
        Mutant(
            name="layer_norms",
            says="Your norms are LayerNorms: they have a bias, and take the mean away.",
            asks="Which norm did you build in 7.1?",
            ways=[Way(edits=[
                Edit("self.norm1 = RMSNorm(d_model)", "self.norm1 = nn.LayerNorm(d_model)"),
                Edit("self.norm2 = RMSNorm(d_model)", "self.norm2 = nn.LayerNorm(d_model)")])],
        ),
        Mutant(
            name="other_epsilon",
            says="The epsilon of your norms is PyTorch's, not that of `RMSNorm(d_model)`.",
            asks="Which epsilon does your `RMSNorm` have, if nobody gives one?",
            ways=[Way(edits=[
                Edit("self.norm1 = RMSNorm(d_model)", "self.norm1 = nn.RMSNorm(d_model)"),
                Edit("self.norm2 = RMSNorm(d_model)", "self.norm2 = nn.RMSNorm(d_model)")])],
        ),
        Mutant(
            name="large_epsilon",
            says="The epsilon of your norms is 1e-5, not that of `RMSNorm(d_model)`.",
            asks="Which epsilon does your `RMSNorm` have, if nobody gives one?",
            ways=[Way(edits=[
                Edit("self.norm1 = RMSNorm(d_model)", "self.norm1 = RMSNorm(d_model, 1e-5)"),
                Edit("self.norm2 = RMSNorm(d_model)", "self.norm2 = RMSNorm(d_model, eps=1e-5)")])],
        ),
        Mutant(
            name="heads_exchanged",
            says="`num_heads` and `num_kv_heads` have changed places, or one of them stands for both.",
            asks="In which order does `CausalAttention` take its arguments?",
            ways=[Way(edits=[Edit("CausalAttention(d_model, num_heads, num_kv_heads)", "CausalAttention(d_model, num_heads, num_heads)")])],
        ),
        Mutant(
            name="in_place",
            says="Your block changes x.",
            asks="Is `x += …` the same as `x = x + …` for who has given you x?",
            ways=[Way(edits=[Edit(_FIRST, "x += self.attention(self.norm1(x))")])],
        ),
        Mutant(
            name="other_names",
            says="The parts have other names than asked for.",
            asks="What are the four parts called?",
            ways=[Way(source="""
                class Block(nn.Module):
                    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
                        super().__init__()
                        self.ln1, self.ln2 = RMSNorm(d_model), RMSNorm(d_model)
                        self.attn = CausalAttention(d_model, num_heads, num_kv_heads)
                        self.mlp = SwiGLU(d_model, d_ff)

                    def forward(self, x):
                        x = x + self.attn(self.ln1(x))
                        return x + self.mlp(self.ln2(x))
                """)],
        ),
    ],
    accepted=[
        Accepted(name="named_branches", source="""
            class Block(nn.Module):
                def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
                    super().__init__()
                    self.feed_forward = SwiGLU(d_model, d_ff)
                    self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
                    self.norm2 = RMSNorm(d_model, 1e-6)
                    self.norm1 = RMSNorm(d_model, 1e-6)

                def forward(self, x):
                    for norm, branch in ((self.norm1, self.attention), (self.norm2, self.feed_forward)):
                        x = x + branch(norm(x))
                    return x
            """),
        Accepted(name="two_steps", edits=[
            Edit(_FIRST, "seen = self.attention(self.norm1(x)); x = torch.add(x, seen)"),
            Edit(_SECOND, "thought = self.feed_forward(self.norm2(x)); return torch.add(x, thought)")]),
        Accepted(name="pytorchs_norms", edits=[
            Edit("self.norm1 = RMSNorm(d_model)", "self.norm1 = nn.RMSNorm(d_model, eps=1e-6)"),
            Edit("self.norm2 = RMSNorm(d_model)", "self.norm2 = nn.RMSNorm(d_model, eps=1e-6)")]),
    ],
)
