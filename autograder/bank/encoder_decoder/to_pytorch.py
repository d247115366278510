"""Your parameters under PyTorch's names."""

from __future__ import annotations

from autograder.bank.encoder_decoder._inputs import (
    DECODER,
    ENCODER,
    Shapes,
    attention_shapes,
    feed_forward_shapes,
    layer_shapes,
    stack_shapes,
)
from autograder.bank.encoder_decoder._to_pytorch.accepted import ACCEPTED
from autograder.bank.encoder_decoder._to_pytorch.given import GIVEN
from autograder.bank.encoder_decoder._to_pytorch.joining import JOINING
from autograder.bank.encoder_decoder._to_pytorch.names import NAMES
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import CaseKind, Inputs, Maker, Specification


def _state(shapes: Shapes, half: bool = False) -> Maker:
    """A state dict with names in the order of ``shapes``; ``half``: in float16."""

    def inputs(draw: Draw) -> Inputs:
        state = {f"state.{name}": draw.tensor(*size) for name, size in shapes.items()}
        return {name: value.half() if half else value for name, value in state.items()}

    return inputs


def _learning(shapes: Shapes) -> Maker:
    return lambda draw: _state(shapes)(draw) | {"learning": "yes"}


def _by_name(shapes: Shapes) -> Shapes:
    """In the order of the alphabet, as files of weights often have it: w_k before w_q."""
    return dict(sorted(shapes.items()))


def _parts() -> Shapes:
    """Parts of layers, each under a prefix of its own."""
    return (
        attention_shapes("reader.cross_attention", 3)
        | attention_shapes("writer.self_attention", 2)
        | attention_shapes("attention.attention", 2)
        | feed_forward_shapes("body.feed_forward.", 2, 4)
    )


EXERCISE = Specification(
    name="encoder_decoder/to_pytorch",
    title="Your parameters under PyTorch's names",
    target="to_pytorch",
    promise=Promise(
        ways=(),
        sizes=special(
            two_features_and_one_between=_state(layer_shapes("", DECODER, 2, 1)),
            a_single_feature=_state(layer_shapes("", ENCODER, 1, 2)),
            cross_attention_alone=_state(attention_shapes("reader.cross_attention", 2)),
        ),
    ),
    precise=False,  # nothing is computed, and float16 is to stay float16
    cases=[
        CaseKind(
            name="encoder_layer",
            title="an encoder layer",
            inputs=_state(layer_shapes("", ENCODER, 4, 3)),
            hint="Write both lists of names side by side.",
        ),
        CaseKind(
            name="decoder_layer",
            title="a decoder layer, its names in the order of the alphabet",
            inputs=_state(_by_name(layer_shapes("", DECODER, 3, 5))),
            hint="`attention` is a part of `self_attention` and `cross_attention`, "
            "too. And who says that `w_q` comes first?",
        ),
        CaseKind(
            name="both_stacks",
            title="encoder and decoder with final norms",
            inputs=_state(
                stack_shapes("encoder.", ENCODER, 2, 2, 3, True)
                | stack_shapes("decoder.", DECODER, 1, 2, 3, True)
            ),
            hint="Does your code work under any prefix?",
        ),
        CaseKind(
            name="other_names",
            title="a whole model that learns: its other names are kept as they are",
            inputs=_learning(
                {"source.embedding.weight": (5, 2), "output.weight": (7, 2)}
                | stack_shapes("encoder.", ENCODER, 1, 2, 3, False)
                | {"output.bias": (7,)}
            ),
            hint="What does your code do with a name that stands in no row of the table?",
        ),
        CaseKind(
            name="words_in_prefix",
            title="prefixes that hold words of the table",
            inputs=_state(
                layer_shapes("feed_forward.attention.layers.10.", ENCODER, 2, 3)
                | layer_shapes("body.feed_forward.cross_attention.", DECODER, 2, 3)
            ),
            hint="A prefix stays as it is. What follows `attention.` where it is yours?",
        ),
        CaseKind(
            name="parts",
            title="parts of layers, each alone",
            inputs=_state(_parts()),
            hint="Does what becomes of a name depend on which other names there are?",
        ),
        CaseKind(
            name="deep",
            title="two of the layers of a deep stack under a long prefix, in float16",
            inputs=_state(
                layer_shapes("model.body.decoder.layers.9.", DECODER, 2, 5)
                | layer_shapes("model.body.decoder.layers.10.", DECODER, 2, 5),
                half=True,
            ),
            hint="Does your code work under any prefix, and leave numbers as they are?",
            hidden_only=True,
        ),
    ],
    mutants=[*JOINING, *NAMES, *GIVEN],
    accepted=ACCEPTED,
)
