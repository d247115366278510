"""Mistakes in what a layer starts with, and in what it keeps."""

from __future__ import annotations

from autograder.bank.multi_head_attention._multi_head_attention.lines import (
    DROP,
    MASK,
    SDPA,
    K,
)
from autograder.oracle.specification import Edit, Mutant, Way

_LAST = "self.w_o = nn.Linear(d_model, d_model)"


def _scores(closed: str) -> str:
    """Attention by hand, with closed keys as given."""
    return f"""
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            scores = {closed}
        weights = scores.softmax(-1)
        """


STATES = [
    Mutant(
        name="starts_at_zero",
        says="A layer starts with zeros: what comes before it gets no gradient at first.",
        asks="What does `nn.Linear` do about its first weights, and why?",
        ways=[Way(edits=[Edit(_LAST, f"{_LAST}; nn.init.zeros_(self.w_o.weight)")])],
    ),
    Mutant(
        name="starts_constant",
        says="All weights start with the same number.",
        asks="In what could two heads, or two features, ever come to differ?",
        ways=[Way(edits=[
            Edit("self.dropout = nn.Dropout(dropout)",
                 "self.dropout = nn.Dropout(dropout)\nfor p in self.parameters():\n    nn.init.constant_(p, 0.1)"),
        ])],
    ),
    Mutant(
        name="starts_alike",
        says="Queries and keys start with the same weights.",
        asks="Do two words then find each other equally interesting at first?",
        ways=[Way(edits=[
            Edit(_LAST, f"{_LAST}; self.w_k.load_state_dict(self.w_q.state_dict())"),
        ])],
    ),
    Mutant(
        name="closed_by_a_number",
        says="Closed keys get a large negative number. Scores can be more negative than "
        "that.",
        asks="Which number is below all others?",
        ways=[
            Way(edits=[Edit(SDPA, _scores("scores.masked_fill(~mask, -1e4)"))]),
            Way(name="closed_by_minus_100", edits=[
                Edit(SDPA, _scores("scores.masked_fill(~mask, -100.0)")),
            ]),
            Way(name="closed_by_a_sum", edits=[
                Edit(SDPA, _scores("scores - 1e4 * (~mask)")),
            ]),
        ],
    ),
    Mutant(
        name="flat_mask_by_sentence",
        says="Where there are as many sentences as queries, a mask of two dimensions is "
        "read as `(B, Lk)`. In our contract it is `(Lq, Lk)`.",
        asks="May the meaning of a mask depend on how many sentences there are?",
        ways=[Way(edits=[
            Edit(MASK, """
                if mask is not None and mask.dim() == 2 and len(mask) == len(query):
                    mask = mask[:, None]
                mask = mask_for_heads(mask)
                """),
        ])],
    ),
    Mutant(
        name="dropout_in_place",
        says="Dropout writes into the weights that the softmax needs for its gradient, "
        "so training stops with an error.",
        asks="What does `inplace=True` overwrite, and who still needs it?",
        ways=[Way(edits=[
            Edit(DROP,
                 "weights = nn.functional.dropout(weights, self.dropout.p, self.training, inplace=True)"),
        ])],
    ),
    Mutant(
        name="keys_kept_from_before",
        says="The keys of an earlier call are kept, and used again for the same tensor: "
        "its new numbers, or its gradient, are lost.",
        asks="How could your layer know that a tensor still holds the same numbers?",
        ways=[
            Way(edits=[
                Edit(K, """
                    if getattr(self, "seen", None) is not key:
                        self.seen, self.kept = key, split_heads(self.w_k(key), self.num_heads).detach()
                        k = split_heads(self.w_k(key), self.num_heads)
                    else:
                        k = self.kept
                    """),
            ]),
        ],
    ),
]
