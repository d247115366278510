"""The sinusoid encoding, at once."""

from __future__ import annotations

import torch

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.promise import OF_TABLES, Promise, special
from autograder.authoring.specification import Inputs, Specification


def _positions(positions: torch.Tensor, d_model: int, odd: int = 0) -> Inputs:
    inputs: Inputs = {"positions": positions, "d_model": torch.tensor(d_model)}
    return inputs | ({"odd d_model": torch.tensor(odd)} if odd else {})


def _columns(draw: Draw) -> int:
    """Of so many numbers that hardly any stand in what ships: rows could be read there."""
    return 2 * int(draw.ids(3, 41))


def _odd(draw: Draw) -> Inputs:
    d_model = _columns(draw)
    return _positions(draw.ids(0, 9, 4), d_model, d_model + 1)


CASES = [
    case("row", "the positions 0, 1, 2, ...",
         lambda draw: _positions(torch.arange(2 * int(draw.ids(3, 8)) + 1), _columns(draw)),
         "Compare with your table by loops.", picture="curves"),
    case("odd", "an odd d_model is refused", _odd,
         "What happens for an odd d_model? The docstring promises an error by name.", aspect="errors"),
    case("no_loops", "as many steps for many positions as for a few",
         lambda draw: _positions(draw.ids(0, 40, 5), 6) | {"loops": "count"},
         "Broadcasting does all positions in one step."),
    case("fractions", "fractions and negative positions", lambda draw: _positions(draw.tensor(7, scale=9.0), 10),
         "The formula makes sense for any real number.", picture="curves"),
    case("batch", "other positions in each sentence, (B, L)",
         lambda draw: _positions(draw.ids(0, 40, 3, 5), _columns(draw)),
         "d_model numbers stand behind each position: the shape is (B, L, d_model).", picture="curves"),
    case("scalar_and_far", "one far position, without any dimension",
         lambda draw: _positions(draw.ids(100, 400), _columns(draw)),
         "The positions have the shape (), so the result has the shape (d_model,).", hidden_only=True, atol=1e-4,
         picture="curves"),
    case("three_dimensions", "positions with three dimensions",
         lambda draw: _positions(draw.tensor(2, 3, 5, scale=20.0), 4),
         "Is there an assumption on the number of dimensions?", hidden_only=True, picture="curves"),
]

ANGLES = "angles = positions.unsqueeze(-1) / 10000**exponents"
_PAIRS = "pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)"
_SINES_AND_COSINES = "(angles.sin(), angles.cos())"
_EXPONENTS = "exponents = torch.arange(0, d_model, 2) / d_model"

