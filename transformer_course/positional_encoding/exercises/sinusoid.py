"""Cases and mistakes for an exercise: the sinusoidal encoding without loops."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.contract import Contract
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import Specification


def _draw_width(draw: Draw) -> int:
    """Draw an even d_model from 6 to 80: so many values that the tables of the visible cases rarely share a row."""
    return 2 * int(draw.ids(3, 41))


CASES = [
    case("row", "the positions 0, 1, 2, ...",
         sizes(positions=lambda draw: torch.arange(2 * int(draw.ids(3, 8)) + 1), d_model=_draw_width),
         "Compare with the table from your loops.", picture="curves"),
    case("odd", "an odd d_model, which must be refused",
         sizes(positions=lambda draw: draw.ids(0, 9, 4), d_model=lambda draw: _draw_width(draw) + 1),
         "What happens when d_model is odd? The docstring names the error to raise.", aspect="errors", open=True),
    case("fractions", "fractional and negative positions", sizes(shape=(7,), scale=9.0, d_model=10),
         "The formula makes sense for any real number.", picture="curves"),
    case("batch", "different positions in each sentence, (B, L)",
         sizes(positions=lambda draw: draw.ids(0, 40, 3, 5), d_model=_draw_width),
         "Each position gets a vector of d_model components, so the shape is (B, L, d_model).", picture="curves"),
    case("equal_sizes", "as many sentences as positions and components",
         sizes(positions=lambda draw: draw.ids(0, 9, 4, 4), d_model=4),
         "Which dimension is which, if all have the same size?", picture="curves"),
    case("scalar_and_far", "a single large position, as a 0-D tensor",
         sizes(positions=lambda draw: draw.ids(100, 400), d_model=_draw_width),
         "The positions have shape (), so the result has shape (d_model,).", hidden_only=True, atol=1e-4,
         picture="curves", aspect="limits"),
    case("three_dimensions", "positions in a 3-D tensor", sizes(shape=(2, 3, 5), scale=20.0, d_model=4),
         "Does your code assume a certain number of dimensions?", hidden_only=True, picture="curves"),
    case("no_positions", "no position at all", sizes(shape=(0,), d_model=4),
         "Without positions the result has the shape (0, d_model).", hidden_only=True, open=True, aspect="limits"),
    case("beyond_a_thousand", "positions beyond a thousand",
         sizes(positions=lambda draw: draw.ids(1025, 2000, 3), d_model=4),
         "Does your code assume a largest position?", hidden_only=True),
]

_ANGLES = "angles = positions.unsqueeze(-1) / 10000**exponents"
_SINES_AND_COSINES = "(angles.sin(), angles.cos())"
_PAIRS = f"pairs = torch.stack({_SINES_AND_COSINES}, dim=-1)"
_EXPONENTS = "exponents = torch.arange(0, d_model, 2) / d_model"
_MERGED = "pairs.flatten(-2)"

MISTAKES = [
    # Mistakes in the speeds of the hands.
    wrong("cosine_exponent",
          "The cosine of each pair has a lower frequency than its sine; its exponent is probably that of its own "
          "column.",
          "In the formula, which exponent appears inside the cosine?",
          edit("angles.cos()", "(positions.unsqueeze(-1) / 10000 ** (exponents + 1 / d_model)).cos()")),
    wrong("exponent_doubled", "The frequencies fall off too quickly: the 2 of `2i` seems to be in the exponent twice.",
          "Which exponent does the formula give pair 1 for `d_model = 8`, and which one do you compute?",
          edit(_EXPONENTS, "exponents = 2 * torch.arange(0, d_model, 2) / d_model")),
    wrong("exponent_halved", "The frequencies fall off too slowly: the 2 of `2i` is missing from the exponent.",
          "Does your loop or `arange` count pairs, or does it step by 2?",
          edit(_EXPONENTS, "exponents = torch.arange(d_model // 2) / d_model")),
    wrong("exponent_floored", "The exponents were all rounded down to 0, so all pairs have the same frequency.",
          "What is `torch.arange(0, 8, 2) // 8`?",
          edit(_EXPONENTS, "exponents = torch.arange(0, d_model, 2) // d_model")),
    wrong("exponent_spread", "The exponents run all the way from 0 to 1, as they would with `linspace`.",
          "Which exponent should the last pair have?",
          edit(_EXPONENTS, "exponents = torch.linspace(0, 1, d_model // 2)")),
    wrong("exponent_from_one", "The pairs are counted from 1, so even the first frequency is too low.",
          "Which exponent should columns 0 and 1 have?",
          edit(_EXPONENTS, "exponents = torch.arange(2, d_model + 2, 2) / d_model")),
    wrong("exponent_reversed", "The low frequencies come first and the high ones last.",
          "Is the exponent of columns 0 and 1 the smallest or the largest?",
          edit(_EXPONENTS, "exponents = torch.arange(0, d_model, 2).flip(0) / d_model")),
    wrong("exponent_negative",
          "The frequencies rise from left to right: the position is *multiplied* by the power, or the exponent lacks "
          "a minus.",
          "Is the power of 10000 in the numerator or the denominator?",
          edit("/ 10000**exponents", "* 10000**exponents")),
    common("logarithm",
           edit("/ 10000**exponents", "* (-exponents * math.log10(10000)).exp()"),
           edit("/ 10000**exponents", "* (-exponents * math.log2(10000)).exp()")),
    common("base", edit("10000**", "1000**"), edit("10000**", "100000**")),
    # Mistakes in the places of sines and cosines, and in the positions.
    wrong("halves", "All sines are in the left half and all cosines in the right half.",
          "In which order do your steps put sines and cosines side by side?",
          edit(_PAIRS, f"return torch.cat({_SINES_AND_COSINES}, dim=-1)")),
    common("swapped", edit(_SINES_AND_COSINES, "(angles.cos(), angles.sin())")),
    common("one_function", edit("angles.cos()", "angles.sin()*1"), edit("angles.sin()", "angles.cos()*1")),
    wrong("from_one", "Every position is off by one: a 1 was added.",
          "What does the formula give for position 0?",
          edit("positions.unsqueeze(-1)", "(positions + 1).unsqueeze(-1)")),
    wrong("counts_itself", "Your code ignores the values of `positions` and counts 0, 1, 2, ... itself.",
          "What if the positions are 5, 2 and 2.5?",
          edit("positions.unsqueeze(-1)", "torch.arange(positions.numel()).view(positions.shape).unsqueeze(-1)")),
    wrong("rounded", "Fractional positions become whole numbers.",
          "What should the encoding halfway between two words be?",
          edit("positions.unsqueeze(-1)", "positions.long().unsqueeze(-1)", name="truncated"),
          edit("positions.unsqueeze(-1)", "positions.round().unsqueeze(-1)"), tests="fractional"),
    wrong("angles_floored", "The angles were rounded down to whole numbers.",
          "Which operation in your code drops the fraction?",
          edit("/ 10000**exponents", "// 10000**exponents")),
    wrong("sign_lost", "Negative positions are treated like positive ones, or like position 0.",
          "Is the sine of -1 the same as the sine of 1?",
          edit("positions.unsqueeze(-1)", "positions.abs().unsqueeze(-1)"),
          edit("positions.unsqueeze(-1)", "positions.clamp(min=0).unsqueeze(-1)", name="negative_clamped")),
    wrong("normalised", "The positions are divided by the largest position.",
          "Does the formula know how long the sentence is?",
          edit("positions.unsqueeze(-1)", "(positions / positions.abs().max()).unsqueeze(-1)")),
    common("degrees", edit(_ANGLES, f"{_ANGLES.replace('positions', 'torch.deg2rad(positions + 0.0)')}")),
    common("angle_times_two_pi", edit(_ANGLES, f"{_ANGLES} * math.tau")),
    # Mistakes in the shapes of positions and result.
    wrong("one_dimension_only", "Your function works for a 1-D tensor of positions but not for other shapes.",
          "Which of your lines requires a 1-D tensor, and could broadcasting replace it?",
          edit(_ANGLES, "angles = torch.outer(positions.to(exponents), 10000**-exponents)"),
          edit(_ANGLES, "angles = torch.einsum('i,j->ij', positions.to(exponents), 10000**-exponents)",
               name="one_dimension_by_einsum"),
          edit(_ANGLES, f"""
              {_ANGLES}
              table = torch.zeros(len(positions), d_model)
              table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
              return table
              """, name="filled_in_one_dimension"), tests="including"),
    wrong("flattened", "The shape of `positions` is lost: your result has all positions in a single dimension.",
          "Where does your code restore the shape of `positions`?",
          edit("positions.unsqueeze(-1)", "positions.reshape(-1, 1)")),
    wrong("row_of_positions",
          "The new dimension comes first instead of last, so positions and frequencies do not broadcast as they "
          "should.",
          "What shape does `positions.unsqueeze(0)` have, and which one do you need?",
          edit("positions.unsqueeze(-1)", "positions.unsqueeze(0)")),
    wrong("no_new_dimension", "Positions and frequencies are combined element by element, without a new dimension.",
          "Which shapes would combine every position with every frequency?",
          edit("positions.unsqueeze(-1)", "positions")),
    wrong("pairs_left_apart", "The pairs were not merged: the shape of the result ends in `(d_model/2, 2)`.",
          "What shape does the docstring promise?",
          edit(_MERGED, "pairs")),
    wrong("batch_dimension", "The result has an extra leading dimension.",
          "What shape does the docstring promise?",
          edit(_MERGED, "pairs.flatten(-2).unsqueeze(0)")),
    wrong("all_merged", "All dimensions were merged into one.",
          "Which dimensions should be merged, and which should stay?",
          edit(_MERGED, "pairs.flatten()")),
    wrong("columns_first", "Positions and columns are swapped in the result.",
          "Which dimension should come last?",
          edit(_MERGED, "pairs.flatten(-2).transpose(0, -1)")),
    # Mistakes in what else the docstring asks: refusals, types, no loop.
    wrong("odd_accepted", "An odd `d_model` does not raise the error that the docstring promises.",
          "What does your function do for `d_model = 7`, and for 1?",
          edit("if d_model % 2:", "if False:"),
          edit("if d_model % 2:", "if d_model % 2 and d_model > 1:", name="one_accepted"), tests="ValueError"),
    wrong("other_error", "An odd `d_model` ends in a different error from the one in the docstring.",
          "Could your function check `d_model` before it does anything else?",
          edit("raise ValueError(", "raise AssertionError(", name="odd_asserted"),
          edit("if d_model % 2:", "if False:", _PAIRS, """
              table = torch.zeros(*positions.shape, d_model)
              table[..., 0::2], table[..., 1::2] = angles.sin(), angles.cos()
              return table
              """, name="odd_crashes"), tests="`ValueError`"),
    wrong("odd_crashes_in_one_dimension",
          "Your function works for a 1-D tensor of positions only, and an odd `d_model` does not raise the error that "
          "the docstring promises.",
          "How many dimensions do the sines that you write into the table have, and how many may `positions` have?",
          edit("if d_model % 2:", "if False:", _PAIRS, """
              table = torch.zeros(len(positions), d_model)
              table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
              return table
              """)),
    wrong("even_refused", "Your function rejects even values of `d_model`.",
          "What is `8 % 2`, and does it count as true or false?",
          edit("if d_model % 2:", "if not d_model % 2:")),
    common("double", on=_MERGED),
    wrong("dtype_of_positions",
          "The result takes the dtype of the positions, so integer positions give an integer table.",
          "Which dtype does `torch.empty_like(positions)` have? And `.to(positions.dtype)`?",
          edit(_MERGED, "pairs.flatten(-2).to(positions.dtype)"), tests="even for"),
    wrong("positions_changed", "Your function modifies the `positions` that it was given.",
          "Which of your operations works in place?",
          edit(_ANGLES, f"""
              {_ANGLES}
              positions += 1
              """), tests="modified"),
    wrong("loops", "Your code contains a loop: it takes more operations for more positions.",
          "Which dimension could hold all frequencies at once, and which one all positions?",
          edit(_ANGLES, """
              rows = [position / 10000**exponents for position in positions.flatten()]
              angles = torch.cat([torch.empty(0), *rows]).view(*positions.shape, -1)
              """), tests="operations"),
]

ACCEPTED = [
    right("filled", source("""
        def sinusoid(positions, d_model):
            if d_model % 2 != 0:
                raise ValueError('d_model must be even')
            speeds = torch.exp(torch.arange(0, d_model, 2)
                               * -(math.log(10000.0) / d_model))
            angles = positions[..., None] * speeds
            table = torch.zeros(*positions.shape, d_model)
            table[..., 0::2] = torch.sin(angles)
            table[..., 1::2] = torch.cos(angles)
            return table
        """)),
    right("einsum", edit(_ANGLES, "angles = torch.einsum('...,f->...f', positions.to(exponents), 10000**-exponents)")),
    right("complex", source("""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
            angles = positions.unsqueeze(-1) * speeds
            hands = torch.polar(torch.ones_like(angles), angles)
            return torch.view_as_real(hands).flip(-1).flatten(-2)
        """)),
    right("phase", source("""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            column = torch.arange(d_model)
            angles = positions[..., None] / 10000 ** (column // 2 * 2 / d_model)
            return torch.sin(angles + column % 2 * math.pi / 2)
        """)),
]

EXERCISE = Specification(
    results="encoding", gradients=False,
    contract=Contract(arguments="positions: B L; d_model: _", results="encoding: B L d_model", on=("batch",)),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
