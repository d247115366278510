"""One training step."""

from __future__ import annotations

import torch

from autograder.bank.sequence_reversal._inputs import (
    BOS,
    EOS,
    FIRST,
    padded,
    random_batches,
    random_tables,
)
from autograder.bank.sequence_reversal._training_step.accepted import ACCEPTED
from autograder.bank.sequence_reversal._training_step.forward import FORWARDS
from autograder.bank.sequence_reversal._training_step.gradients import GRADIENTS
from autograder.oracle.draw import Draw
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification


def _steps(
    count: int,
    lengths: tuple[int, ...],
    rate: float,
    scale: float,
    max_norm: float | None = None,
    weight: float | None = None,
) -> Maker:
    """Batches and tables; ``weight`` is that of EOS in a loss function of its own."""
    options = {"max_norm": max_norm, "weight": weight}

    def inputs(draw: Draw) -> Inputs:
        made = random_tables(draw, 9, scale) | random_batches(draw, count, lengths, 9)
        made["rate"] = torch.tensor(rate)
        given = {n: torch.tensor(v) for n, v in options.items() if v is not None}
        return made | given

    return inputs


def _one_token(draw: Draw) -> Inputs:
    """One token again and again, and large scores: a gradient longer than 1."""
    token = FIRST + int(draw.ids(0, 4))
    other = token + 1
    tables = random_tables(draw, 9, 1.0)
    tables["table"][[BOS, token], -1] = 8.0  # sure of the last one
    source = padded([[token] * 3 + [EOS], [token] * 5 + [EOS]])
    target = padded([[BOS] + [token] * 6 + [EOS], [BOS] + [token] * 3 + [other, EOS]])
    return tables | {
        "source": torch.stack([source] * 2),
        "target": torch.stack([target] * 2),
        "rate": torch.tensor(1.0),
    }


EXERCISE = Specification(
    name="sequence_reversal/training_step",
    title="One training step",
    target="training_step",
    aspects={"decoder input": 2.0, "first loss": 2.0, "losses": 1.0},  # steps of a step
    cases=[
        CaseKind(
            name="three_steps",
            title="three steps with small gradients",
            inputs=_steps(3, (3, 1, 4), rate=0.9, scale=1.0),
            hint="Follow the tables through the steps: new gradients, clipped, one "
            "update each.",
        ),
        CaseKind(
            name="clipped",
            title="gradients longer than the bound",
            inputs=_steps(2, (2, 5), rate=24.0, scale=2.0, max_norm=1 / 256),
            hint="The common norm of all gradients may be at most `max_norm` when the "
            "optimizer takes its step.",
            tells=("long_ones_left_out",),
        ),
        CaseKind(
            name="default_bound",
            title="a gradient longer than 1, with the default bound",
            inputs=_one_token,
            hint="Without a fifth argument, `max_norm` is 1.",
        ),
        CaseKind(
            name="other_loss",
            title="another loss function",
            inputs=_steps(2, (4, 1, 3), rate=0.8, scale=1.0, weight=3.0),
            hint="If a loss function is given, the loss and its gradients are its own.",
        ),
        CaseKind(
            name="spare",
            title="a parameter that the batch does not use",
            inputs=lambda draw: {
                **_steps(2, (2, 4, 3), rate=0.7, scale=1.0)(draw), "spare": "yes"
            },
            hint="What somebody left in `grad` is not the gradient of this batch.",
        ),
        CaseKind(
            name="more_rows",
            title="more rows and four steps",
            inputs=_steps(4, (1, 6, 2, 4, 3), rate=0.5, scale=1.5, max_norm=0.1),
            hint="As above.",
            hidden_only=True,
        ),
    ],
    mutants=[*GRADIENTS, *FORWARDS],
    accepted=ACCEPTED,
)
