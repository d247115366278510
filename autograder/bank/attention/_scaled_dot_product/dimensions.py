"""Mistakes in the softmax: its dimension, and what stands in for it."""

from __future__ import annotations

from autograder.bank.attention._scaled_dot_product.lines import SOFTMAX
from autograder.oracle.specification import Edit, Mutant, Way

DIMENSIONS = [
    Mutant(
        name="over_queries",
        says="Your *columns* sum to one: the softmax ran over the queries "
        "(dimension -2), not over the keys.",
        asks="One query shares its attention among all keys. Along which dimension "
        "do these shares lie?",
        ways=[Way(edits=[Edit(SOFTMAX, "F.softmax(scores, dim=-2)")])],
    ),
    Mutant(
        name="over_first",
        says="The softmax ran over the first dimension, so the sentences of a "
        "batch compete with each other.",
        asks="Along which dimension do the shares of one query lie?",
        ways=[Way(edits=[Edit(SOFTMAX, "F.softmax(scores, dim=0)")])],
    ),
    Mutant(
        name="over_second",
        says="The softmax ran over dimension 1. That is the last one for a matrix "
        "only.",
        asks="Which index names the last dimension of any tensor?",
        ways=[Way(edits=[Edit(SOFTMAX, "F.softmax(scores, dim=1)")])],
    ),
    Mutant(
        name="over_second_of_batch",
        says="The softmax ran over dimension 2. That is the last one for a batch "
        "`(B, Lq, Lk)`, but not without a batch, and not with heads.",
        asks="Which index names the last dimension of any tensor?",
        ways=[
            Way(edits=[Edit(SOFTMAX, "F.softmax(scores, dim=2)")]),
            Way(name="over_third", edits=[Edit(SOFTMAX, "scores.softmax(2)")]),
        ],
    ),
    Mutant(
        name="twice",
        says="Your weights are much too even: softmax was applied twice.",
        asks="What does softmax make of numbers that all lie between 0 and 1?",
        ways=[Way(edits=[Edit(SOFTMAX, "F.softmax(scores, dim=-1).softmax(-1)")])],
    ),
    Mutant(
        name="logarithms",
        says="Your weights are negative: these are logarithms (`log_softmax`).",
        asks="Can a share be negative?",
        ways=[Way(edits=[Edit(SOFTMAX, "F.log_softmax(scores, dim=-1)")])],
    ),
    Mutant(
        name="sigmoids",
        says="You used a sigmoid: each weight is for itself, and a row does not "
        "sum to one.",
        asks="If all keys fit well, how much may each one get?",
        ways=[Way(edits=[Edit(SOFTMAX, "torch.sigmoid(scores)")])],
    ),
    Mutant(
        name="plain_normalised",
        says="You divided the scores by their sum, without the exponential: "
        "weights may be negative or huge.",
        asks="What makes any number positive?",
        ways=[Way(edits=[Edit(SOFTMAX, "scores / scores.sum(-1, keepdim=True)")])],
    ),
    Mutant(
        name="no_softmax",
        says="There is no softmax: your weights are the scores themselves.",
        asks="What must the weights of one query sum to?",
        ways=[Way(edits=[Edit(SOFTMAX, "scores")])],
    ),
    Mutant(
        name="overflow",
        says="With small scores all is well; large ones overflow in `exp`, and "
        "`inf / inf` is `nan`.",
        asks="What did Exercise 2.3 do about that?",
        ways=[Way(edits=[
            Edit(SOFTMAX, "scores.exp() / scores.exp().sum(-1, keepdim=True)"),
        ])],
    ),
    Mutant(
        name="hidden_nan",
        says="You turned `nan` into zero. The alarm is silent now, but these rows "
        "have no weights at all.",
        asks="Where does the `nan` come from? Every row has an open key here.",
        ways=[Way(edits=[
            Edit(SOFTMAX,
                 "(scores.exp() / scores.exp().sum(-1, keepdim=True)).nan_to_num(0.0)"),
        ])],
    ),
]
