"""Softmax that survives."""

from __future__ import annotations

import torch

from autograder.bank.attention._softmax.accepted import ACCEPTED
from autograder.bank.attention._softmax.dimensions import DIMENSIONS
from autograder.bank.attention._softmax.maxima import MAXIMA
from autograder.bank.attention._softmax.results import RESULTS
from autograder.bank.attention._softmax.shares import SHARES
from autograder.bank.inputs import open_mask
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification


def _rows(*shape: int, scale: float = 3.0, offsets: tuple[float, ...] = ()) -> Maker:
    """Rows for softmax; ``offsets`` move the items of the first dimension apart."""

    def inputs(draw: Draw) -> Inputs:
        x = draw.tensor(*shape, scale=scale)
        if offsets:
            x = x + torch.tensor(offsets).reshape(-1, *[1] * (len(shape) - 1))
        return {"x": x}

    return inputs


def _rows_apart(draw: Draw) -> Inputs:
    """Rows far apart; in each of them, two numbers tower above the others."""
    x = _rows(3, 2, 6, offsets=(1000.0, 0.0, -1000.0))(draw)["x"]
    x[:, 1] -= 500.0  # rows of one matrix are as far apart as matrices
    first = int(draw.ids(0, 5))
    x[..., first : first + 2] += 300.0
    return {"x": x}


def _rows_with_pull(draw: Draw) -> Inputs:
    """One number lies so far below its row that its power is zero."""
    x = draw.tensor(2, 3, 5)
    x[1, int(draw.ids(0, 3)), int(draw.ids(0, 5))] -= 200.0
    return {"x": x, "pull": draw.tensor(2, 3, 5)}


def _rows_with_holes(draw: Draw) -> Inputs:
    return {"x": _holes(draw.tensor(3, 4, 6), open_mask(draw, 3, 4, 6))}


def _holes(x: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
    return x.masked_fill(~keep, float("-inf"))


EXERCISE = Specification(
    name="attention/softmax",
    title="Softmax that survives",
    target="stable_softmax",
    promise=Promise(
        typed=True,
        arguments="x: B h M L",
        results="weights: B h M L",
        on=("heads",),
        sizes=special(
            one_number=_rows(2, 3, 1),
            one_row=_rows(1, 5),
            one_row_without_a_batch=_rows(5, offsets=(0.0, 300.0, 150.0, 299.0, 50.0)),
            equal_sizes=_rows(3, 3, 3),
            as_many_rows_as_numbers=_rows(4, 4),
        ),
    ),
    cases=[
        CaseKind(
            name="small",
            title="3 rows of 5 small numbers",
            inputs=_rows(3, 5),
            hint="Take a row on paper: exponentials, their sum, the fractions.",
        ),
        CaseKind(
            name="large",
            title="rows near 600 and near 300",
            inputs=_rows(2, 3, 4, offsets=(600.0, 300.0)),
            hint="e^89 is too large for float32. Choose the constant such that no "
            "exponent is positive.",
            atol=2e-4,
        ),
        CaseKind(
            name="apart",
            title="near 1000, near 0 and near -1000 in one tensor",
            inputs=_rows_apart,
            hint="Each row needs a constant of its own.",
            atol=2e-4,
        ),
        CaseKind(
            name="holes",
            title="some entries are -inf",
            inputs=_rows_with_holes,
            hint="An entry of -inf gets the weight 0 and must not disturb the others.",
        ),
        CaseKind(
            name="gradient",
            title="the gradient of a weighted sum",
            inputs=_rows_with_pull,
            hint="The gradient must find its way back to x: no detach, no numpy, no "
            "item().",
        ),
        CaseKind(
            name="heads",
            title="four dimensions",
            inputs=_rows(2, 3, 5, 7, scale=8.0),
            hint="Only the last dimension is summed over.",
            hidden_only=True,
        ),
    ],
    mutants=[*MAXIMA, *DIMENSIONS, *SHARES, *RESULTS],
    accepted=ACCEPTED,
)