MISTAKES = [
    # Mistakes in the speeds of the hands.
    wrong("cosine_exponent",
          "The cosine of a pair turns slower than its sine: its exponent is probably that of its own column.",
          "In the formula, which exponent stands under the cosine?",
          edit("angles.cos()", "(positions.unsqueeze(-1) / 10000 ** (exponents + 1 / d_model)).cos()")),
    wrong("exponent_doubled",
          "The speeds fall twice as fast as they should: the 2 of `2i` seems to be in the exponent twice.",
          "Does your `arange` count pairs, or does it already step by 2?",
          edit(_EXPONENTS, "exponents = 2 * torch.arange(0, d_model, 2) / d_model")),
    wrong("exponent_halved",
          "The speeds fall half as fast as they should: the 2 of `2i` is missing in the exponent.",
          "Does your `arange` count pairs, or does it step by 2?",
          edit(_EXPONENTS, "exponents = torch.arange(d_model // 2) / d_model")),
    wrong("exponent_floored",
          "The exponents were all rounded down to 0, so all hands turn equally fast.",
          "What is `torch.arange(0, 8, 2) // 8`?",
          edit(_EXPONENTS, "exponents = torch.arange(0, d_model, 2) // d_model")),
    wrong("exponent_spread",
          "The exponents run from 0 to exactly 1, as `linspace` does.",
          "Which exponent should the last pair have?",
          edit(_EXPONENTS, "exponents = torch.linspace(0, 1, d_model // 2)")),
    wrong("exponent_from_one",
          "The pairs are counted from 1, so even the first hand turns too slowly.",
          "Which exponent should columns 0 and 1 have?",
          edit(_EXPONENTS, "exponents = torch.arange(2, d_model + 2, 2) / d_model")),
    wrong("exponent_reversed",
          "The slow hands come first and the fast ones last.",
          "Is the exponent of columns 0 and 1 the smallest or the largest?",
          edit(_EXPONENTS, "exponents = torch.arange(0, d_model, 2).flip(0) / d_model")),
    wrong("exponent_negative",
          "The hands get faster from left to right: the position is *multiplied* by the power, or a minus is missing "
          "in the exponent.",
          "Is the power of 10000 above or below the line?",
          edit("/ 10000**exponents", "* 10000**exponents"),
          source("""
              def sinusoid(positions, d_model):
                  if d_model % 2:
                      raise ValueError('odd')
                  exponents = torch.arange(0, d_model, 2) / d_model
                  angles = positions.unsqueeze(-1) * (exponents * math.log(10000)).exp()
                  return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
              """, name="positive_log")),
    common("log10",
           source("""
              def sinusoid(positions, d_model):
                  if d_model % 2:
                      raise ValueError('odd')
                  exponents = torch.arange(0, d_model, 2) / d_model
                  angles = positions.unsqueeze(-1) * (-exponents * math.log10(10000)).exp()
                  return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
              """)),
    common("log2",
           source("""
              def sinusoid(positions, d_model):
                  if d_model % 2:
                      raise ValueError('odd')
                  exponents = torch.arange(0, d_model, 2) / d_model
                  angles = positions.unsqueeze(-1) * (-exponents * math.log2(10000)).exp()
                  return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
              """)),
    common("base_1000", edit("10000**", "1000**")),
    common("base_100000", edit("10000**", "100000**")),
    # Mistakes in the places of sines and cosines, and in the positions.
    wrong("halves",
          "All sines stand in the left half and all cosines in the right half.",
          "Does joining with `cat` put a sine beside its cosine?",
          edit(_PAIRS, "return torch.cat((angles.sin(), angles.cos()), dim=-1)")),
    common("swapped", edit(_SINES_AND_COSINES, "(angles.cos(), angles.sin())")),
    common("sine_everywhere", edit("angles.cos()", "angles.sin()*1")),
    common("cosine_everywhere", edit("angles.sin()", "angles.cos()*1")),
    wrong("from_one",
          "Every position is taken for the next one: a 1 was added.",
          "What does the formula give for position 0?",
          edit(ANGLES, "angles = (positions + 1).unsqueeze(-1) / 10000**exponents")),
    wrong("counts_itself",
          "The values of `positions` are not used: you count 0, 1, 2, ... yourself.",
          "What if the positions are 5, 2 and 2.5?",
          edit(ANGLES,
               "angles = torch.arange(positions.numel()).view(positions.shape).unsqueeze(-1) / 10000**exponents")),
    wrong("truncated",
          "Fractions of positions are cut off: they were turned into whole numbers.",
          "Where does `.long()`, `.int()` or `//` come in?",
          edit("positions.unsqueeze(-1)", "positions.long().unsqueeze(-1)")),
    wrong("rounded",
          "Positions are rounded to whole numbers.",
          "What is the encoding half way between two words?",
          edit("positions.unsqueeze(-1)", "positions.round().unsqueeze(-1)")),
    wrong("angles_floored",
          "The angles were rounded down to whole numbers.",
          "Where does `//` cut off the fraction?",
          edit("/ 10000**exponents", "// 10000**exponents")),
    wrong("sign_lost",
          "Negative positions are treated like positive ones.",
          "Is the sine of a negative angle that of the positive one?",
          edit("positions.unsqueeze(-1)", "positions.abs().unsqueeze(-1)")),
    wrong("negative_clamped",
          "Negative positions are treated like position 0.",
          "Does the formula need positions to be positive?",
          edit("positions.unsqueeze(-1)", "positions.clamp(min=0).unsqueeze(-1)")),
    wrong("normalised",
          "The positions are divided by the largest of them.",
          "Does the formula know how long the sentence is?",
          edit("positions.unsqueeze(-1)", "(positions / positions.abs().max()).unsqueeze(-1)")),
    wrong("degrees",
          "The angles are taken for degrees.",
          "Does `sin` expect degrees or radians, and which does the formula use?",
          edit(_PAIRS, """
              angles = torch.deg2rad(angles)
              pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)
              """)),
    common("angle_times_two_pi",
           edit(_PAIRS, """
              angles = math.tau * angles
              pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)
              """)),
    # Mistakes in the shapes of positions and result.
    wrong("one_dimension_only",
          "It works for a single row of positions, not for other shapes.",
          "Which function in your code insists on one dimension? Could broadcasting do its work?",
          edit(ANGLES, "angles = torch.outer(positions.to(exponents), 10000**-exponents)")),
    wrong("one_dimension_by_einsum",
          "It works for a single row of positions, not for other shapes: your `einsum` names exactly one dimension of "
          "the positions.",
          'How does `einsum` write "any dimensions before this one"?',
          edit(ANGLES, "angles = torch.einsum('i,j->ij', positions.to(exponents), 10000**-exponents)")),
    wrong("flattened",
          "All positions came out as one long row.",
          "Where does the shape of `positions` come back?",
          edit("positions.unsqueeze(-1)", "positions.reshape(-1, 1)")),
    wrong("row_of_positions",
          "The new dimension is in front of the positions, so they meet the speeds in the wrong place.",
          "Which shape has `positions.unsqueeze(0)`, and which one do you need?",
          edit("positions.unsqueeze(-1)", "positions.unsqueeze(0)")),
    wrong("no_new_dimension",
          "Positions and speeds meet one by one, without a new dimension.",
          "Which shape makes every position meet every speed?",
          edit("positions.unsqueeze(-1)", "positions")),
    wrong("pairs_left_apart",
          "The pairs were not merged: the result ends in `(d_model/2, 2)`.",
          "Which shape does the docstring promise?",
          edit("pairs.flatten(-2)", "pairs")),
    wrong("batch_dimension",
          "The result has an extra dimension in front.",
          "Which shape does the docstring promise?",
          edit("pairs.flatten(-2)", "pairs.flatten(-2).unsqueeze(0)")),
    wrong("all_merged",
          "All dimensions were merged into one.",
          "Where should `flatten` begin?",
          edit("pairs.flatten(-2)", "pairs.flatten()")),
    wrong("columns_first",
          "Positions and columns are swapped in the result.",
          "Which dimension should come last?",
          edit("pairs.flatten(-2)", "pairs.flatten(-2).transpose(0, -1)")),
    # Mistakes in what else the docstring asks: refusals, types, no loop.
    wrong("odd_accepted",
          "The numbers are right, but an odd `d_model` is not refused as the docstring says.",
          "What does your function do for `d_model = 7`?",
          edit("if d_model % 2:", "if False:"),
          edit("if d_model % 2:", "if d_model % 2 and d_model > 1:", name="one_accepted"),
          edit("raise ValueError(", "str(", name="odd_printed")),
    wrong("odd_crashes",
          "The numbers are right. But an odd `d_model` ends in another error than the docstring says.",
          "Could your function look at `d_model` before it does anything else?",
          source("""
              def sinusoid(positions, d_model):
                  speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                  table = torch.zeros(*positions.shape, d_model)
                  table[..., 0::2] = torch.sin(positions[..., None] * speeds)
                  table[..., 1::2] = torch.cos(positions[..., None] * speeds)
                  return table
              """)),
    wrong("odd_crashes_in_one_dimension",
          "It works for a single row of positions only, and an odd `d_model` is not refused with the error that the "
          "docstring says.",
          "How many dimensions does `table[:, 0::2]` have, and how many may `positions` have?",
          source("""
              def sinusoid(positions, d_model):
                  speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                  table = torch.zeros(len(positions), d_model)
                  table[:, 0::2] = torch.sin(positions[:, None] * speeds)
                  table[:, 1::2] = torch.cos(positions[:, None] * speeds)
                  return table
              """)),
    wrong("filled_in_one_dimension",
          "It works for a single row of positions, not for other shapes.",
          "How many dimensions does `table[:, 0::2]` have, and how many may `positions` have?",
          source("""
              def sinusoid(positions, d_model):
                  if d_model % 2:
                      raise ValueError('odd')
                  speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
                  table = torch.zeros(len(positions), d_model)
                  table[:, 0::2] = torch.sin(positions[:, None] * speeds)
                  table[:, 1::2] = torch.cos(positions[:, None] * speeds)
                  return table
              """)),
    wrong("odd_asserted",
          "An odd `d_model` raises another error than the docstring says.",
          "Which error does the docstring name, and which one do you raise?",
          edit("""
              if d_model % 2:
                  raise ValueError(
              """, """
              if d_model % 2:
                  raise AssertionError(
              """),
          source("""
              def sinusoid(positions, d_model):
                  assert d_model % 2 == 0
                  exponents = torch.arange(0, d_model, 2) / d_model
                  angles = positions.unsqueeze(-1) / 10000**exponents
                  return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
              """, name="odd_by_assert")),
    wrong("even_refused",
          "You refuse even sizes.",
          "What is `8 % 2`, and is it true or false?",
          edit("if d_model % 2:", "if not d_model % 2:")),
    common("double", on="pairs.flatten(-2)"),
    wrong("dtype_of_positions",
          "The result has the dtype of the positions: whole numbers, where positions are whole.",
          "Which dtype has `torch.empty_like(positions)`, or `.to(positions.dtype)`?",
          edit("pairs.flatten(-2)", "pairs.flatten(-2).to(positions.dtype)")),
    wrong("positions_changed",
          "The tensor of positions that was handed in is changed.",
          "Which of your operations works in place?",
          edit(ANGLES, """
              angles = positions.unsqueeze(-1) / 10000**exponents
              positions += 1
              """)),
    wrong("loops",
          "There is a loop: your code takes more steps for more positions.",
          "Which dimension could hold all speeds at once, and which all positions?",
          source("""
              def sinusoid(positions, d_model):
                  if d_model % 2:
                      raise ValueError("d_model must be even")
                  speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
                  rows = torch.empty(positions.numel(), d_model)
                  for n, position in enumerate(positions.flatten()):
                      rows[n, 0::2] = (position * speeds).sin()
                      rows[n, 1::2] = (position * speeds).cos()
                  return rows.reshape(*positions.shape, d_model)
              """)),
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
    right("outer_and_view", source("""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
            angles = torch.outer(positions.flatten().to(speeds), speeds)
            table = torch.stack((torch.sin(angles), torch.cos(angles)), 2)
            return table.reshape(positions.shape + (d_model,))
        """)),
    right("einsum", edit(ANGLES, "angles = torch.einsum('...,f->...f', positions.to(exponents), 10000**-exponents)")),
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
    right("where", source("""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            column = torch.arange(d_model)
            angles = positions[..., None] / 10000 ** ((column - column % 2) / d_model)
            return torch.where(column % 2 == 0, angles.sin(), angles.cos())
        """)),
    right("repeat_interleave", source("""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            speeds = torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model)
            angles = positions.unsqueeze(-1) * speeds.repeat_interleave(2)
            angles[..., 0::2].sin_()
            angles[..., 1::2].cos_()
            return angles
        """)),
    right("in_double", source("""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            i = torch.arange(d_model // 2, dtype=torch.float64)
            angles = positions.double()[..., None] / 10000 ** (2 * i / d_model)
            table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
            return table.to(torch.get_default_dtype())
        """)),
    right("numpy", source("""
        import numpy as np
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            angles = positions.numpy()[..., None] / np.power(
                10000, np.arange(0, d_model, 2) / d_model)
            table = np.zeros(tuple(positions.shape) + (d_model,))
            table[..., 0::2], table[..., 1::2] = np.sin(angles), np.cos(angles)
            return torch.tensor(table, dtype=torch.get_default_dtype())
        """)),
    right("by_columns", source("""
        def sinusoid(positions, d_model):
            if d_model % 2:
                raise ValueError('odd')
            columns = []
            for i in range(0, d_model, 2):
                angle = positions / 10000 ** (i / d_model)
                columns += [torch.sin(angle), torch.cos(angle)]
            return torch.stack(columns, dim=-1)
        """)),
]

EXERCISE = Specification(
    name="positional_encoding/sinusoid", title="The sinusoid encoding, at once", target="sinusoid",
    promise=Promise(
        arguments="positions: B L; d_model: _", results="encoding: B L d", on=("batch",), ways=OF_TABLES,
        sizes=special(
            one_position=lambda draw: _positions(draw.ids(1, 9, 1, 1), 6),
            equal_sizes=lambda draw: _positions(draw.ids(0, 9, 4, 4), 4),
            no_position_at_all=lambda draw: _positions(draw.ids(0, 9, 0), 4),
            positions_beyond_a_thousand=lambda draw: _positions(draw.ids(1025, 2000, 3), 4),
        ),
    ),
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
