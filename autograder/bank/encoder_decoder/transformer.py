"""The Transformer."""

from __future__ import annotations

from autograder.bank.encoder_decoder._inputs import (
    DECODER,
    ENCODER,
    Shapes,
    as_options,
    scattered_ids,
    small_weights,
    stack_shapes,
    token_ids,
)
from autograder.bank.encoder_decoder._transformer.accepted import ACCEPTED
from autograder.bank.encoder_decoder._transformer.ends import ENDS
from autograder.bank.encoder_decoder._transformer.flow import FLOW
from autograder.bank.encoder_decoder._transformer.parts import PARTS
from autograder.oracle.draw import Draw
from autograder.oracle.promise import OF_MODULES, Promise, special
from autograder.oracle.specification import (
    CaseKind,
    Inputs,
    Maker,
    Specification,
)


def _model_inputs(
    src_vocab: int,
    tgt_vocab: int,
    d_model: int,
    heads: int,
    depth: int,
    d_ff: int,
    batch: int,
    ls: int,
    lt: int,
    norm_first: bool = False,
    activation: str = "relu",
    shared: bool = False,
    pad_id: int = 0,
    pull: bool = False,
    second: bool = False,
    max_len: int = 0,
    positions: int = 0,
    scattered: bool = False,
    padded: bool = True,
    moves: bool = False,
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        options: dict[str, int | str] = {
            "src_vocab": src_vocab,
            "tgt_vocab": tgt_vocab,
            "d_model": d_model,
            "num_heads": heads,
            "num_layers": depth,
            "d_ff": d_ff,
        }
        options |= {"norm_first": True, "activation": activation} if norm_first else {}
        options |= {"shared_embedding": True} if shared else {}
        options |= {"pad_id": pad_id} if pad_id else {}
        options |= {"max_len": max_len} if max_len else {}
        shapes: Shapes = {"source.embedding.weight": (src_vocab, d_model)}
        if not shared:
            shapes["target.embedding.weight"] = (tgt_vocab, d_model)
            shapes["output.weight"] = (tgt_vocab, d_model)
        shapes |= {"output.bias": (tgt_vocab,)}
        shapes |= stack_shapes("encoder.", ENCODER, depth, d_model, d_ff, norm_first)
        shapes |= stack_shapes("decoder.", DECODER, depth, d_model, d_ff, norm_first)
        made = as_options(options) | small_weights(draw, shapes)
        if not shared:  # what is rounded grows in layers and norms: small logits
            made["weights.output.weight"] /= 16
        made["src"] = token_ids(draw, batch, ls, src_vocab, pad_id, padded)
        made["tgt"] = token_ids(draw, batch, lt, tgt_vocab, pad_id, padded)
        if scattered:
            made["src"] = scattered_ids(draw, batch, ls, src_vocab, pad_id, first=False)
            made["tgt"] = scattered_ids(draw, batch, lt, tgt_vocab, pad_id, first=True)
        if second:
            made["second src"] = token_ids(draw, batch + 1, ls - 1, src_vocab, pad_id)
            made["second tgt"] = token_ids(draw, batch + 1, lt + 1, tgt_vocab, pad_id)
        if positions:
            made["positions"] = draw.tensor(positions, d_model)
        if pull:
            made["pull"] = draw.tensor(batch, lt, tgt_vocab, scale=0.5)
        return made | ({"look": "who moves whom"} if moves else {})

    return inputs


EXERCISE = Specification(
    name="encoder_decoder/transformer",
    title="The Transformer",
    target="Transformer",
    aspects={"memory": 3.0},  # the encoder's half
    promise=Promise(
        arguments="src: B Ls; tgt: B Lt",
        results="logits: B Lt V",
        on=("post",),
        ways=OF_MODULES,
        module=True,
        dropout=(("pre_gelu",), {"option.dropout": 0.375}),
        sizes=special(
            one_sentence=_model_inputs(7, 6, 4, 2, 1, 5, batch=1, ls=3, lt=5),
            one_position=_model_inputs(7, 6, 4, 2, 1, 5, batch=2, ls=1, lt=1),
            equal_sizes=_model_inputs(5, 5, 4, 4, 1, 4, batch=4, ls=4, lt=4),
            padding_between_words=_model_inputs(
                7, 6, 4, 2, 1, 5, batch=3, ls=5, lt=4, pad_id=2, scattered=True
            ),
            a_source_of_more_than_512_ids=_model_inputs(
                5, 6, 2, 1, 1, 3, batch=1, ls=520, lt=3, max_len=520
            ),
        ),
    ),
    cases=[
        CaseKind(
            name="post",
            title="post-norm, two vocabularies",
            inputs=_model_inputs(
                9, 7, 6, 2, 1, 5, batch=3, ls=5, lt=4, second=True, moves=True
            ),
            hint="Follow a batch by hand: source, encoder, memory; target, decoder, "
            "output.",
        ),
        CaseKind(
            name="pre_gelu",
            title="pre-norm, GELU, a long source",
            inputs=_model_inputs(
                11,
                8,
                4,
                2,
                2,
                6,
                batch=2,
                ls=7,
                lt=3,
                norm_first=True,
                activation="gelu",
                moves=True,
            ),
            hint="A pre-norm stack ends with a norm; encoder and decoder each have "
            "one.",
        ),
        CaseKind(
            name="shared",
            title="one table for source, target and output",
            inputs=_model_inputs(
                8, 8, 6, 3, 1, 7, batch=2, ls=4, lt=5, shared=True, padded=False
            ),
            hint="Shared means: the same parameter, not an equal one.",
        ),
        CaseKind(
            name="two_sizes",
            title="one table for two vocabularies of different sizes is refused",
            inputs=_model_inputs(8, 9, 6, 3, 1, 7, batch=2, ls=4, lt=5, shared=True),
            hint="The docstring promises an error by its name.",
            aspect="errors",
            open=True,
        ),
        CaseKind(
            name="larger_source",
            title="one table, and the source has the larger vocabulary: refused, too",
            inputs=_model_inputs(10, 8, 6, 3, 1, 7, batch=2, ls=4, lt=5, shared=True),
            hint="The docstring promises an error by its name.",
            aspect="errors",
            hidden_only=True,
            open=True,
        ),
        CaseKind(
            name="positions",
            title="positions of another kind than sinusoids",
            inputs=_model_inputs(
                7, 8, 6, 2, 1, 5, batch=2, ls=5, lt=4, positions=7, padded=False
            ),
            hint="Both embeddings add the positions that were given.",
        ),
        CaseKind(
            name="gradients",
            title="what padding learns, with another pad_id",
            inputs=_model_inputs(
                7, 9, 4, 2, 1, 5, batch=3, ls=5, lt=6, pad_id=2, pull=True
            ),
            hint="Does each part that has to do with padding know `pad_id`?",
        ),
        CaseKind(
            name="three_layers",
            title="three layers each, pre-norm, a short table of positions",
            inputs=_model_inputs(
                6,
                10,
                4,
                2,
                3,
                3,
                batch=2,
                ls=4,
                lt=5,
                norm_first=True,
                activation="relu",
                max_len=9,
                second=True,
            ),
            hint="Does each argument arrive where it belongs?",
            hidden_only=True,
        ),
    ],
    mutants=[*ENDS, *FLOW, *PARTS],
    accepted=ACCEPTED,
)
