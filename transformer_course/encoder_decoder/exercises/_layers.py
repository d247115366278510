"""Mistakes that encoder and decoder layers share: where dropout is applied."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Mutant

# On all branches of a layer.
BRANCH_DROPOUT = [
    wrong("kept_not_scaled",
          "In training, the entries that dropout keeps in a branch are not scaled up.",
          "What must happen to the remaining entries so that the mean stays the same?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) if self.training else x")),
    wrong("kept_made_smaller",
          "In training, the entries that dropout keeps in a branch are scaled down.",
          "What must happen to the remaining entries so that the mean stays the same?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x) >= dropout) * (1 - dropout) if self.training else x")),
    wrong("positions_dropped",
          "In training, dropout removes whole positions of a branch instead of single entries.",
          "How many random numbers are drawn for a vector of `d_model` features?",
          edit("self.dropout = nn.Dropout(dropout)",
               "self.dropout = lambda x: x * (torch.rand_like(x[..., :1]) >= dropout) / (1 - dropout) if self.training else x")),
    wrong("dropout_in_pre_norm_only",
          "In post-norm, no dropout is applied to the branches.",
          "Which lines of your `forward` run in post-norm, and which of them apply dropout?",
          edit("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Dropout(dropout if norm_first else 0.0)")),
    wrong("no_branch_dropout",
          "In training, no dropout is applied to the branches.",
          "Dropout belongs in three places. Which of them does your code reach?",
          edit("self.dropout = nn.Dropout(dropout)", "self.dropout = nn.Identity()")),
]
BRANCH, RATE = ("self.dropout", "nn.Identity()"), ("dropout", "0.0")


def without_dropout(
    name: str, location: str, line: str, place: tuple[str, str] = BRANCH
) -> list[Mutant]:
    """Two mutants without dropout at one place; ``{}`` in ``line`` marks that place."""
    dropout, nothing = place
    flag = "self.norm_first" if place == BRANCH else "norm_first"
    in_post = f"{dropout} if {flag} else {nothing}"
    return [
        wrong(name,
              f"In training, no dropout is applied {location}.",
              "Which places get dropout, and which of them does your code reach?",
              edit(line.format(dropout), line.format(nothing))),
        wrong(f"{name}_in_post_norm",
              f"In training, post-norm applies no dropout {location}; pre-norm does.",
              "Which places get dropout, and which of them does your post-norm code reach?",
              edit(line.format(dropout), line.format(in_post))),
    ]
