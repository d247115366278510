"""Mistakes in the placement of the norm, the mask, and the sublayers."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

SUBLAYERS = [
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
        name="always_pre",
        says="Your layer is pre-norm, even if `norm_first` is False (the default).",
        asks="Who tells `add_and_norm` about `norm_first`?",
        ways=[Way(edits=[
            Edit("self.norm_first = norm_first", "self.norm_first = True"),
        ])],
    ),
    Mutant(
        name="argument_ignored",
        says="In pre-norm the attention sees the layer's raw input: your little function "
        "does not look at its argument.",
        asks="What does `add_and_norm` hand to the function that it is given?",
        ways=[Way(edits=[
            Edit(
                """
                def attend(x: Tensor) -> Tensor:
                    return self.attention(x, x, x, mask)[0]
                """,
                """
                def attend(y: Tensor) -> Tensor:
                    return self.attention(x, x, x, mask)[0]
                """,
            ),
        ])],
    ),
    Mutant(
        name="keys_not_normed",
        says="In pre-norm only the query is normalised; key and value are the "
        "layer's raw input.",
        asks="Inside your little function, do all three come from its *argument*?",
        ways=[Way(edits=[
            Edit(
                """
                def attend(x: Tensor) -> Tensor:
                    return self.attention(x, x, x, mask)[0]
                """,
                """
                def attend(y: Tensor) -> Tensor:
                    return self.attention(y, x, x, mask)[0]
                """,
            ),
            Edit("x = add_and_norm(x, attend,", "z = add_and_norm(x, attend,"),
            Edit("            x, self.feed_forward",
                 "            z, self.feed_forward"),
        ])],
    ),
    Mutant(
        name="mask_ignored",
        says="The mask does not reach the attention: masked positions move "
        "outputs.",
        asks="Which argument of the attention is missing?",
        ways=[Way(edits=[Edit("(x, x, x, mask)", "(x, x, x)")])],
    ),
    Mutant(
        name="mask_inverted",
        says="The mask is turned round: exactly the forbidden positions are seen.",
        asks='In this course, does True mean "may" or "may not"?',
        ways=[Way(edits=[
            Edit("(x, x, x, mask)", "(x, x, x, None if mask is None else ~mask)"),
        ])],
    ),
    Mutant(
        name="no_feed_forward",
        says="The feed-forward network is not used.",
        asks="How many sublayers has an encoder layer?",
        ways=[Way(edits=[
            Edit(
                """
                return add_and_norm(
                    x, self.feed_forward, self.norm2, self.dropout, self.norm_first
                )
                """,
                "return x",
            ),
        ])],
    ),
    Mutant(
        name="no_attention",
        says="The attention is not used: no position listens to another one.",
        asks="How many sublayers has an encoder layer?",
        ways=[
            Way(edits=[
                Edit("x = add_and_norm(x, attend, self.norm1, self.dropout, self.norm_first)",
                     ""),
            ]),
            Way(name="first_lost", edits=[
                Edit("x = add_and_norm(x, attend,", "_ = add_and_norm(x, attend,"),
            ]),
        ],
    ),
    Mutant(
        name="feed_forward_first",
        says="The feed-forward network comes before the attention.",
        asks="First listen, then think: which is which?",
        ways=[Way(edits=[
            Edit("x = add_and_norm(x, attend, self.norm1,",
                 "x = add_and_norm(x, self.feed_forward, self.norm2,"),
            Edit("            x, self.feed_forward, self.norm2,",
                 "            x, attend, self.norm1,"),
        ])],
    ),
    Mutant(
        name="parallel",
        says="Both sublayers start from the layer's input. The network should get "
        "what the attention has made of it.",
        asks="Which `x` do you hand to the second `add_and_norm`?",
        ways=[Way(edits=[
            Edit("x = add_and_norm(x, attend,", "y = add_and_norm(x, attend,"),
            Edit("return add_and_norm(", "return y - x + add_and_norm("),
        ])],
    ),
]
