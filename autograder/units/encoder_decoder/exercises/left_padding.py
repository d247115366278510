"""Mask and positions of a batch that is padded on the left."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _prompts(lengths: tuple[int, ...], width: int, pad_id: int | None = None) -> Maker:
    """Rows of these lengths, in random order, padded on the left."""

    def inputs(draw: Draw) -> Inputs:
        pad = pad_id or 0
        order = draw.ids(0, 2**30, len(lengths)).argsort()
        mixed = torch.tensor(lengths)[order]  # (B,)
        real = torch.arange(width) >= width - mixed[:, None]  # (B, L)
        ids = (pad + draw.ids(1, 23, len(lengths), width)) % 23
        made: Inputs = {"ids": torch.where(real, ids, pad)}
        return made | ({} if pad_id is None else {"pad_id": torch.tensor(pad_id)})

    return inputs


_MASK = "mask = causal & real[:, None] | itself  # (B, L, L)"
_POSITIONS = "(real.cumsum(1) - 1).clamp(min=0)"
_REAL = "real = ids != pad_id"

CASES = [
    case("three", "three rows of different lengths; pad_id left out", _prompts((2, 5, 3), 5),
         "Draw the mask of the shortest row on paper."),
    case("other_pad", "a different pad_id, and a row of a single token", _prompts((1, 4, 6, 3), 6, 7),
         "Is the padding id always 0?"),
    case("one_row", "one row", _prompts((3,), 7, 4),
         "A batch of one is still a batch.", open=True),
    case("full", "rows without padding", _prompts((4, 4), 4),
         "Without padding this is an ordinary causal mask.", open=True),
    case("long", "longer rows", _prompts((9, 2, 12, 5, 7), 12, 3),
         "Does your code depend on the sizes?", hidden_only=True),
]

MISTAKES = [
    # The mask.
    wrong("empty_rows",
          "The rows of padding tokens are empty, so their softmax is `nan`.",
          "Which key could a padding token attend to without affecting any real token?",
          edit(_MASK, "mask = causal & real[:, None]")),
    wrong("not_causal",
          "A real token attends to later ones.",
          "Which mask hides the future?",
          edit(_MASK, "mask = real[:, None] & real[:, :, None] | itself")),
    wrong("padding_attended_to",
          "A real token attends to padding.",
          "Which keys are real, and where does your mask say so?",
          edit(_MASK, "mask = causal.expand(len(ids), -1, -1) | itself")),
    wrong("first_column_open",
          "Every query may attend to position 0, which is padding in most rows.",
          "Which entries did you allow in order to fill the empty rows, and for which queries?",
          edit(_MASK, "mask = causal & real[:, None]; mask[:, :, 0] = True")),
    wrong("strict",
          "A real token does not attend to itself, so the row of the first one is empty.",
          "May a token attend to itself?",
          edit(_MASK, "mask = causal & ~itself & real[:, None] | itself & ~real[:, :, None]")),
    wrong("upper",
          "The triangle is on the wrong side: tokens attend to the future.",
          "Are the rows of a mask queries or keys?",
          edit(_MASK, "mask = causal.T & real[:, None] | itself")),
    wrong("inverted",
          "The mask is inverted: True marks what may *not* be attended to.",
          "What does True mean in this course?",
          edit(_MASK, "mask = ~(causal & real[:, None] | itself)")),
    wrong("additive",
          "The mask is additive; a boolean one is asked for.",
          "What does the docstring promise?",
          edit(_MASK, "mask = torch.zeros(len(ids), *causal.shape).masked_fill(~(causal & real[:, None] | itself), -math.inf)")),
    wrong("integers",
          "The mask holds integers; booleans are asked for.",
          "What does the docstring promise?",
          edit(_MASK, "mask = (causal & real[:, None] | itself).long()")),
    wrong("of_the_first_row",
          "All rows of the batch get the mask of the first one.",
          "Where does your mask depend on the row?",
          edit(_MASK, "mask = (causal & real[:1, None] | itself).expand(len(ids), -1, -1)")),
    # The positions.
    wrong("positions_from_padding",
          "Positions are counted from the padding on, so they depend on how much of it there is.",
          "At which position was a sentence's first token in training?",
          edit(_POSITIONS, "torch.arange(ids.size(1)).expand_as(ids)")),
    wrong("positions_from_one",
          "The first real token has position 1, not 0.",
          "What is the running count at the first real token?",
          edit(_POSITIONS, "real.cumsum(1)")),
    wrong("positions_below_zero",
          "Padding has the position -1, for which no table has a row.",
          "What is the running count minus one, before the first real token?",
          edit(_POSITIONS, "real.cumsum(1) - 1")),
    wrong("positions_from_the_end",
          "Positions are counted backwards from the last token.",
          "Which real token has position 0?",
          edit(_POSITIONS, "(ids.size(1) - 1 - torch.arange(ids.size(1))).expand_as(ids)")),
    wrong("positions_of_the_first_row",
          "All rows get the positions of the first one.",
          "Where do your positions depend on the row?",
          edit(_POSITIONS, f"{_POSITIONS}[:1].expand_as(ids)")),
    wrong("positions_along_the_batch",
          "You count along the batch instead of along the positions.",
          "Which dimension holds the positions?",
          edit(_POSITIONS, "(real.cumsum(0) - 1).clamp(min=0)")),
    wrong("positions_as_floats",
          "The positions are floats; int64 is asked for.",
          "Which operation turned them into floats?",
          edit(_POSITIONS, f"{_POSITIONS}.float()")),
    # Both.
    common("pad_fixed", edit(_REAL, "real = ids != 0")),
    wrong("larger_ids_only",
          "Ids below `pad_id` are treated as padding.",
          "Which ids are padding?",
          edit(_REAL, "real = ids > pad_id")),
    wrong("swapped",
          "Mask and positions are returned in the wrong order.",
          "Which of the two does the docstring name first?",
          edit(f"return mask, {_POSITIONS}", f"return {_POSITIONS}, mask")),
    wrong("in_place",
          "Your code changed the given `ids`.",
          "Which operation writes into its argument?",
          edit(_REAL, "real = ids != pad_id; ids.masked_fill_(~real, -1)")),
]

ACCEPTED = [
    right("loops", source("""
        def left_padding(ids, pad_id=0):
            B, L = ids.shape
            mask = torch.zeros(B, L, L, dtype=torch.bool)
            positions = torch.zeros(B, L, dtype=torch.int64)
            for b in range(B):
                count = 0
                for i in range(L):
                    mask[b, i, i] = True
                    for j in range(i):
                        mask[b, i, j] = ids[b, j] != pad_id
                    if ids[b, i] != pad_id:
                        positions[b, i] = count
                        count += 1
            return mask, positions
        """)),
    right("rows_of_padding_open", edit(_MASK, "mask = causal & real[:, None] | ~real[:, :, None]")),
    right("plain_causal_rows", edit(_MASK, "mask = causal & (real[:, None] | ~real[:, :, None])")),
    right("of_unit_2", edit(_MASK, """
        mask = attention.combine_masks(attention.padding_mask(ids, pad_id), causal) | itself
        """)),
    right("by_amount", edit(_POSITIONS, """
        (torch.arange(ids.size(1)) - (~real).sum(1, keepdim=True)).clamp(min=0)
        """)),
    right("padding_at_the_end_of_the_table",
          edit(_POSITIONS, "(real.cumsum(1) - 1).masked_fill(~real, ids.size(1) - 1)")),
    right("four_dimensions", edit("return mask,", "return mask[:, None],")),
]

EXERCISE = Specification(
    name="encoder_decoder/left_padding", title="Left padding with a causal mask", target="left_padding",
    aspects={"positions": 6.0},  # one of two results
    precise=False,
    contract=Contract(
        ways=(),
        sizes=special(
            one_token=_prompts((1,), 1), one_row_without_padding=_prompts((5,), 5),
            as_many_rows_as_positions=_prompts((2, 4, 1, 3), 4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
