"""A list of heads."""

from __future__ import annotations

from autograder.bank.inputs import causal_mask, open_mask, with_zeros
from autograder.bank.multi_head_attention._inputs import (
    head_parameters,
    linear_parameters,
)
from autograder.bank.multi_head_attention._list_of_heads.accepted import ACCEPTED
from autograder.bank.multi_head_attention._list_of_heads.heads import HEADS
from autograder.bank.multi_head_attention._list_of_heads.joining import JOINING
from autograder.bank.multi_head_attention._list_of_heads.weights import WEIGHTS
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_ATTENTION, Promise, special
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification


def _list(
    batch: int,
    length: int,
    h: int,
    d_model: int,
    d_k: int,
    d_v: int,
    d_out: int,
    mask: str = "",
    pull: bool = False,
) -> Maker:
    """An input and the weights for a list of heads; mask is "causal" or "padding"."""

    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {"x": draw.tensor(batch, length, d_model)}
        made |= head_parameters(draw, h, d_model, d_k, d_v, scale=0.5)
        made |= linear_parameters(draw, 1.0, w_o=(d_out, h * d_v))
        if mask == "causal":
            made["mask"] = causal_mask(length)
        elif mask == "padding":
            made["mask"] = open_mask(draw, batch, 1, length)
        return made | ({"pull": draw.tensor(batch, length, d_out)} if pull else {})

    return inputs



EXERCISE = Specification(
    name="multi_head_attention/list_of_heads",
    title="A list of heads",
    target="ListOfHeads",
    aspects={"weights": 4.0},  # right ones are half of the way
    promise=Promise(
        arguments="x: B L d; mask?: L L | B L L",
        results="output: B L e; weights: B h L L",
        on=("plain", "padding"),
        ways=OF_ATTENTION,
        module=True,
        alone=True,
        sizes=special(
            one_sentence=_list(1, 3, 2, 5, 4, 3, 7, mask="padding"),
            one_head=_list(2, 3, 1, 5, 4, 6, 7, mask="causal"),
            one_head_as_large_as_the_output=_list(2, 3, 1, 5, 4, 6, 6),
            one_position=_list(2, 1, 3, 5, 4, 6, 7),
            equal_sizes=_list(3, 3, 3, 3, 3, 3, 3, mask="causal"),
            as_many_sentences_as_heads=_list(3, 4, 3, 5, 4, 2, 6, mask="padding"),
            a_position_of_zeros=with_zeros(_list(2, 3, 2, 5, 4, 3, 7), "x"),
        ),
    ),
    cases=[
        CaseKind(
            name="plain",
            title="three heads, no mask",
            inputs=_list(2, 5, h=3, d_model=7, d_k=4, d_v=6, d_out=8),
            hint="Follow one head's output: where do its features stand after joining?",
        ),
        CaseKind(
            name="causal",
            title="a causal mask (L, L)",
            inputs=_list(3, 4, h=2, d_model=6, d_k=5, d_v=3, d_out=7, mask="causal"),
            hint="Every head must be given the mask.",
            aspect="masks",
        ),
        CaseKind(
            name="padding",
            title="a padding mask (B, 1, L), and the gradient",
            inputs=_list(
                2, 6, h=4, d_model=5, d_k=3, d_v=2, d_out=9, mask="padding", pull=True
            ),
            aspect="masks",
            hint="Does every head respect the mask, and does the gradient reach x?",
        ),
        CaseKind(
            name="single",
            title="a single head",
            inputs=_list(3, 5, h=1, d_model=4, d_k=6, d_v=7, d_out=2, mask="padding"),
            hint="One head is a list of length one; nothing else changes.",
            hidden_only=True,
            aspect="masks",
        ),
    ],
    mutants=[*JOINING, *WEIGHTS, *HEADS],
    accepted=ACCEPTED,
)
