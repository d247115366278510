"""Mistakes in what goes into attention: projections and mask."""

from __future__ import annotations

from autograder.bank.attention._self_attention.lines import PROJECT
from autograder.oracle.specification import Edit, Mutant, Way

INPUTS = [
    Mutant(
        name="query_key_swapped",
        says="Queries and keys have changed places on their way into attention.",
        asks="In which order does your attention take its arguments?",
        ways=[
            Way(edits=[Edit("(q, k, v, mask)", "(k, q, v, mask)")]),
            Way(name="projections_swapped", edits=[
                Edit(PROJECT, "q, k, v = self.w_k(x), self.w_q(x), self.w_v(x)"),
            ]),
        ],
    ),
    Mutant(
        name="queries_as_keys",
        says="Queries and keys come from the same layer: `w_k` is never used.",
        asks="What a word looks for and what it offers: should they be the same?",
        ways=[Way(edits=[Edit("self.w_k(x)", "self.w_q(x)")])],
    ),
    Mutant(
        name="keys_as_queries",
        says="Queries and keys come from the same layer: `w_q` is never used.",
        asks="What a word looks for and what it offers: should they be the same?",
        ways=[Way(edits=[Edit("self.w_q(x)", "self.w_k(x)")])],
    ),
    Mutant(
        name="keys_as_values",
        says="The keys are handed out as values; `w_v` plays no part.",
        asks="What size has the output, and which layer gives that size?",
        ways=[Way(edits=[Edit("(q, k, v, mask)", "(q, k, k, mask)")])],
    ),
    Mutant(
        name="inputs_as_values",
        says="The input itself is handed out as values; `w_v` plays no part.",
        asks="Which of your three layers is never used?",
        ways=[Way(edits=[Edit("(q, k, v, mask)", "(q, k, x, mask)")])],
    ),
    Mutant(
        name="inputs_compared",
        says="The inputs themselves are compared; `w_q` and `w_k` play no part.",
        asks="Which of your three layers are never used?",
        ways=[Way(edits=[Edit("(q, k, v, mask)", "(x, x, v, mask)")])],
    ),
    Mutant(
        name="zeros_closed",
        says="Without a mask, nobody sees a position whose vector is zero.",
        asks="Who says which positions are padding?",
        ways=[Way(edits=[
            Edit("(q, k, v, mask)",
                 "(q, k, v, (x != 0).any(-1)[:, None] if mask is None else mask)"),
        ])],
    ),
    Mutant(
        name="mask_dropped",
        says="The mask never reaches attention.",
        asks="How many arguments does your attention take?",
        ways=[
            Way(edits=[Edit("(q, k, v, mask)", "(q, k, v)")]),
            Way(name="mask_none", edits=[
                Edit("(q, k, v, mask)", "(q, k, v, mask=None)"),
            ]),
        ],
    ),
    Mutant(
        name="mask_in_training_only",
        says="The mask is used in training only.",
        asks="Does it depend on the mode who may see whom?",
        ways=[Way(edits=[
            Edit("(q, k, v, mask)", "(q, k, v, mask if self.training else None)"),
        ])],
    ),
    Mutant(
        name="mask_inverted",
        says="The mask is inverted on its way: closed becomes open.",
        asks="Do both functions agree on what `True` means?",
        ways=[Way(edits=[
            Edit("(q, k, v, mask)", "(q, k, v, None if mask is None else ~mask)"),
        ])],
    ),
    Mutant(
        name="always_causal",
        says="Your layer is always causal, whatever mask it is given.",
        asks="Who decides which mask is used?",
        ways=[Way(edits=[
            Edit("(q, k, v, mask)",
                 "(q, k, v, torch.ones(x.size(1), x.size(1)).tril().bool())"),
        ])],
    ),
]
