"""The angles of rotary positions."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Contract, special
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification
from transformer_course.since_2017.exercises._inputs import options, whole


def _exactly(length: int, d_k: int) -> Maker:
    """That many positions, from an offset on."""

    def inputs(draw: Draw) -> Inputs:
        offset = torch.tensor(3 + int(draw.ids(0, 9)))
        return whole(length=length, d_k=d_k) | {"option.offset": offset}

    return inputs


def _asked(length: int, pairs: tuple[int, int], offset: int = 0, other_base: bool = False) -> Maker:
    """So many widths that hardly any is in the shipped files, where rows could be read."""

    def inputs(draw: Draw) -> Inputs:
        more = int(draw.ids(0, 3))
        made = whole(length=length + more, d_k=2 * int(draw.ids(*pairs)))
        if offset:
            made |= {"option.offset": torch.tensor(offset + int(draw.ids(0, 5)))}
        return made | (options(base=float(draw.ids(300, 1000))) if other_base else {})

    return inputs


_SPEEDS = "base ** -(torch.arange(0, d_k, 2) / d_k)"
_PLACES = "torch.arange(offset, offset + length)"

CASES = [
    case("from_zero", "positions from 0 on", _asked(5, (3, 33)),
         "Position 0 is not rotated at all; column 0 rotates by one radian per position."),
    case("offset", "positions from an offset on", _asked(4, (3, 33), offset=9),
         "The first row belongs to position `offset`."),
    case("base", "a different base", _asked(7, (3, 33), offset=3, other_base=True),
         "The frequencies are powers of `base`."),
    case("far", "positions that half precision cannot tell apart", _asked(4, (3, 33), offset=4097),
         "Positions are counted exactly; angles are float32."),
    case("wide", "wide heads", _asked(12, (16, 49), offset=40),
         "The exponents run from 0 to almost -1.", hidden_only=True),
]

MISTAKES = [
    wrong("exponent_halved",
          "Your frequencies fall too slowly: the exponent is half of what it should be.",
          "Is it `i / d_k` or `2i / d_k`?",
          edit("torch.arange(0, d_k, 2) / d_k", "torch.arange(d_k // 2) / d_k")),
    wrong("exponent_doubled",
          "Your frequencies fall too fast: the exponent is twice what it should be.",
          "What is the last exponent if `d_k = 8`: -6/8 or -12/8?",
          edit("torch.arange(0, d_k, 2) / d_k", "2 * torch.arange(0, d_k, 2) / d_k")),
    wrong("speeds_grow",
          "Your frequencies grow from column to column; they should fall.",
          "What is the sign of the exponent?",
          edit("base ** -(", "base ** (")),
    wrong("speeds_backwards",
          "Your columns are in the reverse order: the fast pair comes last.",
          "What is `θ₀`?",
          edit(_SPEEDS, f"({_SPEEDS}).flip(0)")),
    wrong("one_too_far",
          "The exponent of your last column is -1: it should stop one step earlier.",
          "What is `2i` divided by: `d_k` or `d_k - 2`?",
          edit("(torch.arange(0, d_k, 2) / d_k)", "(torch.arange(0, d_k, 2) / (d_k - 2))"),
          edit("(torch.arange(0, d_k, 2) / d_k)", "torch.linspace(0, 1, d_k // 2)", name="linspace")),
    wrong("shifted_exponents",
          "Your exponents start at `-2/d_k`: the pairs are counted from 1.",
          "What is the frequency of the pair with `i = 0`?",
          edit("torch.arange(0, d_k, 2)", "torch.arange(2, d_k + 1, 2)")),
    wrong("the_same_again",
          "A second call returns the first call's tensor, so changing one changes both.",
          "If your function keeps a tensor, how many callers receive it?",
          edit("def rotary_angles(", "@__import__(\"functools\").cache\ndef rotary_angles(")),
    wrong("offset_ignored",
          "The offset has no influence: every text begins at position 0.",
          "Where does your code use `offset`?",
          edit(_PLACES, "torch.arange(length)")),
    wrong("offset_is_the_end",
          "Your positions run from 0 to `offset + length`, or start elsewhere than at the offset.",
          "How many rows does the result have, and which position belongs to the first?",
          edit(_PLACES, "torch.arange(offset + length)")),
    wrong("length_is_the_end",
          "Your positions end at `length`, but there should be `length` of them, whatever the offset is.",
          "Which positions has `torch.arange(9, 4)`, and which should the result have for `length = 4, offset = 9`?",
          edit(_PLACES, "torch.arange(offset, length)")),
    wrong("offset_in_radians",
          "The offset is added to the angles; it should be added to the positions, before they are multiplied.",
          "By how much does one more position rotate the last pair?",
          edit(_PLACES, "torch.arange(length)",
               "positions[:, None] * frequencies", "offset + positions[:, None] * frequencies")),
    wrong("table_too_short",
          "Your table has `length` rows from position 0 on; after an offset, too few of them are left.",
          "Which position belongs to the last row of the result?",
          edit(_PLACES, "torch.arange(length)[offset:]")),
    wrong("counted_from_one",
          "Your first position is one too many.",
          "By how much is the very first token rotated?",
          edit(_PLACES, "torch.arange(offset + 1, offset + length + 1)")),
    wrong("offset_subtracted",
          "Your positions are before the offset instead of after it.",
          "Are new tokens at smaller or at larger positions?",
          edit(_PLACES, "torch.arange(length) - offset")),
    wrong("base_ignored",
          "The base has no influence.",
          "What does your code do with `base=500`?",
          edit("base ** -(", "10_000.0 ** -(")),
    wrong("all_columns",
          "You return an angle for each component; there should be one for each *pair*.",
          "How many pairs does a head of `d_k` components have?",
          edit("torch.arange(0, d_k, 2)", "torch.arange(d_k)")),
    wrong("each_twice",
          "Each angle appears twice, once for each half; return one for each pair.",
          "Which function applies an angle to both components of its pair: this one or `rotate`?",
          edit("positions[:, None] * frequencies", "torch.cat((positions[:, None] * frequencies,) * 2, -1)")),
    wrong("each_twice_in_turn",
          "Each angle appears twice in a row; return one for each pair.",
          "Which function applies an angle to both components of its pair: this one or `rotate`?",
          edit("positions[:, None] * frequencies", "(positions[:, None] * frequencies).repeat_interleave(2, -1)")),
    wrong("turned_over",
          "Rows and columns are exchanged.",
          "What are the rows of the result: positions or pairs?",
          edit("positions[:, None] * frequencies", "frequencies[:, None] * positions")),
    wrong("sines",
          "You return sines or cosines; return the angles.",
          "Which function computes sine and cosine: this one or `rotate`?",
          edit("positions[:, None] * frequencies", "(positions[:, None] * frequencies).sin()")),
    wrong("around_the_circle",
          "Your angles are in turns, or reduced to a single turn; return plain radians.",
          "Does one position rotate pair 0 by one radian?",
          edit("positions[:, None] * frequencies", "positions[:, None] * frequencies * 2 * math.pi")),
    wrong("whole_numbers",
          "Your angles are whole numbers: a division was rounded.",
          "What is `2 // 8`?",
          edit("(torch.arange(0, d_k, 2) / d_k)", "(torch.arange(0, d_k, 2) // d_k)")),
    wrong("remembered",
          "A second call with a different length changes the first call's result, or returns it again.",
          "Does your function keep anything between two calls?",
          source("""
              def rotary_angles(length, d_k, offset=0, base=10_000.0, kept={}):
                  if d_k in kept and kept[d_k][0] < length:
                      offset, base = 0, 10_000.0
                  kept[d_k] = (length, offset) if d_k not in kept else (length + 1, offset)
                  frequencies = base ** -(torch.arange(0, d_k, 2) / d_k)
                  if kept[d_k][0] > length:
                      return torch.zeros(length, d_k // 2)
                  return torch.arange(offset, offset + length)[:, None] * frequencies
              """)),
]

ACCEPTED = [
    right("loops", source("""
        def rotary_angles(length, d_k, offset=0, base=10_000.0):
            rows = []
            for position in range(offset, offset + length):
                rows.append([position / base ** (2 * i / d_k) for i in range(d_k // 2)])
            return torch.tensor(rows, dtype=torch.get_default_dtype())
        """)),
    right("outer", edit("positions[:, None] * frequencies", "torch.outer(positions.to(frequencies.dtype), frequencies)")),
    right("by_logarithm", edit(_SPEEDS, "torch.exp(-math.log(base) * torch.arange(0, d_k, 2) / d_k)")),
    right("einsum", edit(_SPEEDS, "1.0 / base ** (torch.arange(0, d_k, 2) / d_k)",
                         "positions[:, None] * frequencies", 'torch.einsum("l,p->lp", positions.to(frequencies.dtype), frequencies)')),
]

EXERCISE = Specification(
    name="since_2017/rotary_angles", title="The angles", target="rotary_angles",
    contract=Contract(
        ways=(),
        sizes=special(
            one_place=_exactly(1, 6), the_first_place_alone=lambda draw: whole(length=1, d_k=6),
            one_pair=_exactly(4, 2), as_many_places_as_pairs=_exactly(5, 10), as_many_places_as_numbers=_exactly(6, 6),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
