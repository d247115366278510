"""From logits to the probabilities that a token is drawn from."""

from __future__ import annotations

import math

import torch

from autograder.bank.sequence_reversal._sampling_distribution.accepted import ACCEPTED
from autograder.bank.sequence_reversal._sampling_distribution.results import RESULTS
from autograder.bank.sequence_reversal._sampling_distribution.temperature import (
    TEMPERATURE,
)
from autograder.bank.sequence_reversal._sampling_distribution.top_k import TOP_K
from autograder.bank.sequence_reversal._sampling_distribution.top_p import TOP_P
from autograder.oracle.draw import Draw
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification


def _dials(
    *shape: int,
    temperature: float | None = None,
    top_k: int | None = None,
    share: int | None = None,
    forbidden: int = 0,
    scale: float = 3.0,
    shift: float = 0.0,
) -> Maker:
    """Logits without ties, and the dials.

    ``share`` is how many tokens top-p should keep in row 0. It lies in the middle of
    the last one's probability, so that rounding decides nothing there; other rows get
    another number of tokens, and are as far from a border. No row is like another: each
    has a height of its own, so that the border of one is none for another, and a
    sharpness.
    """

    def inputs(draw: Draw) -> Inputs:
        logits = _without_ties(draw, shape, scale) * _sharpness(draw, shape)
        logits += shift - 2 * scale * _ranks(draw, shape)
        if forbidden:
            logits[..., :forbidden] = -math.inf
            logits = logits.roll(3, dims=-1)
        made: Inputs = {"logits": logits, "other": _without_ties(draw, shape, scale)}
        if temperature is not None:
            made["temperature"] = torch.tensor(temperature)
        if top_k is not None:
            made["top_k"] = torch.tensor(top_k)
        if share is not None:
            made["top_p"] = torch.tensor(_safe_share(logits, temperature, top_k, share))
        return made

    return inputs


def _without_ties(draw: Draw, shape: tuple[int, ...], scale: float) -> torch.Tensor:
    """Numbers of which no two in a row are closer than a sixteenth."""
    size = shape[-1]
    rows = math.prod(shape[:-1])
    grid = torch.stack([draw.ids(0, 10**6, size).argsort() for _ in range(rows)])
    step = 2 * scale / size
    noise = draw.tensor(rows, size, scale=step / 4)
    return (grid * step - scale + noise).view(shape)


def _sharpness(draw: Draw, shape: tuple[int, ...]) -> torch.Tensor:
    """(..., 1): from row to row, in any order, evenly from 1 down to almost 0.4."""
    return 1 - 0.6 * _ranks(draw, shape) / math.prod(shape[:-1])


def _ranks(draw: Draw, shape: tuple[int, ...]) -> torch.Tensor:
    """(..., 1): 0, 1, 2 and so on, in any order, one for each row."""
    return draw.ids(0, 10**6, math.prod(shape[:-1])).argsort().view(*shape[:-1], 1)


def _safe_share(
    logits: torch.Tensor, temperature: float | None, top_k: int | None, share: int
) -> float:
    """A top_p that keeps ``share`` tokens of the first row, far from every border."""
    scores = logits.double().flatten(0, -2) / (temperature or 1.0)
    if top_k is not None:
        least = scores.topk(top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -math.inf)
    sums = scores.softmax(-1).sort(descending=True).values.cumsum(-1)  # (rows, V)
    low = sums[0, share - 2] if share > 1 else torch.tensor(0.0)
    between = torch.linspace(float(low), float(sums[0, share - 1]), 101)[5:-5]
    gaps = (between[:, None, None] - sums).abs().flatten(1).amin(1)
    return round(float(between[gaps.argmax()]), 4)


