"""Dropout that is wrong, or left out, on the branches of an encoder or decoder layer."""

from __future__ import annotations

from autograder.oracle.specification import Edit, Mutant, Way

# On all branches of a layer.
BRANCH_DROPOUT = [
    Mutant(
        name="kept_not_scaled",
        says="In training, what is kept of a branch is as large as before.",
        asks="What must become of the rest, if the mean is to stay what it was?",
        ways=[Way(edits=[
            Edit("self.dropout = nn.Dropout(dropout)",
                 "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) if self.training else x"),
        ])],
    ),
    Mutant(
        name="kept_made_smaller",
        says="In training, what is kept of a branch is made smaller.",
        asks="What must become of the rest, if the mean is to stay what it was?",
        ways=[Way(edits=[
            Edit("self.dropout = nn.Dropout(dropout)",
                 "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) * (1 - dropout) if self.training else x"),
        ])],
    ),
    Mutant(
        name="positions_dropped",
        says="Whole positions of a branch are dropped together.",
        asks="How many numbers are drawn for a vector of `d_model` features?",
        ways=[Way(edits=[
            Edit("self.dropout = nn.Dropout(dropout)",
                 "self.dropout = lambda x: x * (torch.rand_like(x[..., :1]) >= dropout) / (1 - dropout) if self.training else x"),
        ])],
    ),
    Mutant(
        name="dropout_in_pre_norm_only",
        says="In post-norm, the branches are not dropped in training.",
        asks="Which lines of your `forward` run in post-norm, and which of them drop?",
        ways=[Way(edits=[
            Edit("self.dropout = nn.Dropout(dropout)",
                 "self.dropout = nn.Dropout(dropout if norm_first else 0.0)"),
        ])],
    ),
    Mutant(
        name="no_branch_dropout",
        says="In training, the branches are not dropped.",
        asks="Three places get dropout. Which ones does your code reach?",
        ways=[Way(edits=[
            Edit("self.dropout = nn.Dropout(dropout)",
                 "self.dropout = nn.Identity()"),
        ])],
    ),
]
BRANCH, RATE = ("self.dropout", "nn.Identity()"), ("dropout", "0.0")


def without_dropout(
    name: str, where: str, line: str, place: tuple[str, str] = BRANCH
) -> Mutant:
    """A mutant of each layer: ``{}`` in its line is where dropout stands."""
    given, nothing = place
    flag = "self.norm_first" if place == BRANCH else "norm_first"
    in_post = f"{given} if {flag} else {nothing}"
    return Mutant(
        name=name,
        says=f"In training, nothing is dropped {where}.",
        asks="Which places get dropout? Which ones does your code reach?",
        ways=[
            Way(edits=[Edit(line.format(given), line.format(nothing))]),
            Way(
                name=f"{name}_in_post_norm",
                edits=[Edit(line.format(given), line.format(in_post))],
            ),
        ],
    )
