"""Mistakes in norms, sizes, residuals, dropout and what is returned."""

from __future__ import annotations

from autograder.bank.encoder_decoder._dropped import (
    BRANCH_DROPOUT,
    RATE,
    without_dropout,
)
from autograder.oracle.specification import Edit, Mutant, Way

BRANCHES = [
    Mutant(
        name="one_norm",
        says="Only one norm has weights; each sublayer needs a norm of its own.",
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
    *BRANCH_DROPOUT,
    without_dropout(
        "no_dropout_after_attention", "on the branch of the attention",
        "attend, self.norm1, {}",
    ),
    without_dropout(
        "no_dropout_after_network", "on the branch of the feed-forward network",
        "self.feed_forward, self.norm2, {}",
    ),
    without_dropout(
        "no_dropout_in_attention", "inside the attention",
        "d_model, num_heads, {}", RATE,
    ),
    without_dropout(
        "no_dropout_in_network", "inside the feed-forward network",
        "FeedForward(d_model, d_ff, {}, activation)", RATE,
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
]
