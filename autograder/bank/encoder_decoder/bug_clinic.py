"""A test for decoder layers."""

from __future__ import annotations

import torch

from autograder.bank.encoder_decoder._bug_clinic.accepted import ACCEPTED
from autograder.bank.encoder_decoder._bug_clinic.rules import RULES
from autograder.bank.encoder_decoder._bug_clinic.whole import WHOLE
from autograder.bank.inputs import causal_mask
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    CaseKind,
    Inputs,
    Maker,
    Specification,
)


def _patients(
    other: str,
    third: str,
    right: str = "post relu",
    mask_kept: bool = False,
    frozen: bool = False,
) -> Maker:
    """A right decoder layer and others; sizes and weights vary with the draw.

    ``mask_kept``: all of them hold a causal mask, which is no parameter; ``frozen``:
    their weights take no gradient.
    """

    def inputs(draw: Draw) -> Inputs:
        heads = 2 + int(draw.ids(0, 2))
        sizes = [heads * (3 + int(draw.ids(0, 2))), heads, 13 + int(draw.ids(0, 4))]
        mask = {"mask": causal_mask(12)} if mask_kept else {}
        return mask | {
            "right": right,
            "other": other,
            "third": third,
            "sizes": torch.tensor(sizes),
            "frozen": torch.tensor(frozen),
            "seed": draw.ids(0, 10**6, 1)[0],
        }

    return inputs


def _patient(
    *,
    name: str,
    title: str,
    bug: str,
    second_bug: str,
    hint: str,
    hidden: bool = False,
    right: str = "post relu",
    mask_kept: bool = False,
    frozen: bool = False,
) -> CaseKind:
    other, third = (f"{right}, {each}" for each in (bug, second_bug))
    answers = {
        "a right decoder layer": "accepted",
        "the other one": "rejected",
        "a third one": "rejected",
    }
    return CaseKind(
        name=name,
        title=title,
        inputs=_patients(other, third, right, mask_kept, frozen),
        hint=hint,
        hidden_only=hidden,
        known=lambda draw: answers,
    )


EXERCISE = Specification(
    name="encoder_decoder/bug_clinic",
    title="A test for decoder layers",
    target="assert_decoder_layer",
    precise=False,
    cases=[
        _patient(
            name="published",
            title="a tensor unpacked as a pair; and two cross-attentions",
            bug="unpacks",
            second_bug="two memories",
            hint="Rule 1: which batch sizes do you try? Rule 5: what can you count?",
        ),
        _patient(
            name="no_mask",
            title="no causal mask; and nobody sees itself, only the past (pre-norm)",
            bug="no mask",
            second_bug="shifts",
            hint="Rule 2: who must stay, and who must move?",
            right="pre gelu",
        ),
        _patient(
            name="wide_mask",
            title="one position of the future is seen; and a causal mask on the memory",
            bug="one ahead",
            second_bug="causal memory",
            hint="Rules 2 and 3: do you try each position, of the target and of the memory?",
        ),
        _patient(
            name="batch",
            title="sentences move each other; and the past is not seen (pre-norm)",
            bug="mixes the batch",
            second_bug="no past",
            hint="Rules 2 and 4: which outputs, of which sentences, move if one changes?",
            right="pre gelu",
        ),
        _patient(
            name="shapes",
            title="a batch of one is squeezed; and outputs of one number",
            bug="squeezes",
            second_bug="narrow",
            hint="Rule 1: which batch sizes do you try, and do you look at the whole shape?",
        ),
        _patient(
            name="lengths",
            title="no memory longer than the target; and only the word before is seen "
            "(pre-norm)",
            bug="square of the target",
            second_bug="short sight",
            hint="Rules 1 and 2: is each of the two once the longer one, and long enough?",
            right="pre gelu",
        ),
        _patient(
            name="soft",
            title="the future shines through; and nobody sees the first word (each "
            "layer rounds in its own way)",
            bug="soft mask",
            second_bug="first unseen",
            hint="Rule 2: by how much may rounding move an output? Do you change *each* "
            "position?",
            right="post relu rounding",
        ),
        _patient(
            name="memories",
            title="memories are mixed; and only the last word looks (pre-norm; weights "
            "are frozen)",
            bug="mixes memories",
            second_bug="last asks",
            hint="Rules 3 to 5: you change the memory of one sentence. Which outputs move? "
            "Is a frozen weight a parameter?",
            right="pre gelu",
            frozen=True,
        ),
        _patient(
            name="sentences",
            title="the last sentence leaks; and only the first two have a mask",
            bug="last leaks",
            second_bug="mask of the first two",
            hint="Rules 2 and 4: do you change each sentence of the batch?",
        ),
        _patient(
            name="first",
            title="the first position of the memory is left out; and the first sentence "
            "leaks (each layer keeps a mask)",
            bug="late memory",
            second_bug="first leaks",
            hint="Rules 3 to 5: do you change each position, of each sentence? Is a mask "
            "a parameter?",
            mask_kept=True,
        ),
        _patient(
            name="last",
            title="the last word is not read; and one attention does the work of two",
            bug="last unread",
            second_bug="one attention",
            hint="Rules 2 and 5: do you change the last position, too? How many weights "
            "are there, each counted once?",
        ),
        _patient(
            name="memory",
            title="the last position of the memory is left out; and no target longer "
            "than the memory (pre-norm)",
            bug="short memory",
            second_bug="square of the memory",
            hint="Rules 1 and 3: do you try each position, and targets that are longer?",
            hidden=True,
            right="pre gelu",
        ),
        _patient(
            name="no_bias",
            title="a bias is missing; and two sentences are taken for a pair",
            bug="no bias",
            second_bug="unpacks pairs",
            hint="Rules 4 and 5: count the weights. Which batches hold two sentences?",
            hidden=True,
        ),
    ],
    # The first one that explains what is wrong is said: those of one rule come first.
    # What explains a gap is said in this order: a single rule before a whole habit.
    mutants=[*RULES, *WHOLE],
    accepted=ACCEPTED,
)
