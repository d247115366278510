"""Mistakes in the scaling."""

from __future__ import annotations

from autograder.bank.attention._scaled_dot_product.lines import SOFTMAX
from autograder.oracle.specification import Edit, Mutant, Way

SCALING = [
    Mutant(
        name="unscaled",
        says="The scaling is missing: your weights are too sharp.",
        asks="What is the scores' standard deviation without it?",
        ways=[Way(edits=[Edit(" / math.sqrt(q.size(-1))", "")])],
    ),
    Mutant(
        name="by_size",
        says="You divided by `d_k` itself, not by its root: your weights are too "
        "even.",
        asks="The variance of a score is `d_k`. What is its standard deviation?",
        ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "q.size(-1)")])],
    ),
    Mutant(
        name="multiplied",
        says="You multiplied by the root of `d_k`, where a division was asked for.",
        asks="Are scores of long vectors too large or too small?",
        ways=[Way(edits=[Edit(" / math.sqrt", " * math.sqrt")])],
    ),
    Mutant(
        name="root_of_keys",
        says="You scaled by the root of the number of keys.",
        asks="Which dimension does a dot product sum over?",
        ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(k.size(-2))")])],
    ),
    Mutant(
        name="root_of_queries",
        says="You scaled by the root of the number of queries.",
        asks="Which dimension does a dot product sum over?",
        ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(q.size(-2))")])],
    ),
    Mutant(
        name="root_of_value_size",
        says="You scaled by the root of `d_v`, the size of the values. They take "
        "no part in the scores.",
        asks="Which two tensors make the scores, and what is their last size?",
        ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(v.size(-1))")])],
    ),
    Mutant(
        name="second_size",
        says="You read the size off dimension 1, which is `d_k` only while there "
        "is no batch.",
        asks="Which index names the last dimension, however many there are?",
        ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "math.sqrt(q.size(1))")])],
    ),
    Mutant(
        name="fixed_eight",
        says="You divided by 8, always: the root of 64, the size in the paper's "
        "example.",
        asks="Where can you read `d_k` off the input?",
        ways=[Way(edits=[Edit("math.sqrt(q.size(-1))", "8.0")])],
    ),
    Mutant(
        name="whole_root",
        says="The root of `d_k` was cut down to a whole number.",
        asks="What is the root of 6, and what is `int` of it?",
        ways=[Way(edits=[
            Edit("math.sqrt(q.size(-1))", "int(math.sqrt(q.size(-1)))"),
        ])],
    ),
    Mutant(
        name="scaled_after",
        says="You divided the *weights*, after the softmax. They no longer sum to "
        "one.",
        asks="What should be brought to spread 1: the scores or the shares?",
        ways=[Way(edits=[
            Edit(" / math.sqrt(q.size(-1))", ""),
            Edit(SOFTMAX, "F.softmax(scores, dim=-1) / math.sqrt(q.size(-1))"),
        ])],
    ),
]
