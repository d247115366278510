"""Mistakes in norms, residuals, dropout and what a branch hands on."""

from __future__ import annotations

from autograder.bank.encoder_decoder._decoder_layer.lines import LINE_1, LINE_2, LOOK_UP
from autograder.bank.encoder_decoder._dropped import (
    BRANCH_DROPOUT,
    RATE,
    without_dropout,
)
from autograder.oracle.specification import Edit, Mutant, Way

BRANCHES = [
    Mutant(
        name="two_norms",
        says="Only two norms have weights, for three sublayers.",
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
                LINE_1,
                """
                start = x
                x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)
                """,
            ),
            Edit(
                LINE_2,
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
            Edit(LOOK_UP,
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
    *BRANCH_DROPOUT,
    without_dropout(
        "no_dropout_after_self_attention", "on the branch of the self-attention",
        "attend, self.norm1, {}",
    ),
    without_dropout(
        "no_dropout_after_cross_attention", "on the branch of the cross-attention",
        "look_up, self.norm2, {}",
    ),
    without_dropout(
        "no_dropout_after_network", "on the branch of the feed-forward network",
        "self.feed_forward, self.norm3, {}",
    ),
    without_dropout(
        "no_dropout_in_self_attention", "inside the self-attention",
        "self.self_attention = attention_class(d_model, num_heads, {})", RATE,
    ),
    without_dropout(
        "no_dropout_in_cross_attention", "inside the cross-attention",
        "self.cross_attention = attention_class(d_model, num_heads, {})", RATE,
    ),
    without_dropout(
        "no_dropout_in_network", "inside the feed-forward network",
        "FeedForward(d_model, d_ff, {}, activation)", RATE,
    ),
    Mutant(
        name="memory_detached",
        says="The values are right, but no gradient flows back into the memory, so "
        "the encoder could not learn.",
        asks="Is there a `detach()`, `.data` or `no_grad` around the memory?",
        ways=[Way(edits=[
            Edit(LOOK_UP,
                 "self.cross_attention(x, memory.detach(), memory.detach(), memory_mask)"),
        ])],
    ),
]