EXERCISE = Specification(
    name="sequence_reversal/sampling_distribution",
    title="From logits to chances",
    target="sampling_distribution",
    cases=[
        CaseKind(
            name="plain",
            title="no dial is turned",
            inputs=_dials(2, 7),
            hint="Without any dial it is the softmax of each row.",
        ),
        CaseKind(
            name="last_position",
            title="logits of the last position, cut out of those of all",
            inputs=lambda draw: {
                **_dials(3, 8, temperature=0.8, top_k=5)(draw), "last": "yes"
            },
            hint="What is cut out of a tensor does not lie in one piece in memory.",
        ),
        CaseKind(
            name="cold",
            title="temperature 0.4",
            inputs=_dials(3, 6, temperature=0.4),
            hint="Divide the logits by the temperature, before the softmax.",
        ),
        CaseKind(
            name="top_k",
            title="top_k = 3 of 8, logits far below zero",
            inputs=_dials(6, 8, top_k=3, shift=-128.0),
            hint="The three largest logits of each row stay, the rest gets exactly 0.",
        ),
        CaseKind(
            name="top_p",
            title="top_p, rows of different sharpness, logits far below zero",
            inputs=_dials(4, 9, share=3, shift=-128.0),
            hint="A token stays if the sum of the more probable ones is still below "
            "top_p.",
        ),
        CaseKind(
            name="one_is_enough",
            title="a top_p that one token reaches alone",
            inputs=_dials(1, 6, share=1, scale=5.0),
            hint="At least one token always stays.",
        ),
        CaseKind(
            name="all_together",
            title="temperature 2, top_k = 6 and top_p, three dimensions",
            inputs=_dials(2, 3, 10, temperature=2.0, top_k=6, share=4),
            tells=("one_too_few", "one_too_many"),
            hint="First the temperature, then top_k, then top_p of what top_k left.",
        ),
        CaseKind(
            name="one_token",
            title="top_k = 1",
            inputs=_dials(3, 6, top_k=1),
            hint="One token stays: nothing is left to chance.",
        ),
        CaseKind(
            name="wide_k",
            title="top_k beyond the vocabulary",
            inputs=_dials(2, 5, top_k=9),
            tells=("k_of_the_first_row",),
            hint="If there are fewer than top_k tokens, all of them stay.",
        ),
        CaseKind(
            name="forbidden",
            title="forbidden tokens, whose logit is -inf",
            inputs=_dials(2, 9, temperature=1.5, share=3, forbidden=4),
            hint="A token with the logit -inf has the probability 0, whatever the "
            "dials say.",
        ),
        CaseKind(
            name="forbidden_k",
            title="forbidden tokens, and top_k = 3 of 8",
            inputs=_dials(2, 8, top_k=3, forbidden=2),
            hint="Replace what is cut off by -inf; 0 times -inf is no number.",
        ),
        CaseKind(
            name="forbidden_hot",
            title="forbidden tokens at temperature 20",
            inputs=_dials(2, 7, temperature=20.0, forbidden=2),
            hint="However hot it is: a token with the logit -inf has the probability 0.",
        ),
        CaseKind(
            name="ends_of_the_dials",
            title="temperature 0.01, and a top_p just below 1",
            inputs=_dials(2, 7, temperature=0.01, share=6, scale=0.04),
            tells=(
                "nearly_all_is_all",
                "one_minus_p",
                "not_brought_back",
                "gathered_by_places",
            ),
            hint="A dial that is nearly at its end is not at its end.",
        ),
        CaseKind(
            name="all_of_it",
            title="a top_p of 1",
            inputs=lambda draw: {
                **_dials(2, 7, scale=4.0)(draw), "top_p": torch.tensor(1.0)
            },
            tells=("nearly_all_is_the_end",),
            hint="A top_p of 1 drops nothing, however improbable it is.",
        ),
        CaseKind(
            name="very_cold",
            title="temperature 0.000001, logits far below zero, top_k and top_p",
            inputs=_dials(
                1, 6, temperature=1e-6, top_k=3, share=1, shift=-128.0
            ),
            hint="A logit of -inf is below all others, however cold it is.",
        ),
        CaseKind(
            name="one_row",
            title="a single row without a batch, huge logits, top_k = 11 of 16",
            inputs=_dials(16, temperature=0.7, top_k=11, scale=400.0),
            tells=("sorted_result",),
            hint="Count dimensions from the end, and leave the softmax to PyTorch.",
            hidden_only=True,
        ),
        CaseKind(
            name="hot",
            title="temperature 3, top_k = 13 of 24 and top_p",
            inputs=_dials(3, 2, 24, temperature=3.0, top_k=13, share=6),
            hint="As above, for other numbers.",
            hidden_only=True,
        ),
    ],
    mutants=[*TEMPERATURE, *TOP_K, *TOP_P, *RESULTS],
    accepted=ACCEPTED,
)
