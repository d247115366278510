"""The sinusoid encoding, at once."""

from __future__ import annotations

import torch

from autograder.bank.positional_encoding._sinusoid.accepted import ACCEPTED
from autograder.bank.positional_encoding._sinusoid.contract import CONTRACT
from autograder.bank.positional_encoding._sinusoid.positions import POSITIONS
from autograder.bank.positional_encoding._sinusoid.shapes import SHAPES
from autograder.bank.positional_encoding._sinusoid.speeds import SPEEDS
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_TABLES, Promise, special
from autograder.oracle.specification import CaseKind, Inputs, Specification


def _positions(positions: torch.Tensor, d_model: int, odd: int = 0) -> Inputs:
    inputs: Inputs = {"positions": positions, "d_model": torch.tensor(d_model)}
    return inputs | ({"odd d_model": torch.tensor(odd)} if odd else {})


def _columns(draw: Draw) -> int:
    """Of so many numbers that hardly any stand in what ships: rows could be read there."""
    return 2 * int(draw.ids(3, 41))


def _odd(draw: Draw) -> Inputs:
    d_model = _columns(draw)
    return _positions(draw.ids(0, 9, 4), d_model, d_model + 1)


EXERCISE = Specification(
    name="positional_encoding/sinusoid",
    title="The sinusoid encoding, at once",
    target="sinusoid",
    promise=Promise(
        arguments="positions: B L; d_model: _",
        results="encoding: B L d",
        on=("batch",),
        ways=OF_TABLES,
        sizes=special(
            one_position=lambda draw: _positions(draw.ids(1, 9, 1, 1), 6),
            equal_sizes=lambda draw: _positions(draw.ids(0, 9, 4, 4), 4),
            no_position_at_all=lambda draw: _positions(draw.ids(0, 9, 0), 4),
            positions_beyond_a_thousand=lambda draw: _positions(
                draw.ids(1025, 2000, 3), 4
            ),
        ),
    ),
    cases=[
        CaseKind(
            name="row",
            title="the positions 0, 1, 2, ...",
            inputs=lambda draw: _positions(
                torch.arange(2 * int(draw.ids(3, 8)) + 1), _columns(draw)
            ),
            hint="Compare with your table by loops.",
            picture="curves",
        ),
        CaseKind(
            name="odd",
            title="an odd d_model is refused",
            inputs=_odd,
            hint="What happens for an odd d_model? The docstring promises an error by name.",
            aspect="errors",
        ),
        CaseKind(
            name="no_loops",
            title="as many steps for many positions as for a few",
            inputs=lambda draw: _positions(draw.ids(0, 40, 5), 6) | {"loops": "count"},
            hint="Broadcasting does all positions in one step.",
        ),
        CaseKind(
            name="fractions",
            title="fractions and negative positions",
            inputs=lambda draw: _positions(draw.tensor(7, scale=9.0), 10),
            hint="The formula makes sense for any real number.",
            picture="curves",
        ),
        CaseKind(
            name="batch",
            title="other positions in each sentence, (B, L)",
            inputs=lambda draw: _positions(draw.ids(0, 40, 3, 5), _columns(draw)),
            hint="d_model numbers stand behind each position: the shape is (B, L, "
            "d_model).",
            picture="curves",
        ),
        CaseKind(
            name="scalar_and_far",
            title="one far position, without any dimension",
            inputs=lambda draw: _positions(draw.ids(100, 400), _columns(draw)),
            hint="The positions have the shape (), so the result has the shape "
            "(d_model,).",
            hidden_only=True,
            atol=1e-4,
            picture="curves",
        ),
        CaseKind(
            name="three_dimensions",
            title="positions with three dimensions",
            inputs=lambda draw: _positions(draw.tensor(2, 3, 5, scale=20.0), 4),
            hint="Is there an assumption on the number of dimensions?",
            hidden_only=True,
            picture="curves",
        ),
    ],
    mutants=[*SPEEDS, *POSITIONS, *SHAPES, *CONTRACT],
    accepted=ACCEPTED,
)
