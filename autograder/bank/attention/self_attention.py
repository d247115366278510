"""Self-attention."""

from __future__ import annotations

from autograder.bank.attention._inputs import projections
from autograder.bank.attention._self_attention.accepted import ACCEPTED
from autograder.bank.attention._self_attention.inputs import INPUTS
from autograder.bank.attention._self_attention.layers import LAYERS
from autograder.bank.attention._self_attention.results import RESULTS
from autograder.bank.attention._self_attention.whole import WHOLE
from autograder.bank.inputs import causal_mask, open_mask, with_zeros
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_ATTENTION, Promise, special
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification


def _self(
    batch: int,
    length: int,
    d_model: int,
    d_k: int,
    d_v: int,
    mask: str = "",
    pull: bool = False,
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, length, d_model, scale=1.0)}
        made |= projections(draw, d_model, d_model, d_k, d_v)
        if mask == "padding":
            keep = open_mask(draw, batch, 1, length, chance=0.6)
            while keep.sum(-1).min() < 2:  # with one open entry no score matters
                keep = open_mask(draw, batch, 1, length, chance=0.6)
            made["mask"] = keep
        if mask == "causal":
            made["mask"] = causal_mask(length)
        return made | ({"pull": draw.tensor(batch, length, d_v)} if pull else {})

    return inputs



EXERCISE = Specification(
    name="attention/self_attention",
    title="Self-attention",
    target="SelfAttention",
    aspects={"weights": 4.0},  # right ones are half of the way
    promise=Promise(
        arguments="x: B L d; mask?: L L | B L L",
        results="output: B L e; weights: B L L",
        on=("plain", "padding"),
        ways=OF_ATTENTION,
        module=True,
        alone=True,
        sizes=special(
            one_sentence=_self(1, 3, 4, 2, 5, mask="padding"),
            one_position=_self(3, 1, 4, 2, 5),
            equal_sizes=_self(3, 3, 3, 3, 3, mask="causal"),
            d_model_of_one=_self(2, 3, 1, 4, 5),
            a_position_of_zeros=with_zeros(_self(2, 3, 4, 2, 5), "x"),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="2 sentences of 4 words, d_model 5, d_k 3, d_v 6",
            inputs=_self(2, 4, 5, 3, 6),
            hint="Each linear layer reads x; d_k and d_v may differ.",
        ),
        CaseKind(
            name="padding",
            title="a padding mask for each of 3 sentences",
            inputs=_self(3, 5, 4, 2, 7, mask="padding"),
            hint="The mask is handed on to attention as it is.",
            aspect="masks",
        ),
        CaseKind(
            name="causal",
            title="a causal mask: who sees whom",
            inputs=_self(2, 6, 3, 5, 4, mask="causal"),
            hint="The mask is handed on to attention as it is.",
            aspect="masks",
        ),
        CaseKind(
            name="gradient",
            title="the gradient reaches x",
            inputs=_self(3, 2, 6, 4, 5, pull=True),
            hint="Gradients flow through queries, keys and values alike.",
        ),
        CaseKind(
            name="one_word",
            title="d_k of 1 and a single sentence",
            inputs=_self(1, 3, 7, 1, 2, mask="padding"),
            hint="No size is special.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[*INPUTS, *RESULTS, *LAYERS, *WHOLE],
    accepted=ACCEPTED,
)
