"""Mistakes in what comes back, and in what was added on the way."""

from __future__ import annotations

from autograder.bank.attention._self_attention.lines import CALL, PROJECT
from autograder.bank.mutants import weights_detached
from autograder.oracle.specification import Edit, Mutant, Way

RESULTS = [
    Mutant(
        name="output_only",
        says="You returned the output alone; the weights are wanted, too.",
        asks="What does your attention return, and what does the docstring want?",
        ways=[Way(edits=[
            Edit(CALL, "return scaled_dot_product_attention(q, k, v, mask)[0]"),
        ])],
    ),
    Mutant(
        name="weights_first",
        says="Both results are there, but in the wrong order: output first, then "
        "weights.",
        asks="What does the docstring say comes first?",
        ways=[Way(edits=[
            Edit(CALL, "return scaled_dot_product_attention(q, k, v, mask)[::-1]"),
        ])],
    ),
    weights_detached(CALL, f"o, w = {CALL.removeprefix('return ')}; return o, w.detach()"),
    Mutant(
        name="weights_averaged",
        says="The weights lost a dimension: `(B, L, L)` is wanted, a map for each "
        "sentence.",
        asks="Is there a mean or an index too many?",
        ways=[Way(edits=[
            Edit(
                CALL,
                """
                o, w = scaled_dot_product_attention(q, k, v, mask)
                return o, w.mean(0)
                """,
            ),
        ])],
    ),
    Mutant(
        name="residual",
        says="You added the values to the output: a residual, which nobody asked "
        "for yet.",
        asks="What does the docstring say `forward` returns?",
        ways=[Way(edits=[
            Edit(
                CALL,
                """
                o, w = scaled_dot_product_attention(q, k, v, mask)
                return o + v, w
                """,
            ),
        ])],
    ),
    Mutant(
        name="normalised",
        says="The output is normalised: there is a layer norm which nobody asked "
        "for yet.",
        asks="What does the docstring say `forward` returns?",
        ways=[Way(edits=[
            Edit(
                CALL,
                """
                o, w = scaled_dot_product_attention(q, k, v, mask)
                return F.layer_norm(o, o.shape[-1:]), w
                """,
            ),
        ])],
    ),
    Mutant(
        name="activation",
        says="The projections pass through a ReLU: negative numbers are gone.",
        asks="What is between a linear layer and attention in the formula?",
        ways=[Way(edits=[
            Edit(
                PROJECT,
                """
                q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
                q, k, v = q.relu(), k.relu(), v.relu()
                """,
            ),
        ])],
    ),
    Mutant(
        name="output_projection",
        says="There is one more layer, an output projection. It comes with the "
        "heads in unit 3, not here.",
        asks="How many linear layers does the text ask for?",
        ways=[Way(edits=[
            Edit(
                "self.w_v = nn.Linear(d_model, d_v)",
                """
                self.w_v = nn.Linear(d_model, d_v)
                self.w_o = nn.Linear(d_v, d_v)
                """,
            ),
        ])],
    ),
]
