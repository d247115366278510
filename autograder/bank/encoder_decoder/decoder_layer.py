"""The decoder layer."""

from __future__ import annotations

from autograder.bank.encoder_decoder._decoder_layer.accepted import ACCEPTED
from autograder.bank.encoder_decoder._decoder_layer.branches import BRANCHES
from autograder.bank.encoder_decoder._decoder_layer.masks import MASKS
from autograder.bank.encoder_decoder._decoder_layer.sublayers import SUBLAYERS
from autograder.bank.encoder_decoder._inputs import (
    DECODER,
    EVERYTHING,
    MASKS_OF_A_LAYER,
    biases_only,
    layer_inputs,
)
from autograder.oracle.promise import OF_MODULES, Promise, both, masked, special
from autograder.oracle.specification import CaseKind, Maker, Specification

_BOTH = {"tgt_mask": "causal", "memory_mask": "padding"}


def _masked(shape: str) -> Maker:
    masks = {"tgt_mask": shape, "memory_mask": shape}
    return layer_inputs(DECODER, 2, 3, 6, 3, 4, ls=5, masks=masks)


EXERCISE = Specification(
    name="encoder_decoder/decoder_layer",
    title="The decoder layer",
    target="DecoderLayer",
    promise=Promise(
        arguments=(
            "x: B Lt d; memory: B Ls d; tgt_mask?: Lt Lt | B Lt Lt | B h Lt Lt; "
            "memory_mask?: Lt Ls | B Lt Ls | B h Lt Ls"
        ),
        results="output: B Lt d",
        on=("post_relu", "pre_both"),
        ways=OF_MODULES,
        module=True,
        named=True,
        dropout=(("pre_both", "post_both"), {"rate": 0.375}),
        sizes=both(
            special(
                one_sentence=layer_inputs(DECODER, 1, 3, 4, 2, 5, ls=2),
                one_position=layer_inputs(DECODER, 2, 1, 6, 3, 5, ls=4),
                one_memory_position=layer_inputs(DECODER, 2, 3, 6, 3, 5, ls=1),
                equal_sizes=layer_inputs(
                    DECODER,
                    3,
                    3,
                    3,
                    3,
                    3,
                    ls=3,
                    masks={"tgt_mask": "Lq Lk", "memory_mask": "Lq Lk"},
                ),
                masks_of_one_shape=layer_inputs(
                    DECODER,
                    3,  # as many as heads
                    4,
                    6,
                    3,
                    5,
                    ls=4,
                    masks={"tgt_mask": "B Lq Lk", "memory_mask": "B Lq Lk"},
                ),
                a_mask_for_the_memory_only=layer_inputs(
                    DECODER, 3, 4, 6, 2, 5, ls=5, masks={"memory_mask": "padding"}
                ),
                a_mask_for_the_target_only=layer_inputs(
                    DECODER, 2, 5, 6, 3, 4, ls=5, masks={"tgt_mask": "causal"}
                ),
            ),
            masked(_masked, *MASKS_OF_A_LAYER),
        ),
    ),
    cases=[
        CaseKind(
            name="post_relu",
            title="post-norm, ReLU, no masks",
            inputs=layer_inputs(DECODER, 3, 4, 6, 2, 7, ls=5, pull=True),
            hint="Follow the data: self-attention, cross-attention, network, each with "
            "its norm.",
        ),
        CaseKind(
            name="pre_both",
            title="pre-norm, GELU, causal mask and source padding",
            inputs=layer_inputs(
                DECODER,
                3,
                5,
                6,
                3,
                4,
                ls=7,
                norm_first=True,
                activation="gelu",
                masks=_BOTH,
            ),
            hint="Which mask belongs to which attention?",
        ),
        CaseKind(
            name="post_both",
            title="post-norm, causal mask, source padding with a dimension for heads",
            inputs=layer_inputs(
                DECODER,
                2,
                6,
                8,
                4,
                5,
                ls=3,
                norm_first=False,
                masks={"tgt_mask": "causal", "memory_mask": "padding, 4-D"},
            ),
            hint="Which mask belongs to which attention?",
        ),
        CaseKind(
            name="square",
            title="pre-norm, as many target positions as source positions",
            inputs=layer_inputs(
                DECODER,
                3,
                4,
                6,
                2,
                5,
                ls=4,
                norm_first=True,
                masks={"tgt_mask": "both", "memory_mask": "padding"},
                pull=True,
            ),
            hint="With equal lengths, exchanged masks or sequences raise no error.",
        ),
        CaseKind(
            name="dropout",
            title="all branches dropped in training",
            inputs=layer_inputs(
                DECODER, 2, 3, 6, 2, 5, ls=4, norm_first=True, rate=EVERYTHING
            ),
            hint="If each branch is dropped, the road alone is left. What comes out "
            "then?",
        ),
        CaseKind(
            name="dropout_post",
            title="all branches dropped in training, post-norm",
            inputs=layer_inputs(
                DECODER, 3, 2, 6, 3, 4, ls=5, norm_first=False, rate=EVERYTHING
            ),
            hint="If each branch is dropped, three norms of the road are left.",
        ),
        CaseKind(
            name="chance",
            title="which numbers are dropped, and what becomes of the others",
            inputs=biases_only(
                layer_inputs(DECODER, 9, 8, 12, 2, 5, ls=3, norm_first=True, rate=0.375)
            ),
            hint="On average, dropout leaves a number as large as it was.",
            aspect="mode",
        ),
        CaseKind(
            name="one_token",
            title="a target of one token, post-norm",
            inputs=layer_inputs(
                DECODER,
                4,
                1,
                6,
                3,
                5,
                ls=7,
                norm_first=False,
                activation="gelu",
                masks={"memory_mask": "padding"},
            ),
            hint="Does your layer need a target mask?",
            hidden_only=True,
        ),
    ],
    mutants=[*MASKS, *SUBLAYERS, *BRANCHES],
    accepted=ACCEPTED,
)
