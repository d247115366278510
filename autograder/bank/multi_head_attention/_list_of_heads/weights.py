"""Mistakes in how weights and output come back."""

from __future__ import annotations

from autograder.bank.multi_head_attention._list_of_heads.lines import LIST_RETURN
from autograder.oracle.specification import Edit, Mutant, Way

WEIGHTS = [
    Mutant(
        name="weights_averaged",
        says="The weights are averaged over the heads; each head's map is asked "
        "for.",
        asks="How many maps does a sentence have if there are `h` heads?",
        ways=[Way(edits=[
            Edit(LIST_RETURN,
                 "return self.w_o(joined), torch.stack(weights).mean(0)"),
        ])],
    ),
    Mutant(
        name="weights_of_last_head",
        says="Only the last head's weights come back; in a loop, each round "
        "probably overwrites those of the round before.",
        asks="Where do you collect the weights of each round?",
        ways=[Way(edits=[
            Edit(LIST_RETURN, "return self.w_o(joined), weights[-1]"),
        ])],
    ),
    Mutant(
        name="weights_heads_first",
        says="The weights have shape `(h, B, L, L)`: the new dimension stands "
        "before the batch.",
        asks="Which `dim` does `stack` use if you do not say?",
        ways=[Way(edits=[
            Edit(LIST_RETURN, "return self.w_o(joined), torch.stack(weights)"),
        ])],
    ),
    Mutant(
        name="weights_concatenated",
        says="The maps are glued to one long map; a new dimension is wanted "
        "instead.",
        asks="What is the difference between `cat` and `stack`?",
        ways=[Way(edits=[
            Edit(LIST_RETURN,
                 "return self.w_o(joined), torch.cat(weights, dim=1)"),
        ])],
    ),
    Mutant(
        name="weights_concatenated_along_keys",
        says="The maps are glued side by side along the keys; a new dimension is "
        "wanted instead.",
        asks="What is the difference between `cat` and `stack`?",
        ways=[Way(edits=[
            Edit(LIST_RETURN,
                 "return self.w_o(joined), torch.cat(weights, dim=-1)"),
        ])],
    ),
    Mutant(
        name="weights_in_a_tuple",
        says="The weights come back as a tuple of maps; one tensor is asked for.",
        asks="Which function makes one tensor, with a new dimension, out of "
        "several?",
        ways=[Way(edits=[Edit(LIST_RETURN, "return self.w_o(joined), weights")])],
    ),
    Mutant(
        name="weights_in_a_list",
        says="The weights come back as a list of maps; one tensor is asked for.",
        asks="Which function makes one tensor, with a new dimension, out of "
        "several?",
        ways=[Way(edits=[
            Edit(LIST_RETURN, "return self.w_o(joined), list(weights)"),
        ])],
    ),
    Mutant(
        name="only_output",
        says="Only the output comes back; the weights are asked for, too.",
        asks="What does the docstring list under Returns?",
        ways=[Way(edits=[Edit(LIST_RETURN, "return self.w_o(joined)")])],
    ),
    Mutant(
        name="results_swapped",
        says="Output and weights come back in the wrong order.",
        asks="Which of the two comes first, by the conventions of this course?",
        ways=[Way(edits=[
            Edit(LIST_RETURN,
                 "return torch.stack(weights, dim=1), self.w_o(joined)"),
        ])],
    ),
]
