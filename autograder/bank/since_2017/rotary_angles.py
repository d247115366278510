"""The angles of rotary positions."""

from __future__ import annotations

import torch

from autograder.bank.since_2017._inputs import options, whole
from autograder.oracle.draw import Draw
from autograder.oracle.promise import Promise, special
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


def _exactly(length: int, d_k: int) -> Maker:
    """That many places, from an offset on."""

    def inputs(draw: Draw) -> Inputs:
        offset = torch.tensor(3 + int(draw.ids(0, 9)))
        return whole(length=length, d_k=d_k) | {"option.offset": offset}

    return inputs


def _asked(
    length: int, pairs: tuple[int, int], offset: int = 0, other_base: bool = False
) -> Maker:
    """Of so many widths that hardly any stands in what ships: rows could be read there."""

    def inputs(draw: Draw) -> Inputs:
        more = int(draw.ids(0, 3))
        made = whole(length=length + more, d_k=2 * int(draw.ids(*pairs)))
        if offset:
            made |= {"option.offset": torch.tensor(offset + int(draw.ids(0, 5)))}
        return made | (options(base=float(draw.ids(300, 1000))) if other_base else {})

    return inputs


_SPEEDS = "base ** -(torch.arange(0, d_k, 2) / d_k)"
_PLACES = "torch.arange(offset, offset + length)"

