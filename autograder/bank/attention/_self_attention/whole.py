"""Mistakes of the module as a whole: its batch, gradient and start."""

from __future__ import annotations

from autograder.bank.attention._self_attention.lines import CALL, PROJECT
from autograder.oracle.specification import Edit, Mutant, Way

WHOLE = [
    Mutant(
        name="sequence_first",
        says="Your layer takes the positions for the batch: sentences attend to "
        "each other at the same position.",
        asks="Batch first: which dimension holds the words?",
        ways=[Way(edits=[
            Edit(PROJECT,
                 "q, k, v = (w(x.transpose(0, 1)) for w in (self.w_q, self.w_k, self.w_v))"),
            Edit(
                CALL,
                """
                o, w = scaled_dot_product_attention(q, k, v)
                return o.transpose(0, 1), w
                """,
            ),
        ])],
    ),
    Mutant(
        name="batch_flattened",
        says="You joined all sentences into one long sequence, so words see other "
        "sentences.",
        asks="What shape do your weights have? `(B, L, L)` is wanted.",
        ways=[Way(edits=[
            Edit(PROJECT,
                 "q, k, v = (w(x.flatten(0, 1)) for w in (self.w_q, self.w_k, self.w_v))"),
            Edit(
                CALL,
                """
                o, w = scaled_dot_product_attention(q, k, v)
                return o.unflatten(0, x.shape[:2]), w
                """,
            ),
        ])],
    ),
    Mutant(
        name="no_gradient",
        says="The numbers are right, but no gradient comes back to the input.",
        asks="Is there a `detach` or `no_grad` in your `forward`?",
        ways=[Way(edits=[
            Edit("self.w_q(x), self.w_k(x), self.w_v(x)",
                 "self.w_q(x.detach()), self.w_k(x.detach()), self.w_v(x.detach())"),
        ])],
    ),
    Mutant(
        name="dropout",
        says="Some numbers are zeroed by chance, even in evaluation: a dropout "
        "which nobody asked for.",
        asks="Does your layer give the same result twice?",
        ways=[Way(edits=[Edit("self.w_v(x)", "F.dropout(self.w_v(x), 0.3)")])],
    ),
    Mutant(
        name="scaled_by_model",
        says="The scores are scaled by the root of `d_model`, not of `d_k`.",
        asks="Which vectors are compared, and what is their size?",
        ways=[Way(edits=[
            Edit("self.w_q(x)",
                 "self.w_q(x) * (self.w_q.out_features / self.w_q.in_features) ** 0.5"),
        ])],
    ),
    Mutant(
        name="nothing_returned",
        says="`forward` computes, but returns nothing.",
        asks="Which line hands the result to the caller?",
        ways=[Way(edits=[
            Edit(CALL, "scaled_dot_product_attention(q, k, v, mask)"),
        ])],
    ),
    Mutant(
        name="no_super",
        says="`super().__init__()` is missing, so the module cannot hold layers.",
        asks="What does the first line of the skeleton's `__init__` do?",
        ways=[Way(edits=[Edit("super().__init__()", "pass")])],
    ),
    Mutant(
        name="starts_at_zero",
        says="`w_q` starts with zeros: at first every score is the same, and the keys "
        "get no gradient.",
        asks="What does `nn.Linear` do about its first weights, and why?",
        ways=[
            Way(edits=[
                Edit("self.w_v = nn.Linear(d_model, d_v)",
                     "self.w_v = nn.Linear(d_model, d_v); nn.init.zeros_(self.w_q.weight)"),
            ]),
        ],
    ),
    Mutant(
        name="starts_alike",
        says="`w_k` starts as a copy of `w_q`: each word then finds itself the most "
        "interesting.",
        asks="Which layers should be alike before anything is learnt?",
        ways=[Way(edits=[
            Edit("self.w_v = nn.Linear(d_model, d_v)",
                 "self.w_v = nn.Linear(d_model, d_v); self.w_k.load_state_dict(self.w_q.state_dict())"),
        ])],
    ),
    Mutant(
        name="starts_large",
        says="`w_v` starts with numbers that are far too large.",
        asks="How large are the numbers that `nn.Linear` starts with?",
        ways=[Way(edits=[
            Edit("self.w_v = nn.Linear(d_model, d_v)",
                 "self.w_v = nn.Linear(d_model, d_v); nn.init.normal_(self.w_v.weight, std=50.0)"),
        ])],
    ),
]
