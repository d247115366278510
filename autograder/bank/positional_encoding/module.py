"""PositionalEncoding."""

from __future__ import annotations

import torch

from autograder.bank.positional_encoding._module.accepted import ACCEPTED
from autograder.bank.positional_encoding._module.extras import EXTRAS
from autograder.bank.positional_encoding._module.rows import ROWS
from autograder.bank.positional_encoding._module.table import TABLE
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
from autograder.oracle.specification import CaseKind, Inputs, Specification


def _sentences(draw: Draw, b: int, length: int, max_len: int, d_model: int) -> Inputs:
    return {
        "table": draw.tensor(max_len, d_model),
        "x": draw.tensor(b, length, d_model),
    }


def _two_lengths(draw: Draw) -> Inputs:
    return {**_sentences(draw, 2, 3, 11, 6), "longer x": draw.tensor(4, 7, 6)}


def _zeros(draw: Draw) -> Inputs:
    """A position without a word, as padding is."""
    made = _sentences(draw, 2, 3, 5, 4)
    made["x"][0, 1] = 0
    return made


def _unused(draw: Draw) -> Inputs:
    """Rows beyond the sentence hold what is no number."""
    made = _sentences(draw, 2, 3, 5, 4)
    made["table"][3:] = torch.nan
    return made


def _pulled(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 7, 7, 4), "pull": draw.tensor(3, 7, 4)}


def _moved(draw: Draw) -> Inputs:
    return {**_sentences(draw, 3, 4, 9, 6), "move": torch.tensor(1)}



EXERCISE = Specification(
    name="positional_encoding/module",
    title="PositionalEncoding",
    target="PositionalEncoding",
    promise=Promise(
        arguments="x: B L d",
        results="output: B L d",
        on=("short",),
        ways=tuple(way for way in OF_MODULES if way != "start"),  # it has no weights
        module=True,
        sizes=special(
            equal_sizes=lambda draw: _sentences(draw, 4, 4, 4, 4),
            one_position=lambda draw: _sentences(draw, 3, 1, 1, 2),
            one_word=lambda draw: _sentences(draw, 1, 1, 5, 2),
            one_feature=lambda draw: _sentences(draw, 2, 3, 5, 1),
            a_position_of_zeros=_zeros,
            rows_of_nan_that_are_not_used=_unused,
        ),
    ),
    cases=[
        CaseKind(
            name="short",
            title="sentences shorter than the table",
            inputs=lambda draw: _sentences(draw, 3, 5, 12, 8),
            hint="Only the first L rows of the table are added, the same in each "
            "sentence.",
        ),
        CaseKind(
            name="two_lengths",
            title="a short batch, then a longer and larger one",
            inputs=_two_lengths,
            hint="Nothing of the first call may be left in the second.",
        ),
        CaseKind(
            name="moves",
            title="moved to bfloat16, then to another device",
            inputs=_moved,
            hint="What is registered as a buffer moves with the module.",
        ),
        CaseKind(
            name="full_length",
            title="as long as the table, with a gradient",
            inputs=_pulled,
            hint="A sentence of exactly max_len positions fits.",
        ),
        CaseKind(
            name="one_sentence",
            title="a batch of one",
            inputs=lambda draw: _sentences(draw, 1, 6, 13, 10),
            hint="Which dimension of `x` tells the number of positions?",
            hidden_only=True,
        ),
    ],
    mutants=[*TABLE, *ROWS, *EXTRAS],
    accepted=ACCEPTED,
)