EXERCISE = Specification(
    name="since_2017/rotary_angles",
    title="The angles",
    target="rotary_angles",
    promise=Promise(
        ways=(),
        sizes=special(
            one_place=_exactly(1, 6),
            the_first_place_alone=lambda draw: whole(length=1, d_k=6),
            one_pair=_exactly(4, 2),
            as_many_places_as_pairs=_exactly(5, 10),
            as_many_places_as_numbers=_exactly(6, 6),
        ),
    ),
    cases=[
        CaseKind(
            name="from_zero",
            title="places from 0 on",
            inputs=_asked(5, (3, 33)),
            hint="Place 0 is not turned at all; column 0 turns by one radian a place.",
        ),
        CaseKind(
            name="offset",
            title="places from an offset on",
            inputs=_asked(4, (3, 33), offset=9),
            hint="The first row belongs to place `offset`.",
        ),
        CaseKind(
            name="base",
            title="another base",
            inputs=_asked(7, (3, 33), offset=3, other_base=True),
            hint="The speeds are powers of `base`.",
        ),
        CaseKind(
            name="far",
            title="places that half precision cannot tell apart",
            inputs=_asked(4, (3, 33), offset=4097),
            hint="Places are counted exactly; angles are numbers of float32.",
        ),
        CaseKind(
            name="wide",
            title="wide heads",
            inputs=_asked(12, (16, 49), offset=40),
            hint="The exponents run from 0 to almost -1.",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="exponent_halved",
            says="Your speeds fall too slowly: the exponent is half of what it should be.",
            asks="Is it $i / d_k$ or $2i / d_k$?",
            ways=[
                Way(edits=[Edit("torch.arange(0, d_k, 2) / d_k", "torch.arange(d_k // 2) / d_k")]),
                Way(name="over_double", edits=[Edit("(torch.arange(0, d_k, 2) / d_k)", "(torch.arange(0, d_k, 2) / (2 * d_k))")]),
            ],
        ),
        Mutant(
            name="exponent_doubled",
            says="Your speeds fall too fast: the exponent is twice what it should be.",
            asks="What is the last exponent if $d_k = 8$: -6/8 or -12/8?",
            ways=[
                Way(edits=[Edit("torch.arange(0, d_k, 2) / d_k", "2 * torch.arange(0, d_k, 2) / d_k")]),
                Way(name="over_half", edits=[Edit("(torch.arange(0, d_k, 2) / d_k)", "(torch.arange(0, d_k, 2) / (d_k // 2))")]),
            ],
        ),
        Mutant(
            name="speeds_grow",
            says="Your speeds grow from column to column; they should fall.",
            asks="Which sign has the exponent?",
            ways=[Way(edits=[Edit("base ** -(", "base ** (")])],
        ),
        Mutant(
            name="speeds_backwards",
            says="Your columns are in the reverse order: the fast pair comes last.",
            asks="What is $\\theta_0$?",
            ways=[Way(edits=[Edit(_SPEEDS, f"({_SPEEDS}).flip(0)")])],
        ),
        Mutant(
            name="one_too_far",
            says="The exponent of your last column is -1: it should stop one step earlier.",
            asks="By what is $2i$ divided: by $d_k$ or by $d_k - 2$?",
            ways=[
                Way(edits=[Edit("(torch.arange(0, d_k, 2) / d_k)", "(torch.arange(0, d_k, 2) / (d_k - 2))")]),
                Way(name="linspace", edits=[Edit("(torch.arange(0, d_k, 2) / d_k)", "torch.linspace(0, 1, d_k // 2)")]),
            ],
        ),
        Mutant(
            name="shifted_exponents",
            says="Your exponents start at $-2/d_k$: the pairs are counted from 1.",
            asks="What is the speed of the pair with $i = 0$?",
            ways=[Way(edits=[Edit("torch.arange(0, d_k, 2)", "torch.arange(2, d_k + 1, 2)")])],
        ),
        Mutant(
            name="the_same_again",
            says="A second call gives the tensor of the first once more: who changes one "
            "changes both.",
            asks="Which tensor does a cache hand out, and how often?",
            ways=[Way(edits=[
                Edit("def rotary_angles(", "@__import__(\"functools\").cache\ndef rotary_angles("),
            ])],
        ),
        Mutant(
            name="offset_ignored",
            says="The offset has no influence: every text begins at place 0.",
            asks="Where does `offset` stand in your code?",
            ways=[Way(edits=[Edit(_PLACES, "torch.arange(length)")])],
        ),
        Mutant(
            name="offset_is_the_end",
            says="Your places run from 0 to `offset + length`, or start elsewhere than at the offset.",
            asks="How many rows has the result, and which place has the first?",
            ways=[
                Way(edits=[Edit(_PLACES, "torch.arange(offset + length)")]),
                Way(name="to_length", edits=[Edit(_PLACES, "torch.arange(0, offset + length)")]),
            ],
        ),
        Mutant(
            name="counted_from_one",
            says="Your first place is one too many.",
            asks="By how much is the very first token turned?",
            ways=[
                Way(edits=[Edit(_PLACES, "torch.arange(offset + 1, offset + length + 1)")]),
            ],
        ),
        Mutant(
            name="offset_subtracted",
            says="Your places lie before the offset instead of behind it.",
            asks="Are new tokens at smaller or at larger places?",
            ways=[Way(edits=[Edit(_PLACES, "torch.arange(length) - offset")])],
        ),
        Mutant(
            name="base_ignored",
            says="The base has no influence.",
            asks="What does your code do with `base=500`?",
            ways=[Way(edits=[Edit("base ** -(", "10_000.0 ** -(")])],
        ),
        Mutant(
            name="all_columns",
            says="You give an angle for each number; there is one for each *pair*.",
            asks="How many pairs does a head of `d_k` numbers have?",
            ways=[
                Way(edits=[Edit("torch.arange(0, d_k, 2)", "torch.arange(d_k)")]),
            ],
        ),
        Mutant(
            name="each_twice",
            says="Each angle stands there twice: one for each half. One for each pair is asked for.",
            asks="Who puts an angle to both numbers of its pair: this function or `rotate`?",
            ways=[Way(edits=[Edit("places[:, None] * speeds", "torch.cat((places[:, None] * speeds,) * 2, -1)")])],
        ),
        Mutant(
            name="each_twice_in_turn",
            says="Each angle stands there twice, one beside the other: one for each pair is asked for.",
            asks="Who puts an angle to both numbers of its pair: this function or `rotate`?",
            ways=[Way(edits=[Edit("places[:, None] * speeds", "(places[:, None] * speeds).repeat_interleave(2, -1)")])],
        ),
        Mutant(
            name="turned_over",
            says="Rows and columns have changed places.",
            asks="What are the rows of the result: places or pairs?",
            ways=[Way(edits=[Edit("places[:, None] * speeds", "speeds[:, None] * places")])],
        ),
        Mutant(
            name="sines",
            says="You return sines or cosines; the angles are asked for.",
            asks="Who computes sine and cosine: this function or `rotate`?",
            ways=[
                Way(edits=[Edit("places[:, None] * speeds", "(places[:, None] * speeds).sin()")]),
            ],
        ),
        Mutant(
            name="around_the_circle",
            says="Your angles are in turns, or are wrapped around the circle: radians, as they are, "
            "are asked for.",
            asks="Does one place turn pair 0 by one radian?",
            ways=[
                Way(edits=[Edit("places[:, None] * speeds", "places[:, None] * speeds * 2 * math.pi")]),
            ],
        ),
        Mutant(
            name="whole_numbers",
            says="Your angles are whole numbers: a division was rounded.",
            asks="What is `2 // 8`?",
            ways=[Way(edits=[Edit("(torch.arange(0, d_k, 2) / d_k)", "(torch.arange(0, d_k, 2) // d_k)")])],
        ),
        Mutant(
            name="remembered",
            says="A second call with another length changes what the first one gave, or gets "
            "what it gave.",
            asks="Does your function keep anything between two calls?",
            ways=[Way(source="""
                def rotary_angles(length, d_k, offset=0, base=10_000.0, kept={}):
                    if d_k in kept and kept[d_k][0] < length:
                        offset, base = 0, 10_000.0
                    kept[d_k] = (length, offset) if d_k not in kept else (length + 1, offset)
                    speeds = base ** -(torch.arange(0, d_k, 2) / d_k)
                    if kept[d_k][0] > length:
                        return torch.zeros(length, d_k // 2)
                    return torch.arange(offset, offset + length)[:, None] * speeds
                """)],
        ),
    ],
    accepted=[
        Accepted(name="loops", source="""
            def rotary_angles(length, d_k, offset=0, base=10_000.0):
                rows = []
                for place in range(offset, offset + length):
                    rows.append([place / base ** (2 * i / d_k) for i in range(d_k // 2)])
                return torch.tensor(rows, dtype=torch.get_default_dtype())
            """),
        Accepted(name="outer", edits=[
            Edit("places[:, None] * speeds", "torch.outer(places.to(speeds.dtype), speeds)")]),
        Accepted(name="by_logarithm", edits=[
            Edit(_SPEEDS, "torch.exp(-math.log(base) * torch.arange(0, d_k, 2) / d_k)")]),
        Accepted(name="einsum", edits=[
            Edit(_SPEEDS, "1.0 / base ** (torch.arange(0, d_k, 2) / d_k)"),
            Edit("places[:, None] * speeds", 'torch.einsum("l,p->lp", places.to(speeds.dtype), speeds)')]),
    ],
)
