"""Mistakes in who asks whom, and in the order of the sublayers."""

from __future__ import annotations

from autograder.bank.encoder_decoder._decoder_layer.lines import LINE_1, LINE_2, LOOK_UP
from autograder.oracle.specification import Edit, Mutant, Way

SUBLAYERS = [
    Mutant(
        name="memory_asks",
        says="In cross-attention the memory asks and the target answers. It should "
        "be the other way round.",
        asks="For whom is one vector to come out: for each source position, or for "
        "each target position?",
        ways=[Way(edits=[
            Edit(LOOK_UP,
                 "self.cross_attention(memory, x, x, None if memory_mask is None else memory_mask.transpose(-2, -1))"),
        ])],
    ),
    Mutant(
        name="memory_asks_masked",
        says="In cross-attention the memory asks and the target answers. It should "
        "be the other way round.",
        asks="For whom is one vector to come out: for each source position, or for "
        "each target position?",
        ways=[Way(edits=[
            Edit(LOOK_UP, "self.cross_attention(memory, x, x, memory_mask)"),
        ])],
    ),
    Mutant(
        name="values_from_target",
        says="In cross-attention the keys come from the memory, but the values "
        "from the target.",
        asks="What should a target position receive, if not something of the "
        "source?",
        ways=[Way(edits=[
            Edit(LOOK_UP, "self.cross_attention(x, memory, x, memory_mask)"),
        ])],
    ),
    Mutant(
        name="keys_from_target",
        says="In cross-attention the values come from the memory, but the keys "
        "from the target.",
        asks="With what are the queries to be compared?",
        ways=[Way(edits=[
            Edit(LOOK_UP, "self.cross_attention(x, x, memory, memory_mask)"),
        ])],
    ),
    Mutant(
        name="cross_on_itself",
        says="The cross-attention looks at the target, so the memory has no "
        "influence.",
        asks="Where does `memory` occur in your code?",
        ways=[Way(edits=[
            Edit(LOOK_UP, "self.cross_attention(x, x, x, tgt_mask)"),
        ])],
    ),
    Mutant(
        name="cross_skipped",
        says="The cross-attention is not used, so the memory has no influence.",
        asks="How many sublayers has a decoder layer?",
        ways=[Way(edits=[Edit(LINE_2, "")])],
    ),
    Mutant(
        name="self_skipped",
        says="The self-attention is not used: a target position knows nothing of "
        "earlier ones.",
        asks="How many sublayers has a decoder layer?",
        ways=[Way(edits=[Edit(LINE_1, "")])],
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
            Edit(LINE_2,
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
                LINE_2,
                """
                x = add_and_norm(x, look_up, self.norm2, self.dropout, self.norm_first)
                x = add_and_norm(x, lambda y: self.again(y, memory, memory, memory_mask)[0], self.norm2, self.dropout, self.norm_first)
                """,
            ),
        ])],
    ),
]
