"""Mistakes in what each head is given, and what it is made of."""

from __future__ import annotations

from autograder.bank.multi_head_attention._list_of_heads.lines import (
    JOINED,
    LIST_RETURN,
    RESULTS,
)
from autograder.bank.mutants import (
    mask_in_the_state,
    under_two_names,
    weights_detached,
)
from autograder.oracle.specification import Edit, Mutant, Way

HEADS = [
    Mutant(
        name="mask_forgotten",
        says="The mask does not arrive: the heads attend to forbidden positions.",
        asks="Which arguments does `SelfAttention.forward` take?",
        ways=[Way(edits=[
            Edit(RESULTS, "results = [head(x) for head in self.heads]"),
        ])],
    ),
    Mutant(
        name="mask_for_first_head_only",
        says="Only head 0 respects the mask; through the other heads, forbidden "
        "positions still move the output.",
        asks="What is `mask` in the second round of your loop?",
        ways=[Way(edits=[
            Edit(RESULTS,
                 "results = [h(x, None if i else mask) for i, h in enumerate(self.heads)]"),
        ])],
    ),
    Mutant(
        name="mask_inverted",
        says="The mask works the wrong way round: what may be seen is hidden.",
        asks="What does `True` mean in the masks of this course?",
        ways=[Way(edits=[
            Edit(RESULTS,
                 "results = [head(x, None if mask is None else ~mask) for head in self.heads]"),
        ])],
    ),
    Mutant(
        name="heads_in_a_chain",
        says="Each head gets the output of the head before it; all of them should "
        "see `x`.",
        asks="Is the name of your input still that of the input after the first "
        "round?",
        ways=[Way(edits=[
            Edit(
                RESULTS,
                """
                results = []
                for head in self.heads:
                    results.append(head(x, mask))
                    x = results[-1][0]
                """,
            ),
        ])],
    ),
    Mutant(
        name="no_gradient",
        says="The output is cut off from the gradient: there is a `no_grad`, a "
        "`detach` or a `.data` on the way.",
        asks="Would training reach the weights of your heads?",
        ways=[Way(edits=[
            Edit(JOINED, "joined = torch.cat(outputs, dim=-1).detach()"),
        ])],
    ),
    weights_detached(LIST_RETURN, f"{LIST_RETURN}.detach()"),
    Mutant(
        name="projection_without_bias",
        says="`w_o` has no bias.",
        asks="Which argument of `nn.Linear` did you set?",
        ways=[Way(edits=[
            Edit("nn.Linear(num_heads * d_v, d_out)",
                 "nn.Linear(num_heads * d_v, d_out, bias=False)"),
        ])],
    ),
    Mutant(
        name="sizes_swapped",
        says="`d_k` and `d_v` have changed places in the heads.",
        asks="In which order does `SelfAttention` take its sizes?",
        ways=[Way(edits=[
            Edit("SelfAttention(d_model, d_k, d_v)",
                 "SelfAttention(d_model, d_v, d_k)"),
        ])],
    ),
    Mutant(
        name="heads_of_a_slice",
        says="Each head is made for a part of the features only. In this view "
        "every head sees the whole `x`.",
        asks="In the drawing above, what arrows go into `heads[1]`?",
        ways=[Way(edits=[
            Edit("SelfAttention(d_model, d_k, d_v)",
                 "SelfAttention(d_model // num_heads, d_k, d_v)"),
        ])],
    ),
    mask_in_the_state("self.w_o = nn.Linear(num_heads * d_v, d_out)"),
    under_two_names(
        "self.w_o = nn.Linear(num_heads * d_v, d_out)",
        "for number, head in enumerate(self.heads):\n    self.add_module(f'head{number}', head)",
        what="The weights of the heads",
    ),
    Mutant(
        name="heads_start_alike",
        says="All heads start as copies of one: they get the same gradients and stay "
        "alike.",
        asks="In what could two heads differ that began alike?",
        ways=[Way(edits=[
            Edit("self.w_o = nn.Linear(num_heads * d_v, d_out)",
                 "self.w_o = nn.Linear(num_heads * d_v, d_out)\nfor head in self.heads:\n    head.load_state_dict(self.heads[0].state_dict())"),
        ])],
    ),
]
