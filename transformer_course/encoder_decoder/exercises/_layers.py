"""Mistakes in the use of dropout that encoder and decoder layers share."""

from __future__ import annotations

from autograder.authoring.notation import edit, wrong
from autograder.authoring.specification import Mutant

_DROPOUT = "self.dropout = nn.Dropout(dropout)"


def _write_dropout(factor: str) -> str:
    """Write code for a layer's dropout that multiplies x by ``factor`` in training mode.

    ``factor`` is itself code, such as "(torch.rand_like(x) >= dropout)".
    """
    return f"self.dropout = lambda x: x * {factor} if self.training else x"


# On all branches of a layer.
BRANCH_DROPOUT = [
    wrong("kept_not_scaled", "In training, the entries that dropout keeps in a branch are not scaled up.",
          "What must happen to the remaining entries so that the mean stays the same?",
          edit(_DROPOUT, _write_dropout("(torch.rand_like(x) >= dropout)")),
          edit(_DROPOUT, _write_dropout("(torch.rand_like(x) >= dropout) * (1 - dropout)"), name="kept_made_smaller")),
    wrong("positions_dropped", "In training, dropout removes whole positions of a branch instead of single entries.",
          "How many random numbers are drawn for a vector of `d_model` features?",
          edit(_DROPOUT, _write_dropout("(torch.rand_like(x[..., :1]) >= dropout) / (1 - dropout)"))),
    wrong("no_branch_dropout", "In training, no dropout is applied to the branches, at least not in post-norm.",
          "Dropout belongs in three places. Which of them does your code reach, in post-norm as well as in pre-norm?",
          edit(_DROPOUT, "self.dropout = nn.Identity()"),
          edit(_DROPOUT, "self.dropout = nn.Dropout(dropout if norm_first else 0.0)", name="dropout_in_pre_norm_only")),
]
BRANCH, RATE = ("self.dropout", "nn.Identity()"), ("dropout", "0.0")


def leave_out_dropout(name: str, location: str, line: str, place: tuple[str, str] = BRANCH) -> Mutant:
    """Make a mistake: dropout is left out at one location, at least in post-norm.

    Args:
        location: the words after "no dropout is applied" in the mistake's text.
        line: a part of the solution's code, in which ``{}`` marks the dropout.
        place: the code of the dropout, and the code that replaces it.
    """
    dropout, nothing = place
    flag = "self.norm_first" if place == BRANCH else "norm_first"
    return wrong(name,
                 f"In training, no dropout is applied {location}, at least not in post-norm.",
                 "Which places get dropout, and which of them does your code reach, in post-norm as well?",
                 edit(line.format(dropout), line.format(nothing)),
                 edit(line.format(dropout), line.format(f"{dropout} if {flag} else {nothing}")))
