"""Mistakes in splitting and merging, and in the number of heads."""

from __future__ import annotations

from autograder.bank.multi_head_attention._multi_head_attention.lines import (
    EVEN,
    RETURN,
    K,
    Q,
    V,
)
from autograder.oracle.specification import Edit, Mutant, Way

SPLITTING = [
    Mutant(
        name="split_by_view_only",
        says="The heads hold chopped-up positions: the split reshapes straight to "
        "`(B, h, L, d_k)` and moves nothing.",
        asks="What did Exercise 3.2 do after cutting the features in two?",
        ways=[Way(edits=[
            Edit(Q,
                 "y, h = self.w_q(query), self.num_heads; q = y.reshape(y.size(0), h, y.size(1), -1)"),
            Edit(K,
                 "y, h = self.w_k(key), self.num_heads; k = y.reshape(y.size(0), h, y.size(1), -1)"),
            Edit(V,
                 "y, h = self.w_v(value), self.num_heads; v = y.reshape(y.size(0), h, y.size(1), -1)"),
        ])],
    ),
    Mutant(
        name="merge_by_view_only",
        says="Heads and positions are not swapped back before merging, so "
        "positions are mixed.",
        asks="What does Exercise 3.3 do before it joins two dimensions?",
        ways=[
            Way(edits=[
                Edit(
                    RETURN,
                    """
                    z = weights @ v
                    return self.w_o(z.reshape(z.size(0), z.size(2), -1)), weights
                    """,
                ),
            ]),
            Way(name="merge_by_contiguous_view", edits=[
                Edit(
                    RETURN,
                    """
                    z = weights @ v
                    return self.w_o(z.contiguous().view(z.size(0), z.size(2), -1)), weights
                    """,
                ),
            ]),
        ],
    ),
    Mutant(
        name="merge_mixes_batch",
        says="Sentences are mixed: before the merge the batch does not stand "
        "first.",
        asks="What happens to sentence 0 if you change sentence 1? What should "
        "happen?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                z = weights @ v
                return self.w_o(z.permute(2, 0, 1, 3).reshape(z.size(0), z.size(2), -1)), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="heads_interleaved",
        says="Heads are made of every h-th feature, in split and merge alike. Such "
        "a model trains well, but it is another layer than PyTorch's: our contract "
        "is blocks.",
        asks="Which features did head 0 get in Exercise 3.2?",
        ways=[Way(edits=[
            Edit(Q,
                 "y, h = self.w_q(query), self.num_heads; q = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            Edit(K,
                 "y, h = self.w_k(key), self.num_heads; k = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            Edit(V,
                 "y, h = self.w_v(value), self.num_heads; v = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            Edit(
                RETURN,
                """
                z = weights @ v
                return self.w_o(z.permute(0, 2, 3, 1).flatten(2)), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="only_split_interleaved",
        says="The split deals out every h-th feature, the merge joins blocks: they "
        "do not fit.",
        asks="Does merging undo your splitting? Try it on a small tensor.",
        ways=[Way(edits=[
            Edit(Q,
                 "y, h = self.w_q(query), self.num_heads; q = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            Edit(K,
                 "y, h = self.w_k(key), self.num_heads; k = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
            Edit(V,
                 "y, h = self.w_v(value), self.num_heads; v = y.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)"),
        ])],
    ),
    Mutant(
        name="only_merge_interleaved",
        says="The merge deals the features out in turn, while the split made "
        "blocks.",
        asks="Does merging undo your splitting? Try it on a small tensor.",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                z = weights @ v
                return self.w_o(z.permute(0, 2, 3, 1).flatten(2)), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="heads_merged_in_reverse",
        says="The heads are merged in reverse order.",
        asks="Which columns of `w_o` belong to head 0?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                z = weights @ v
                return self.w_o(merge_heads(z.flip(1))), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="view_of_transposed",
        says="The merge is right, but a transposed tensor lies scattered in "
        "memory, and `view` never copies.",
        asks="Which other function reshapes, and copies where it must?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                z = weights @ v
                return self.w_o(z.transpose(1, 2).view(z.size(0), z.size(2), -1)), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="single_head",
        says="The features are not shared out: there is only one head, of size "
        "d_model.",
        asks="Where in `forward` do you use `self.num_heads`?",
        ways=[Way(edits=[
            Edit(Q,
                 "y, h = self.w_q(query), self.num_heads; q = split_heads(y, 1)"),
            Edit(K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, 1)"),
            Edit(V,
                 "y, h = self.w_v(value), self.num_heads; v = split_heads(y, 1)"),
        ])],
    ),
    Mutant(
        name="heads_and_size_swapped",
        says="There are `d_k` heads of size `h`: the two numbers have changed "
        "places.",
        asks="Which of the two is the number of heads?",
        ways=[Way(edits=[
            Edit(Q,
                 "y, h = self.w_q(query), self.num_heads; q = split_heads(y, y.size(-1) // h)"),
            Edit(K,
                 "y, h = self.w_k(key), self.num_heads; k = split_heads(y, y.size(-1) // h)"),
            Edit(V,
                 "y, h = self.w_v(value), self.num_heads; v = split_heads(y, y.size(-1) // h)"),
        ])],
    ),
    Mutant(
        name="eight_heads_always",
        says="The number of heads is fixed to 8, the paper's number.",
        asks="Which number was given when the layer was made?",
        ways=[Way(edits=[
            Edit(Q,
                 "y, h = self.w_q(query), self.num_heads; q = split_heads(y, 8)"),
            Edit(K, "y, h = self.w_k(key), self.num_heads; k = split_heads(y, 8)"),
            Edit(V,
                 "y, h = self.w_v(value), self.num_heads; v = split_heads(y, 8)"),
        ])],
    ),
    Mutant(
        name="first_head_everywhere",
        says="All heads are copies of head 0.",
        asks="Which features belong to head 1?",
        ways=[Way(edits=[
            Edit(Q,
                 "y, h = self.w_q(query), self.num_heads; q = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
            Edit(K,
                 "y, h = self.w_k(key), self.num_heads; k = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
            Edit(V,
                 "y, h = self.w_v(value), self.num_heads; v = split_heads(y, h)[:, :1].expand(-1, h, -1, -1)"),
        ])],
    ),
    Mutant(
        name="heads_averaged",
        says="Every head's block holds the same average of all heads.",
        asks="What is the use of several heads if their answers are averaged at "
        "once?",
        ways=[Way(edits=[
            Edit(
                RETURN,
                """
                z = weights @ v
                return self.w_o(merge_heads(z.mean(1, keepdim=True).expand_as(z))), weights
                """,
            ),
        ])],
    ),
    Mutant(
        name="key_length_from_query",
        says="The keys are reshaped with the length of the *query*.",
        asks="In cross-attention, how many keys are there?",
        ways=[Way(edits=[
            Edit(K,
                 "k = self.w_k(key).view(query.size(0), query.size(1), self.num_heads, -1).transpose(1, 2)"),
        ])],
    ),
    Mutant(
        name="value_length_from_query",
        says="The values are reshaped with the length of the *query*.",
        asks="In cross-attention, how many values are there?",
        ways=[Way(edits=[
            Edit(V,
                 "v = self.w_v(value).view(query.size(0), query.size(1), self.num_heads, -1).transpose(1, 2)"),
        ])],
    ),
]

NUMBER_OF_HEADS = [
    Mutant(
        name="uneven_accepted",
        says="A number of heads that does not divide d_model is accepted.",
        asks="How large would each of 3 heads be if there are 10 features?",
        ways=[Way(edits=[Edit(EVEN, "if False:")])],
    ),
    Mutant(
        name="only_too_many_refused",
        says="Only more heads than features are refused; 3 heads cannot share 10 "
        "features either.",
        asks="Which remainder must the division leave?",
        ways=[Way(edits=[Edit(EVEN, "if num_heads > d_model:")])],
    ),
]
