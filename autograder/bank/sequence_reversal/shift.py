"""The shift of teacher forcing."""

from __future__ import annotations

import torch.nn.functional as F

from autograder.bank.sequence_reversal._inputs import random_targets
from autograder.oracle.promise import Promise, special
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Maker,
    Mutant,
    Specification,
    Way,
)


def _target(
    *lengths: int, high: int = 14, wider: int = 0, unknown: bool = False
) -> Maker:
    """Targets of these lengths, with more columns of padding than they need."""
    return lambda draw: {
        "target": F.pad(random_targets(draw, [*lengths], high, unknown), (0, wider))
    }


_SHIFTED = "target[:, :-1], target[:, 1:]"

EXERCISE = Specification(
    name="sequence_reversal/shift",
    title="The shift of teacher forcing",
    target="shift",
    aspects={"decoder input": 6.0},  # one of two results
    promise=Promise(
        ways=(),
        sizes=special(
            one_row=_target(5),
            rows_without_a_symbol=_target(0, 0, 0),
            as_many_rows_as_columns=_target(3, 1, 3, 2, 3),
        ),
    ),
    precise=False,
    cases=[
        CaseKind(
            name="three",
            title="three rows of different lengths",
            inputs=_target(4, 2, 6),
            hint="Write one row, and below it the same row one place further left.",
        ),
        CaseKind(
            name="equal",
            title="two rows without padding",
            inputs=_target(5, 5),
            hint="EOS of the longest row must stay among the labels.",
        ),
        CaseKind(
            name="wider",
            title="rows with two more columns of padding than they need",
            inputs=_target(3, 6, wider=2),
            hint="Both are one column shorter than the target, whatever stands in it.",
        ),
        CaseKind(
            name="short",
            title="a row of one symbol and a long one, with a word that is unknown",
            inputs=_target(1, 8, 3, high=40, unknown=True),
            hint="Each label is the token after the input at the same place.",
        ),
        CaseKind(
            name="many",
            title="many rows, one of them long",
            inputs=_target(3, 7, 2, 70, 1, 5, unknown=True),
            hint="As above, with more rows and more columns.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="no_shift",
            says="Input and labels are the same: the model is asked to repeat what it "
            "is just looking at.",
            asks="Which token should the model say when it is shown BOS?",
            ways=[Way(edits=[Edit(_SHIFTED, "target[:, :-1], target[:, :-1]")])],
        ),
        Mutant(
            name="no_shift_whole",
            says="You return the whole target twice: nothing is shifted, and the model "
            "would be asked to repeat its own input.",
            asks="Which token of the target is never a label, and which never an "
            "input?",
            ways=[Way(edits=[Edit(_SHIFTED, "target, target")])],
        ),
        Mutant(
            name="wrong_way",
            says="You shifted the wrong way: your model sees the next token and is "
            "asked for the one before.",
            asks="Which of the two begins with BOS?",
            ways=[
                Way(edits=[Edit(_SHIFTED, "target[:, 1:], target[:, :-1]")]),
                Way(name="swapped", edits=[
                    Edit(_SHIFTED, "target[:, 1:].clone(), target[:, :-1].clone()"),
                ]),
            ],
        ),
        Mutant(
            name="by_two",
            says="Your labels are two places ahead of the input.",
            asks="What should the model say after BOS: the first token or the second?",
            ways=[Way(edits=[Edit(_SHIFTED, "target[:, :-2], target[:, 2:]")])],
        ),
        Mutant(
            name="rows",
            says="You cut off rows of the batch instead of columns.",
            asks="Which dimension of `(B, L)` does `target[:-1]` shorten?",
            ways=[Way(edits=[Edit(_SHIFTED, "target[:-1], target[1:]")])],
        ),
        Mutant(
            name="labels_only",
            says="The decoder's input still has all columns, so the two do not fit "
            "together.",
            asks="How many logits will there be, and how many labels?",
            ways=[Way(edits=[Edit(_SHIFTED, "target, target[:, 1:]")])],
        ),
        Mutant(
            name="same_width",
            says="Both are as wide as the target: the input keeps its last column, and "
            "the labels are filled up with PAD.",
            asks="What should the model say after the last column?",
            ways=[Way(edits=[Edit(_SHIFTED, "target, F.pad(target[:, 1:], (0, 1))")])],
        ),
        Mutant(
            name="both_ends",
            says="BOS and the last column are missing in both tensors.",
            asks="Which of the two tensors needs BOS?",
            ways=[Way(edits=[Edit(_SHIFTED, "target[:, 1:-1], target[:, 1:-1]")])],
        ),
        Mutant(
            name="rolled",
            says="You rolled the rows round: what falls out on the left comes back in "
            "on the right, and BOS becomes a label.",
            asks="What stands in the last column of your labels?",
            ways=[Way(edits=[Edit(_SHIFTED, "target, target.roll(-1, dims=1)")])],
        ),
        Mutant(
            name="eos_lost",
            says="EOS is missing among your labels: the model will never learn to "
            "stop.",
            asks="What should the model say after the last symbol?",
            ways=[Way(edits=[
                Edit(_SHIFTED,
                     "target[:, :-1], target[:, 1:].masked_fill(target[:, 1:] == EOS, PAD)"),
            ])],
        ),
        Mutant(
            name="bos_lost",
            says="The decoder's input has PAD where BOS should be.",
            asks="What is the decoder shown in its very first step?",
            ways=[Way(edits=[
                Edit(_SHIFTED, "F.pad(target[:, 1:-1], (1, 0)), target[:, 1:]"),
            ])],
        ),
        Mutant(
            name="unknown_hidden",
            says="UNK has become PAD in the decoder's input: a word that the vocabulary "
            "lacks is a token, too.",
            asks="Which of the special tokens means that nothing stands there?",
            ways=[
                Way(edits=[
                    Edit(_SHIFTED,
                         "target[:, :-1].masked_fill(target[:, :-1] == UNK, PAD), target[:, 1:]"),
                ]),
            ],
        ),
        Mutant(
            name="unknown_never_asked",
            says="UNK has become PAD among your labels: a word that the vocabulary lacks "
            "is a token, too.",
            asks="Which of the special tokens means that nothing stands there?",
            ways=[
                Way(edits=[
                    Edit(_SHIFTED,
                         "target[:, :-1], target[:, 1:].masked_fill(target[:, 1:] == UNK, PAD)"),
                ]),
            ],
        ),
        Mutant(
            name="minus_100",
            says="Your labels hold another number than PAD where there is no token.",
            asks='Which id means "no token" in this unit, for the loss as well?',
            ways=[Way(edits=[
                Edit(_SHIFTED,
                     "target[:, :-1], target[:, 1:].masked_fill(target[:, 1:] == PAD, -100)"),
            ])],
        ),
        Mutant(
            name="batch_dropped",
            says="A batch of one row loses a dimension.",
            asks="What is the shape of `target[:, 1:]` if there is one row, and what do you do "
            "to it afterwards?",
            ways=[Way(edits=[Edit(_SHIFTED, "target[:, :-1].squeeze(0), target[:, 1:].squeeze(0)")])],
        ),
        Mutant(
            name="in_place",
            says="Your function changes the target that it was given.",
            asks="Who else uses this tensor after your function returns?",
            ways=[Way(source="""
                def shift(target):
                    labels = target[:, 1:].clone()
                    target[target == EOS] = PAD
                    return target[:, :-1], labels
                """)],
        ),
    ],
    accepted=[
        Accepted(name="without_eos", edits=[
            Edit(_SHIFTED,
                 "target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD), target[:, 1:]"),
        ]),
        Accepted(name="narrow", edits=[
            Edit(_SHIFTED,
                 "target.narrow(1, 0, target.size(1) - 1), target.narrow(1, 1, target.size(1) - 1).clone()"),
        ]),
        Accepted(name="columns", edits=[
            Edit(_SHIFTED,
                 "torch.stack([target[:, i] for i in range(target.size(1) - 1)], 1), torch.stack([target[:, i] for i in range(1, target.size(1))], 1)"),
        ]),
    ],
)
