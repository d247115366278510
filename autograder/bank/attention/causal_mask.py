"""The causal mask."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    Accepted,
    CaseKind,
    Edit,
    Inputs,
    Maker,
    Mutant,
    Specification,
    Way,
)


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

EXERCISE = Specification(
    name="attention/causal_mask",
    title="The causal mask",
    target="causal_mask",
    precise=False,
    cases=[
        CaseKind(
            name="short",
            title="length 3, and three from 24 on",
            inputs=_lengths((20, 3, 24), 3),
            hint="Row i says whom position i may see: itself and everything before it.",
        ),
        CaseKind(
            name="one",
            title="length 1, and three from 24 on",
            inputs=_lengths((6, 15, 5), 1),
            hint="A single position sees itself.",
        ),
        CaseKind(
            name="long",
            title="lengths 2 and 12, and three from 24 on",
            inputs=_lengths((0, 0, 0), 2, 12),
            hint="The mask has no largest length.",
            hidden_only=True,
        ),
        CaseKind(
            name="very_long",
            title="more than 512 positions",
            inputs=lambda draw: {"lengths": 513 + draw.ids(0, 40, 1)},
            hint="The mask has no largest length.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="upper",
            says="Your triangle points the other way: each position sees itself and "
            "the *future*.",
            asks="What should the first row look like? The first word has nothing "
            "before it.",
            ways=[Way(edits=[Edit(".tril()", ".triu()")])],
        ),
        Mutant(
            name="upper_strict",
            says="This is the mask of what is *forbidden*: `True` stands for the "
            "future.",
            asks="What does `True` mean in this course?",
            ways=[
                Way(edits=[Edit(".tril()", ".triu(diagonal=1)")]),
                Way(name="inverted", edits=[Edit("return", "return ~")]),
            ],
        ),
        Mutant(
            name="no_self",
            says="Nobody sees itself, and the first row is empty: its softmax would be "
            "`nan`.",
            asks="May position `i` attend to position `i`?",
            ways=[
                Way(edits=[Edit(".tril()", ".tril(diagonal=-1)")]),
                Way(name="less", edits=[
                    Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                         "torch.arange(length) < torch.arange(length)[:, None]"),
                ]),
            ],
        ),
        Mutant(
            name="one_ahead",
            says="Each position sees one step into the future: one diagonal too many.",
            asks="What must the first row look like for length 3?",
            ways=[Way(edits=[Edit(".tril()", ".tril(diagonal=1)")])],
        ),
        Mutant(
            name="everything",
            says="Everybody sees everybody: nothing is masked.",
            asks="Which part of the square should be `False`?",
            ways=[Way(edits=[Edit(".tril()", "")])],
        ),
        Mutant(
            name="self_only",
            says="Each position sees itself only.",
            asks="Which words came *before* the third one, and may it see them?",
            ways=[Way(edits=[
                Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                     "torch.eye(length, dtype=torch.bool)"),
            ])],
        ),
        Mutant(
            name="last_two",
            says="Each position sees itself and its left neighbour, and nothing "
            "earlier.",
            asks="How many keys should the last row have open?",
            ways=[Way(edits=[Edit(".tril()", ".tril().triu(-1)")])],
        ),
        Mutant(
            name="flipped",
            says="Your triangle is mirrored: the open keys are counted from the right.",
            asks="The first row has one open key. Is it the first or the last?",
            ways=[Way(edits=[Edit(".tril()", ".tril().flip(1)")])],
        ),
        Mutant(
            name="floats",
            says="The triangle is right, but it holds floats. `~` and `masked_fill` "
            "want booleans.",
            asks="Which `dtype` did you ask for?",
            ways=[Way(edits=[Edit(", dtype=torch.bool", "")])],
        ),
        Mutant(
            name="integers",
            says="The triangle is right, but it holds whole numbers. Then `~1` is -2, "
            "which counts as true.",
            asks="Which `dtype` did you ask for?",
            ways=[Way(edits=[Edit("dtype=torch.bool", "dtype=torch.long")])],
        ),
        Mutant(
            name="additive",
            says="You made an additive mask, with 0 and `-inf`. Here a boolean one is "
            "asked for.",
            asks="Which two values does a boolean have?",
            ways=[Way(edits=[
                Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                     "torch.full((length, length), -math.inf).triu(1)"),
            ])],
        ),
        Mutant(
            name="fixed_length",
            says="Your mask always has the same size, whatever `length` is.",
            asks="Does your code use its argument?",
            ways=[Way(edits=[Edit(_SQUARE, "torch.ones(512, 512, dtype=torch.bool)")])],
        ),
        Mutant(
            name="cut_from_512",
            says="Your mask is cut out of a larger one, and that one ends somewhere.",
            asks="What comes back for more positions than it has?",
            ways=[
                Way(edits=[Edit(f"{_SQUARE}.tril()",
                    "torch.ones(512, 512, dtype=torch.bool).tril()[:length, :length]")]),
            ],
        ),
        Mutant(
            name="extra_dimension",
            says="The triangle is right, but it has dimensions of size 1 around it. "
            "`(L, L)` is asked for; broadcasting adds the rest.",
            asks="Does `(L, L)` broadcast to `(B, L, L)` without help?",
            ways=[Way(edits=[
                Edit("return torch.ones(length, length, dtype=torch.bool).tril()",
                     "return torch.ones(length, length, dtype=torch.bool).tril()[None]"),
            ])],
        ),
        Mutant(
            name="one_too_long",
            says="Your mask is one larger than `length`.",
            asks="Where does your range end?",
            ways=[Way(edits=[
                Edit(_SQUARE, "torch.ones(length + 1, length + 1, dtype=torch.bool)"),
            ])],
        ),
        Mutant(
            name="first_row_short",
            says="The last row was forgotten: your loop ends one step early.",
            asks="Where does `range(length - 1)` stop?",
            ways=[Way(source="""
                def causal_mask(length):
                    mask = torch.zeros(length, length, dtype=torch.bool)
                    for i in range(length - 1):
                        mask[i, : i + 1] = True
                    return mask
                """)],
        ),
        Mutant(
            name="shared",
            says="You keep the masks that you have made and hand out the same ones "
            "again: who writes into one changes it for everybody.",
            asks="To whom does a result belong once it is returned?",
            ways=[Way(source="""
                MASKS = {}

                def causal_mask(length):
                    if length not in MASKS:
                        MASKS[length] = torch.ones(length, length, dtype=torch.bool).tril()
                    return MASKS[length]
                """)],
        ),
    ],
    accepted=[
        Accepted(name="compare", edits=[
            Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                 "torch.arange(length)[None, :] <= torch.arange(length)[:, None]"),
        ]),
        Accepted(name="not_triu", edits=[
            Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                 "~torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)"),
        ]),
        Accepted(name="tril_then_bool", edits=[
            Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                 "torch.tril(torch.ones(length, length)).bool()"),
        ]),
        Accepted(name="triu_is_zero", edits=[
            Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                 "torch.triu(torch.ones(length, length), 1) == 0"),
        ]),
        Accepted(name="from_infinity", edits=[
            Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                 "torch.full((length, length), -math.inf).triu(1).isfinite()"),
        ]),
        Accepted(name="pytorchs_own", edits=[
            Edit("torch.ones(length, length, dtype=torch.bool).tril()",
                 "nn.Transformer.generate_square_subsequent_mask(length) == 0"),
        ]),
        Accepted(name="loop", source="""
            def causal_mask(length):
                mask = torch.zeros(length, length, dtype=torch.bool)
                for i in range(length):
                    for j in range(i + 1):
                        mask[i, j] = True
                return mask
            """),
        Accepted(name="lists", source="""
            def causal_mask(length):
                return torch.tensor([[j <= i for j in range(length)] for i in range(length)])
            """),
    ],
)
