"""Multi-head attention."""

from __future__ import annotations

import torch

from autograder.bank.inputs import sizes_of, with_zeros
from autograder.bank.multi_head_attention._inputs import (
    linear_parameters,
    multi_head_inputs,
    uneven_sizes,
)
from autograder.bank.multi_head_attention._multi_head_attention.accepted import ACCEPTED
from autograder.bank.multi_head_attention._multi_head_attention.heads import (
    NUMBER_OF_HEADS,
    SPLITTING,
)
from autograder.bank.multi_head_attention._multi_head_attention.inputs import (
    INPUTS,
    PROJECTIONS,
)
from autograder.bank.multi_head_attention._multi_head_attention.masks import (
    MASKS,
    RESULTS,
)
from autograder.bank.multi_head_attention._multi_head_attention.scores import (
    DROPOUT,
    SCALING,
)
from autograder.bank.multi_head_attention._multi_head_attention.states import STATES
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_ATTENTION, Promise, both, masked, special
from autograder.oracle.specification import (
    CaseKind,
    Inputs,
    Maker,
    Specification,
)


def _weights_made_visible(draw: Draw) -> Inputs:
    """Values such that each head's output is its weights, twice over (see the probe)."""
    batch, h, lq, lk = 2, 3, 4, 5
    d_model = h * 2 * lk
    square = (d_model, d_model)
    made = linear_parameters(
        draw, 0.125, w_q=square, w_k=square, w_v=square, w_o=square
    )
    for name in ("w_v", "w_o"):
        made[f"weights.{name}.weight"] = torch.eye(d_model)
        made[f"weights.{name}.bias"] = torch.zeros(d_model)
    rates = torch.tensor([0.125, 0.1875, 0.25])
    return made | {
        "query": draw.tensor(batch, lq, d_model, scale=1.0),
        "key": draw.tensor(batch, lk, d_model, scale=1.0),
        "value": torch.eye(lk).repeat(1, 2 * h).expand(batch, -1, -1).clone(),
        "num_heads": torch.tensor(h),
        "rate": rates[int(draw.ids(0, 3))],
    }


def _same_queries_and_keys(draw: Draw) -> Inputs:
    """A sequence that looks at itself, and gets something else."""
    made = multi_head_inputs(2, 2, 3, lq=4, lk=4)(draw)
    return made | {"key": made["query"].clone()}


def _three_heads(mask: str) -> Maker:
    shape = sizes_of(mask, B=2, h=3, Lq=4, Lk=5)
    return multi_head_inputs(2, 3, 2, lq=4, lk=5, mask=shape)


EXERCISE = Specification(
    name="multi_head_attention/multi_head_attention",
    title="Multi-head attention",
    target="MultiHeadAttention",
    aspects={"mode": 5.5, "weights": 4.0},  # dropout is one of its things
    promise=Promise(
        arguments="query: B Lq d; key: B Lk d; value: B Lk d; "
        "mask?: Lq Lk | B Lq Lk | B h Lq Lk",
        results="output: B Lq d; weights: B h Lq Lk",
        on=("plain", "padding"),
        ways=OF_ATTENTION,
        module=True,
        shown=True,
        alone=True,
        dropout=(("padding", "plain"), {"rate": 0.375}),
        sizes=both(
            special(
                one_sentence=multi_head_inputs(1, 2, 3, lq=4, lk=5, mask=(1, 4, 5)),
                one_query=multi_head_inputs(2, 3, 4, lq=1, lk=5, mask=(2, 1, 5)),
                one_key=multi_head_inputs(2, 3, 4, lq=5, lk=1),
                heads_of_size_one=multi_head_inputs(2, 3, 1, lq=4, lk=5, mask=(4, 5)),
                equal_sizes=multi_head_inputs(3, 3, 3, lq=3, lk=3, mask=(3, 3, 3)),
                as_many_sentences_as_queries=multi_head_inputs(
                    3, 2, 3, lq=3, lk=4, mask=(3, 4)
                ),
                many_heads=multi_head_inputs(1, 20, 1, lq=2, lk=3),
                a_position_of_zeros=with_zeros(
                    multi_head_inputs(2, 2, 3, lq=3, lk=4), "query", "key", "value"
                ),
                values_of_their_own=_same_queries_and_keys,
                as_many_sentences_as_heads_and_a_mask_for_each_head=multi_head_inputs(
                    3, 3, 2, lq=4, lk=5, mask=(1, 3, 4, 5)
                ),
                as_many_sentences_as_heads_and_a_mask_for_each_sentence=(
                    multi_head_inputs(3, 3, 2, lq=4, lk=5, mask=(3, 1, 4, 5))
                ),
                equal_sizes_and_four_dimensions=multi_head_inputs(
                    2, 2, 2, lq=2, lk=2, mask=(2, 2, 2, 2)
                ),
            ),
            masked(
                _three_heads,
                *("1 Lk", "1 Lq Lk", "B 1 Lk", "B Lq Lk", "B 1 1 Lk", "B 1 Lq Lk"),
                *("1 h Lq Lk", "B h 1 Lk", "1 h 1 Lk", "B h Lq Lk"),
            ),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="three different inputs, no mask",
            inputs=multi_head_inputs(2, 3, 4, lq=5, lk=7),
            hint="Print the shape after each step and compare with hint 2.",
        ),
        CaseKind(
            name="refuse",
            title="sizes that cannot be shared out",
            inputs=lambda draw: {"refuse": uneven_sizes(draw)},
            hint="The docstring promises an error by its name.",
            aspect="errors",
        ),
        CaseKind(
            name="padding",
            title="a padding mask (B, 1, Lk), and gradients",
            inputs=multi_head_inputs(3, 2, 3, lq=4, lk=5, mask=(3, 1, 5), pull=True),
            hint="Every head must respect the mask, and every input needs its "
            "gradient.",
            aspect="masks",
        ),
        CaseKind(
            name="queries_and_keys",
            title="a mask (Lq, Lk), and large scores",
            inputs=multi_head_inputs(2, 4, 3, lq=6, lk=5, mask=(6, 5), scale=1.5),
            hint="A mask of two dimensions holds for all sentences and heads.",
            aspect="masks",
        ),
        CaseKind(
            name="a_mask_per_head",
            title="a mask for each head (B, h, Lq, Lk)",
            inputs=multi_head_inputs(2, 3, 5, lq=4, lk=6, mask=(2, 3, 4, 6)),
            hint="Each head has its own mask here.",
            aspect="masks",
        ),
        CaseKind(
            name="as_many_sentences_as_heads",
            title="a mask (B, Lq, Lk), with as many sentences as heads",
            inputs=multi_head_inputs(3, 3, 2, lq=5, lk=4, mask=(3, 5, 4)),
            hint="A mask of three dimensions holds for all heads, and differs by "
            "sentence.",
            aspect="masks",
        ),
        CaseKind(
            name="dropout",
            title="dropout in training, and none in evaluation",
            inputs=_weights_made_visible,
            hint="Dropout belongs on the attention weights, after the softmax, with "
            "the probability that was given.",
            aspect="mode",
        ),
        CaseKind(
            name="single_head",
            title="a single head, one sentence",
            inputs=multi_head_inputs(1, 1, 6, lq=3, lk=4, mask=(1, 3, 4)),
            hint="Nothing changes in principle with one head.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[
        *SPLITTING,
        *SCALING,
        *PROJECTIONS,
        *INPUTS,
        *MASKS,
        *RESULTS,
        *NUMBER_OF_HEADS,
        *DROPOUT,
        *STATES,
    ],
    accepted=ACCEPTED,
)
