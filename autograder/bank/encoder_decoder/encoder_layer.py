"""The encoder layer."""

from __future__ import annotations

from autograder.bank.encoder_decoder._encoder_layer.accepted import ACCEPTED
from autograder.bank.encoder_decoder._encoder_layer.branches import BRANCHES
from autograder.bank.encoder_decoder._encoder_layer.sublayers import SUBLAYERS
from autograder.bank.encoder_decoder._inputs import (
    ENCODER,
    EVERYTHING,
    MASKS_OF_A_LAYER,
    biases_only,
    layer_inputs,
)
from autograder.oracle.promise import OF_MODULES, Promise, both, masked, special
from autograder.oracle.specification import CaseKind, Maker, Specification


def _masked(shape: str) -> Maker:
    return layer_inputs(ENCODER, 2, 4, 6, 3, 5, masks={"mask": shape})


EXERCISE = Specification(
    name="encoder_decoder/encoder_layer",
    title="The encoder layer",
    target="EncoderLayer",
    promise=Promise(
        arguments="x: B L d; mask?: L L | B L L | B h L L",
        results="output: B L d",
        on=("post_relu", "pre_gelu"),
        ways=OF_MODULES,
        module=True,
        named=True,
        dropout=(("pre_gelu", "post_padding"), {"rate": 0.375}),
        sizes=both(
            special(
                one_sentence=layer_inputs(ENCODER, 1, 3, 4, 2, 5),
                one_position=layer_inputs(ENCODER, 2, 1, 6, 3, 5),
                one_head=layer_inputs(ENCODER, 2, 3, 4, 1, 5),
                equal_sizes=layer_inputs(
                    ENCODER, 3, 3, 3, 3, 3, masks={"mask": "Lq Lk"}
                ),
                as_many_sentences_as_heads=layer_inputs(
                    ENCODER, 2, 4, 6, 2, 3, masks={"mask": "B Lq Lk"}
                ),
            ),
            masked(_masked, *MASKS_OF_A_LAYER),
        ),
    ),
    cases=[
        CaseKind(
            name="post_relu",
            title="post-norm, ReLU, no mask",
            inputs=layer_inputs(ENCODER, 3, 5, 6, 2, 7, pull=True),
            hint="Follow the data line by line: attention, add & norm 1, network, add "
            "& norm 2.",
        ),
        CaseKind(
            name="pre_gelu",
            title="pre-norm, GELU, a padding mask",
            inputs=layer_inputs(
                ENCODER,
                3,
                4,
                6,
                3,
                5,
                norm_first=True,
                activation="gelu",
                masks={"mask": "padding"},
            ),
            hint="In pre-norm the attention sees the normalised x only: three times "
            "the same.",
        ),
        CaseKind(
            name="post_padding",
            title="post-norm, a padding mask with a dimension for heads",
            inputs=layer_inputs(
                ENCODER, 2, 5, 8, 4, 3, norm_first=False, masks={"mask": "padding, 4-D"}
            ),
            hint="Does the mask reach the attention?",
        ),
        CaseKind(
            name="pre_causal",
            title="pre-norm, a causal mask, with a gradient",
            inputs=layer_inputs(
                ENCODER,
                2,
                6,
                4,
                2,
                5,
                norm_first=True,
                masks={"mask": "causal"},
                pull=True,
            ),
            hint="Does the mask reach the attention?",
        ),
        CaseKind(
            name="dropout",
            title="both branches dropped in training",
            inputs=layer_inputs(
                ENCODER, 2, 3, 6, 2, 5, norm_first=True, rate=EVERYTHING
            ),
            hint="If each branch is dropped, the road alone is left. What comes out "
            "then?",
        ),
        CaseKind(
            name="chance",
            title="which numbers are dropped, and what becomes of the others",
            inputs=biases_only(
                layer_inputs(ENCODER, 9, 8, 12, 2, 5, norm_first=True, rate=0.375)
            ),
            hint="On average, dropout leaves a number as large as it was.",
            aspect="mode",
        ),
        CaseKind(
            name="dropout_post",
            title="both branches dropped in training, post-norm",
            inputs=layer_inputs(
                ENCODER, 3, 2, 6, 3, 4, norm_first=False, rate=EVERYTHING
            ),
            hint="If each branch is dropped, two norms of the road are left.",
            hidden_only=True,
        ),
    ],
    mutants=[*SUBLAYERS, *BRANCHES],
    accepted=ACCEPTED,
)
