"""The causal mask."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification


def _lengths(shifts: tuple[int, int, int], *always: int) -> Maker:
    """Some lengths, and three others from 24 to 104.

    Three, so that nobody who has learnt the visible masks by heart is lucky. The shifts
    make the visible drawing's short ones: out of a longer mask all shorter ones could be
    cut.
    """

    def inputs(draw: Draw) -> Inputs:
        thirds = (draw.ids(0, 27, 3) + torch.tensor(shifts)) % 27
        chosen = 24 + 3 * thirds + torch.arange(3)
        return {"lengths": torch.cat([torch.tensor(always), chosen])}

    return inputs


_SQUARE = "torch.ones(length, length, dtype=torch.bool)"

CASES = [
    case("short", "length 3, and three lengths of 24 or more", _lengths((20, 3, 24), 3),
         "Row i says which positions position i may attend to: itself and all earlier ones."),
    case("one", "length 1, and three lengths of 24 or more", _lengths((6, 15, 5), 1),
         "A single position attends to itself."),
    case("long", "lengths 2 and 12, and three lengths of 24 or more", _lengths((0, 0, 0), 2, 12),
         "The mask has no maximum length.", hidden_only=True),
    case("very_long", "more than 512 positions", lambda draw: {"lengths": 513 + draw.ids(0, 40, 1)},
         "The mask has no maximum length.", hidden_only=True),
]

MISTAKES = [
    wrong("upper",
          "You kept the wrong triangle: each position attends to itself and the *future*.",
          "What should the first row look like? The first word has nothing before it.",
          edit(".tril()", ".triu()")),
    wrong("upper_strict",
          "Your mask is `True` for what is *forbidden*, the future.",
          "What does `True` mean in this course?",
          edit(".tril()", ".triu(diagonal=1)")),
    wrong("no_self",
          "No position may attend to itself, and the first row allows nothing: its softmax would be `nan`.",
          "May position `i` attend to position `i`?",
          edit(".tril()", ".tril(diagonal=-1)")),
    wrong("one_ahead",
          "Each position sees one step into the future: there is one diagonal too many.",
          "What must the first row look like for length 3?",
          edit(".tril()", ".tril(diagonal=1)")),
    wrong("everything",
          "Every position attends to every other: nothing is masked.",
          "Which part of the square should be `False`?",
          edit(".tril()", "")),
    wrong("self_only",
          "Each position attends only to itself.",
          "Which words come *before* the third one, and may it attend to them?",
          edit("torch.ones(length, length, dtype=torch.bool).tril()", "torch.eye(length, dtype=torch.bool)")),
    wrong("last_two",
          "Each position attends to itself and its left neighbour, but to nothing earlier.",
          "How many keys should the last row allow?",
          edit(".tril()", ".tril().triu(-1)")),
    wrong("flipped",
          "Your triangle is mirrored: the allowed keys are counted from the right.",
          "The first row allows one key. Is it the first or the last?",
          edit(".tril()", ".tril().flip(1)")),
    wrong("floats",
          "The triangle holds floats, while `~` and `masked_fill` need booleans.",
          "Which `dtype` did you ask for?",
          edit(", dtype=torch.bool", "")),
    wrong("integers",
          "The triangle holds integers. Then `~1` is -2, which counts as true.",
          "Which `dtype` did you ask for?",
          edit("dtype=torch.bool", "dtype=torch.long")),
    common("additive",
           edit("torch.ones(length, length, dtype=torch.bool).tril()",
                "torch.full((length, length), -math.inf).triu(1)")),
    wrong("fixed_length",
          "Your mask always has the same size, whatever `length` is.",
          "Does your code use its argument?",
          edit(_SQUARE, "torch.ones(512, 512, dtype=torch.bool)")),
    wrong("cut_from_512",
          "Your mask is cut out of a larger one, which has a fixed size.",
          "What do you return for a `length` above that size?",
          edit(f"{_SQUARE}.tril()", "torch.ones(512, 512, dtype=torch.bool).tril()[:length, :length]")),
    wrong("extra_dimension",
          "The triangle has extra dimensions of size 1. Return `(L, L)`; broadcasting adds the rest.",
          "Does `(L, L)` broadcast to `(B, L, L)` without help?",
          edit("return torch.ones(length, length, dtype=torch.bool).tril()",
               "return torch.ones(length, length, dtype=torch.bool).tril()[None]")),
    wrong("one_too_long",
          "Your mask has one row and one column too many.",
          "Where does your range end?",
          edit(_SQUARE, "torch.ones(length + 1, length + 1, dtype=torch.bool)")),
    wrong("first_row_short",
          "The last row was never filled in: your loop ends one step early.",
          "Where does `range(length - 1)` stop?",
          source("""
              def causal_mask(length):
                  mask = torch.zeros(length, length, dtype=torch.bool)
                  for i in range(length - 1):
                      mask[i, : i + 1] = True
                  return mask
              """)),
    wrong("shared",
          "You cache your masks and return the same tensor again, so modifying one changes it for every caller.",
          "Who owns a tensor once it has been returned?",
          source("""
              MASKS = {}

              def causal_mask(length):
                  if length not in MASKS:
                      MASKS[length] = torch.ones(length, length, dtype=torch.bool).tril()
                  return MASKS[length]
              """)),
    wrong("slice_of_a_buffer",
          "You return a slice of one stored mask. A slice is a view, so modifying one result changes all later ones, "
          "and the stored mask has a maximum length.",
          "Which memory does a slice use, and what is `mask[:5]` of a mask with 3 rows?",
          source("""
              STORED = torch.ones(256, 256, dtype=torch.bool).tril()

              def causal_mask(length):
                  return STORED[:length, :length]
              """)),
]

ACCEPTED = [
    right("compare", edit("torch.ones(length, length, dtype=torch.bool).tril()",
                          "torch.arange(length)[None, :] <= torch.arange(length)[:, None]")),
    right("not_triu", edit("torch.ones(length, length, dtype=torch.bool).tril()",
                           "~torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)")),
    right("tril_then_bool",
          edit("torch.ones(length, length, dtype=torch.bool).tril()", "torch.tril(torch.ones(length, length)).bool()")),
    right("triu_is_zero", edit("torch.ones(length, length, dtype=torch.bool).tril()",
                               "torch.triu(torch.ones(length, length), 1) == 0")),
    right("from_infinity", edit("torch.ones(length, length, dtype=torch.bool).tril()",
                                "torch.full((length, length), -math.inf).triu(1).isfinite()")),
    right("pytorchs_own", edit("torch.ones(length, length, dtype=torch.bool).tril()",
                               "nn.Transformer.generate_square_subsequent_mask(length) == 0")),
    right("loop", source("""
        def causal_mask(length):
            mask = torch.zeros(length, length, dtype=torch.bool)
            for i in range(length):
                for j in range(i + 1):
                    mask[i, j] = True
            return mask
        """)),
    right("lists", source("""
        def causal_mask(length):
            return torch.tensor([[j <= i for j in range(length)] for i in range(length)])
        """)),
]

EXERCISE = Specification(
    name="attention/causal_mask", title="The causal mask", target="causal_mask", precise=False,
    ready_made=("autograder.units.encoder_decoder.probes.bugs.triangle",),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
