"""The input layer."""

from __future__ import annotations

import torch

from autograder.bank.positional_encoding._input_layer.accepted import ACCEPTED
from autograder.bank.positional_encoding._input_layer.dropout import DROPOUT
from autograder.bank.positional_encoding._input_layer.embedding import EMBEDDING
from autograder.bank.positional_encoding._input_layer.factor import FACTOR
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import CaseKind, Inputs, Specification


def _tokens(draw: Draw, b: int, length: int, d_model: int, padding_idx: int) -> Inputs:
    """Ids with padding, and weights whose padding row is zero as a layer makes it."""
    vocab_size = 11
    ids = draw.ids(0, vocab_size, b, length)
    ids[0, -2:] = padding_idx
    weights = draw.weights(**{"embedding.weight": (vocab_size, d_model)})
    weights["weights.embedding.weight"][padding_idx] = 0
    return {
        **weights,
        "ids": ids,
        # Without zeros, so that every zero in training mode comes from dropout.
        "positions": draw.tensor(length, d_model) + 1 / 128,
        "vocab_size": torch.tensor(vocab_size),
        "padding_idx": torch.tensor(padding_idx),
        "pull": draw.tensor(b, length, d_model),
    }



EXERCISE = Specification(
    name="positional_encoding/input_layer",
    title="The input layer",
    target="InputLayer",
    aspects={"mode": 3.0},  # dropout is one of its steps
    promise=Promise(
        arguments="ids: B N",
        results="output: B N d",
        on=("padding_is_3",),
        ways=("steady", "alone", "spread", "gradient", "loaded", "start"),
        sizes=special(
            one_word=lambda draw: _tokens(draw, 3, 1, 4, 1),
            equal_sizes=lambda draw: _tokens(draw, 4, 4, 4, 2),
        ),
        module=True,
        dropout=(("padding_is_0",), {"rate": 0.25}),
    ),
    cases=[
        CaseKind(
            name="padding_is_0",
            title="padding is token 0",
            inputs=lambda draw: _tokens(draw, 3, 5, 8, 0),
            hint="Look up, scale, add positions, drop: in this order.",
        ),
        CaseKind(
            name="padding_is_3",
            title="padding is token 3",
            inputs=lambda draw: _tokens(draw, 2, 7, 12, 3),
            hint="The embedding layer needs to know which token is padding.",
        ),
        CaseKind(
            name="narrow",
            title="short vectors",
            inputs=lambda draw: _tokens(draw, 5, 9, 6, 1),
            hint="The factor is the square root of d_model, whatever its size.",
        ),
        CaseKind(
            name="one_sentence",
            title="a single sentence",
            inputs=lambda draw: _tokens(draw, 1, 17, 10, 10),
            hint="Does it work for a batch of one?",
            hidden_only=True,
        ),
    ],
    mutants=[*FACTOR, *DROPOUT, *EMBEDDING],
    accepted=ACCEPTED,
)
