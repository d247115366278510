"""Mistakes in the two products: queries and keys, weights and values."""

from __future__ import annotations

from autograder.bank.attention._scaled_dot_product.lines import RESULT, SOFTMAX
from autograder.oracle.specification import Edit, Mutant, Way

PRODUCTS = [
    Mutant(
        name="cosine",
        says="You brought queries and keys to length 1 first: these are cosines, "
        "and lengths no longer count.",
        asks="Which operation does the formula apply to `q` and `k` before the "
        "product?",
        ways=[Way(edits=[
            Edit("q @ k.transpose(-2, -1)",
                 "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)"),
        ])],
    ),
    Mutant(
        name="averaged",
        says="The output is too small by the number of keys: you took the mean of "
        "the weighted values, where the formula takes their sum.",
        asks="The weights sum to one already. Must you divide once more?",
        ways=[Way(edits=[
            Edit(RESULT, "return weights @ v / k.size(-2), weights"),
        ])],
    ),
    Mutant(
        name="largest_only",
        says="Each query takes the best key alone, as a dictionary does. There is "
        "no mixture, and no gradient.",
        asks="What is the difference between *the largest* and a *soft* maximum?",
        ways=[Way(edits=[
            Edit(SOFTMAX,
                 "F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)"),
        ])],
    ),
    Mutant(
        name="keys_ask",
        says="Queries and keys have changed places: your rows belong to keys.",
        asks="One output is wanted for each *query*. Which one must stand on the "
        "left?",
        ways=[Way(edits=[
            Edit("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)"),
        ])],
    ),
    Mutant(
        name="reshaped",
        says="You reshaped the keys to make the sizes fit. That deals their "
        "numbers out anew; it is not a transposition.",
        asks="Try `view` and transposing on a 2 x 3 matrix with the numbers 1 to "
        "6.",
        ways=[Way(edits=[
            Edit("k.transpose(-2, -1)", "k.reshape(*k.shape[:-2], k.size(-1), -1)"),
        ])],
    ),
    Mutant(
        name="capital_t",
        says="`k.T` reverses all dimensions, the batch too. That works for a plain "
        "matrix only.",
        asks="Which two dimensions should swap, counted from the end?",
        ways=[Way(edits=[Edit("k.transpose(-2, -1)", "k.T")])],
    ),
    Mutant(
        name="one_and_two",
        says="You swapped dimensions 1 and 2: right for a batch, but not without "
        "one, and not with heads.",
        asks="Which numbers name the last two dimensions of any tensor?",
        ways=[Way(edits=[Edit("k.transpose(-2, -1)", "k.transpose(1, 2)")])],
    ),
    Mutant(
        name="bmm_only",
        says="`bmm` takes three dimensions exactly: no plain matrix, and no heads.",
        asks="Which product treats any leading dimensions as a batch?",
        ways=[Way(edits=[
            Edit("q @ k.transpose(-2, -1)", "torch.bmm(q, k.transpose(-2, -1))"),
        ])],
    ),
    Mutant(
        name="weights_turned",
        says="The output is mixed with the transposed weights.",
        asks="Row `i` of the output belongs to query `i`. Which row of the weights "
        "belongs to it?",
        ways=[Way(edits=[
            Edit(RESULT, "return weights.transpose(-2, -1) @ v, weights"),
        ])],
    ),
    Mutant(
        name="mixes_keys",
        says="You mixed the *keys* where the values belong.",
        asks="Keys are for finding. What is handed out?",
        ways=[Way(edits=[Edit(RESULT, "return weights @ k, weights")])],
    ),
    Mutant(
        name="mixes_plainly",
        says="The output is the plain mean of the values; the weights play no "
        "part.",
        asks="Where do the weights enter the output?",
        ways=[Way(edits=[
            Edit(RESULT,
                 "return v.mean(-2, keepdim=True).expand(*weights.shape[:-1], -1), weights"),
        ])],
    ),
]
