"""Mistakes in what comes back: order, gradients, types."""

from __future__ import annotations

from autograder.bank.attention._scaled_dot_product.lines import RESULT, SOFTMAX
from autograder.bank.mutants import weights_detached
from autograder.oracle.specification import Edit, Mutant, Way

RESULTS = [
    Mutant(
        name="output_only",
        says="You returned the output alone; the weights are wanted, too.",
        asks="What does the docstring say comes second?",
        ways=[Way(edits=[Edit(RESULT, "return weights @ v")])],
    ),
    Mutant(
        name="weights_first",
        says="Both results are there, but in the wrong order: output first, then "
        "weights.",
        asks="What does the docstring say comes first?",
        ways=[Way(edits=[Edit(RESULT, "return weights, weights @ v")])],
    ),
    Mutant(
        name="scores_returned",
        says="The output is right, but in place of the weights you returned the "
        "scores.",
        asks="Do the rows of your second result sum to one?",
        ways=[Way(edits=[Edit(RESULT, "return weights @ v, scores")])],
    ),
    Mutant(
        name="first_sentence",
        says="Every sentence of the batch is answered with the values of the first "
        "one.",
        asks="Does an index `[0]` or `[:1]` stand somewhere in your code?",
        ways=[Way(edits=[
            Edit(RESULT,
                 "return weights @ (v[:1] if v.dim() > 2 else v), weights"),
        ])],
    ),
    Mutant(
        name="no_gradient",
        says="The numbers are right, but no gradient comes back: something cut the "
        "way (`detach`, `no_grad`, numpy).",
        asks="Could `w_q` ever learn through this function?",
        ways=[Way(edits=[Edit(SOFTMAX, "F.softmax(scores.detach(), dim=-1)")])],
    ),
    Mutant(
        name="no_gradient_at_all",
        says="The numbers are right, but the output carries no gradient at all, "
        "not even to the values.",
        asks="Is there a `no_grad` or a `detach` around the whole computation?",
        ways=[
            Way(edits=[Edit(RESULT, "return (weights @ v).detach(), weights")]),
            Way(name="numpy", edits=[
                Edit(RESULT,
                     "return torch.from_numpy(weights.detach().numpy() @ v.detach().numpy()), weights"),
            ]),
        ],
    ),
    weights_detached(RESULT, f"{RESULT}.detach()"),
    Mutant(
        name="scaled_and_back",
        says="The results are right, but `q` comes back with other last digits: you "
        "changed it, and took the change back.",
        asks="Does a number that is divided and multiplied again stay what it was?",
        ways=[Way(edits=[
            Edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
                 "q.data.div_(math.sqrt(q.size(-1))) @ k.transpose(-2, -1); q.data.mul_(math.sqrt(q.size(-1)))"),
        ])],
    ),
    Mutant(
        name="in_place",
        says="The results are right, but `q` itself was changed, so a second call "
        "gives something else.",
        asks="What is the difference between `q = q / n` and `q /= n`?",
        ways=[Way(edits=[
            Edit("q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
                 "q.div_(math.sqrt(q.size(-1))) @ k.transpose(-2, -1)"),
        ])],
    ),
    Mutant(
        name="dropout",
        says="Some weights are zeroed by chance: there is a dropout which nobody "
        "asked for.",
        asks="Why do two calls with the same input differ?",
        ways=[Way(edits=[
            Edit(SOFTMAX, "F.dropout(F.softmax(scores, dim=-1), 0.1)"),
        ])],
    ),
    Mutant(
        name="in_float32",
        says="Inputs of another type, such as bfloat16, come back as float32.",
        asks="Which of your calls names a type, and who returns to that of `q`?",
        ways=[
            Way(edits=[
                Edit(SOFTMAX, "F.softmax(scores, dim=-1, dtype=torch.float32)"),
                Edit("weights @ v,", "weights @ v.to(weights.dtype),"),
            ]),
            Way(name="in_float32_without_a_mask", edits=[
                Edit(SOFTMAX,
                     "F.softmax(scores, dim=-1, dtype=torch.float32 if mask is None else None)"),
                Edit("weights @ v,", "weights @ v.to(weights.dtype),"),
            ]),
        ],
    ),
    Mutant(
        name="half_precision",
        says="The numbers are close, but blunt: they went through a 16-bit type on "
        "the way.",
        asks="Which of your calls changes the type?",
        ways=[Way(edits=[
            Edit(SOFTMAX, "F.softmax(scores.bfloat16(), dim=-1).to(q.dtype)"),
        ])],
    ),
    Mutant(
        name="rounded",
        says="Your weights are rounded to a few digits.",
        asks="Is there a `round` left from looking at the numbers?",
        ways=[Way(edits=[
            Edit(SOFTMAX, "F.softmax(scores, dim=-1).round(decimals=2)"),
        ])],
    ),
]
