"""Mistakes in how the heads are listed and joined."""

from __future__ import annotations

from autograder.bank.multi_head_attention._list_of_heads.lines import (
    JOINED,
    LIST_RETURN,
    RESULTS,
)
from autograder.oracle.specification import Edit, Mutant, Way

JOINING = [
    Mutant(
        name="python_list",
        says="The heads seem to be in an ordinary Python list, so the module does "
        "not know their parameters and no optimiser would train them.",
        asks="Which container of `nn` registers the modules that it holds?",
        ways=[Way(edits=[Edit("nn.ModuleList(", "list(")])],
    ),
    Mutant(
        name="same_head_repeated",
        says="All heads are one and the same object, listed `num_heads` times: "
        "they share their weights and can never differ.",
        asks="How often does your code call `SelfAttention(...)`?",
        ways=[Way(edits=[
            Edit("attention.SelfAttention(d_model, d_k, d_v) for _ in range(num_heads)",
                 "[attention.SelfAttention(d_model, d_k, d_v)] * num_heads"),
        ])],
    ),
    Mutant(
        name="heads_not_joined",
        says="`w_o` takes the features of one head only, so the heads are probably "
        "averaged or summed instead of put side by side.",
        asks="If each head gives `d_v` features and none is thrown away, how many "
        "come in?",
        ways=[
            Way(edits=[
                Edit("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(d_v, d_out)"),
                Edit(JOINED, "joined = torch.stack(outputs).mean(dim=0)"),
            ]),
            Way(name="heads_summed", edits=[
                Edit("nn.Linear(num_heads * d_v, d_out)", "nn.Linear(d_v, d_out)"),
                Edit(JOINED, "joined = sum(outputs)"),
            ]),
        ],
    ),
    Mutant(
        name="one_head_not_projected",
        says="A single head that is as large as the output gets no linear layer.",
        asks="Does one head need a last layer less than several do?",
        ways=[Way(edits=[
            Edit("nn.Linear(num_heads * d_v, d_out)",
                 "nn.Linear(num_heads * d_v, d_out) if num_heads > 1 or d_v != d_out else nn.Identity()"),
        ])],
    ),
    Mutant(
        name="averaged_and_repeated",
        says="Every head's block of features holds the same average of all heads.",
        asks="What is the use of several heads if their answers are averaged at "
        "once?",
        ways=[Way(edits=[
            Edit(JOINED,
                 "joined = torch.cat([sum(outputs) / len(outputs)] * len(outputs), -1)"),
        ])],
    ),
    Mutant(
        name="only_first_head",
        says="All blocks come from head 0: the loop seems to call the same head "
        "each time.",
        asks="Does the variable of your loop appear inside the loop?",
        ways=[Way(edits=[
            Edit(RESULTS,
                 "results = [self.heads[0](x, mask) for _ in self.heads]"),
        ])],
    ),
    Mutant(
        name="joined_along_positions",
        says="The outputs are joined along another dimension than the features, so "
        "`w_o` does not fit.",
        asks="Which of the three dimensions of `(B, L, d_v)` shall grow?",
        ways=[
            Way(edits=[Edit(JOINED, "joined = torch.cat(outputs, dim=1)")]),
            Way(name="joined_along_batch", edits=[
                Edit(JOINED, "joined = torch.cat(outputs)"),
            ]),
        ],
    ),
    Mutant(
        name="no_output_projection",
        says="The joined heads come back as they are: `w_o` is made but not used.",
        asks="Which line lets the answers of different heads meet?",
        ways=[Way(edits=[
            Edit(LIST_RETURN, "return joined, torch.stack(weights, dim=1)"),
        ])],
    ),
    Mutant(
        name="features_interleaved",
        says="The features are dealt out in turn (head 0, head 1, ..., head 0 "
        "again) instead of block after block; `stack` and `flatten` on the last "
        "dimension do this.",
        asks="After `stack(..., dim=-1)`, which index runs fastest: head or "
        "feature?",
        ways=[Way(edits=[
            Edit(JOINED, "joined = torch.stack(outputs, dim=-1).flatten(-2)"),
        ])],
    ),
    Mutant(
        name="heads_reversed",
        says="The heads are joined in reverse order.",
        asks="Which head's features shall come first?",
        ways=[Way(edits=[
            Edit(JOINED, "joined = torch.cat(outputs[::-1], dim=-1)"),
        ])],
    ),
    Mutant(
        name="activation_added",
        says="There is a ReLU between the heads and `w_o`; the definition has "
        "none.",
        asks="What does the formula at the top of this unit put between Concat and "
        "W^O?",
        ways=[Way(edits=[
            Edit(LIST_RETURN,
                 "return self.w_o(joined.relu()), torch.stack(weights, 1)"),
        ])],
    ),
    Mutant(
        name="bias_once_per_head",
        says="The bias of `w_o` is added once for every head.",
        asks="If you apply `w_o` in pieces, how often may its bias take part?",
        ways=[Way(edits=[
            Edit(LIST_RETURN,
                 "return self.w_o(joined) + (len(outputs) - 1) * self.w_o.bias, torch.stack(weights, dim=1)"),
        ])],
    ),
]
