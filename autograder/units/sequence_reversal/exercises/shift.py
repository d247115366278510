"""The shift of teacher forcing."""

from __future__ import annotations

import torch.nn.functional as F

from autograder.authoring.contract import Contract, special
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Maker, Specification
from autograder.units.sequence_reversal.exercises._inputs import random_targets


def _target(*lengths: int, high: int = 14, wider: int = 0, unknown: bool = False) -> Maker:
    """Targets of these lengths, with more columns of padding than they need."""
    return lambda draw: {"target": F.pad(random_targets(draw, [*lengths], high, unknown), (0, wider))}


_SHIFTED = "target[:, :-1], target[:, 1:]"

CASES = [
    case("three", "three rows of different lengths", _target(4, 2, 6),
         "Write down one row, and below it the same row shifted one position to the left."),
    case("equal", "two rows without padding", _target(5, 5),
         "EOS of the longest row must stay among the labels."),
    case("wider", "rows with two more columns of padding than they need", _target(3, 6, wider=2),
         "Both are one column shorter than the target, whatever it contains."),
    case("short", "a row of one symbol and a long one, with an unknown word",
         _target(1, 8, 3, high=40, unknown=True),
         "Each label is the token after the input at the same position."),
    case("many", "many rows, one of them long", _target(3, 7, 2, 70, 1, 5, unknown=True),
         "The same again, with more rows and more columns.", hidden_only=True),
]

MISTAKES = [
    wrong("no_shift",
          "Input and labels are the same, so the model is asked to repeat what it is looking at.",
          "Which token should the model predict when it is shown BOS?",
          edit(_SHIFTED, "target[:, :-1], target[:, :-1]")),
    wrong("no_shift_whole",
          "Your input and your labels are both as long as the target; each of them should leave out one token.",
          "Which token of the target is never a label, and which never an input?",
          edit(_SHIFTED, "target, target")),
    wrong("wrong_way",
          "You shifted the wrong way: your model sees the next token and has to predict the previous one.",
          "Which of the two begins with BOS?",
          edit(_SHIFTED, "target[:, 1:], target[:, :-1]")),
    wrong("by_two",
          "Your labels are two positions ahead of the input.",
          "What should the model predict after BOS: the first token or the second?",
          edit(_SHIFTED, "target[:, :-2], target[:, 2:]")),
    wrong("rows",
          "You cut off rows of the batch instead of columns.",
          "Which dimension of `(B, L)` does `target[:-1]` shorten?",
          edit(_SHIFTED, "target[:-1], target[1:]")),
    wrong("labels_only",
          "The decoder's input still has all its columns, so it does not match the labels.",
          "How many logits will there be, and how many labels?",
          edit(_SHIFTED, "target, target[:, 1:]")),
    wrong("same_width",
          "Both are as wide as the target: the input keeps its last column, and the labels are filled up with PAD.",
          "What should the model predict after the last column?",
          edit(_SHIFTED, "target, F.pad(target[:, 1:], (0, 1))")),
    wrong("both_ends",
          "BOS and the last column are missing in both tensors.",
          "Which of the two tensors needs BOS?",
          edit(_SHIFTED, "target[:, 1:-1], target[:, 1:-1]")),
    wrong("rolled",
          "You rolled the rows: what falls off on the left comes back on the right, so BOS becomes a label.",
          "What is in the last column of your labels?",
          edit(_SHIFTED, "target, target.roll(-1, dims=1)")),
    wrong("eos_lost",
          "EOS is missing from your labels, so the model will never learn to stop.",
          "What should the model predict after the last symbol?",
          edit(_SHIFTED, "target[:, :-1], target[:, 1:].masked_fill(target[:, 1:] == EOS, PAD)")),
    wrong("bos_lost",
          "The decoder's input has PAD where BOS should be.",
          "What is the decoder shown in its very first step?",
          edit(_SHIFTED, "F.pad(target[:, 1:-1], (1, 0)), target[:, 1:]")),
    wrong("minus_100",
          "Where there is no token, your labels hold a number other than PAD.",
          'Which id means "no token" in this unit, for the loss as well?',
          edit(_SHIFTED, "target[:, :-1], target[:, 1:].masked_fill(target[:, 1:] == PAD, -100)")),
    wrong("batch_dropped",
          "A batch of one row loses a dimension.",
          "What is the shape of `target[:, 1:]` if there is one row, and what do you do to it afterwards?",
          edit(_SHIFTED, "target[:, :-1].squeeze(0), target[:, 1:].squeeze(0)")),
    wrong("in_place",
          "Your function changes the target that it was given.",
          "What else might use this tensor after your function returns?",
          source("""
              def shift(target):
                  labels = target[:, 1:].clone()
                  target[target == EOS] = PAD
                  return target[:, :-1], labels
              """)),
]

ACCEPTED = [
    right("without_eos", edit(_SHIFTED, "target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD), target[:, 1:]")),
    right("narrow",
          edit(_SHIFTED, "target.narrow(1, 0, target.size(1) - 1), target.narrow(1, 1, target.size(1) - 1).clone()")),
    right("columns",
          edit(_SHIFTED,
               "torch.stack([target[:, i] for i in range(target.size(1) - 1)], 1), torch.stack([target[:, i] for i in range(1, target.size(1))], 1)")),
]

EXERCISE = Specification(
    name="sequence_reversal/shift", title="The shift of teacher forcing", target="shift",
    aspects={"decoder input": 6.0},  # one of two results
    contract=Contract(
        ways=(),
        sizes=special(
            one_row=_target(5), rows_without_a_symbol=_target(0, 0, 0), as_many_rows_as_columns=_target(3, 1, 3, 2, 3)
        ),
    ),
    precise=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
