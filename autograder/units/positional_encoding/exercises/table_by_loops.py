"""The sinusoid table, by loops."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Specification


def _size(draw: Draw, max_len: tuple[int, int], pairs: tuple[int, int]) -> Inputs:
    """An odd max_len and an even d_model, so that the two always differ."""
    return {"max_len": 2 * draw.ids(*max_len) + 1, "d_model": 2 * draw.ids(*pairs)}


_ANGLE = "angle = pos / 10000 ** (2 * i / d_model)"
_SINE = "table[pos, 2 * i] = math.sin(angle)"
_COSINE = "table[pos, 2 * i + 1] = math.cos(angle)"

CASES = [
    case("small", "a small table", lambda draw: _size(draw, (3, 6), (3, 20)),
         "Compare row 1 with the formula, number by number.", picture="curves"),
    case("wide", "more columns than positions", lambda draw: _size(draw, (2, 5), (8, 41)),
         "Which number of positions, which number of columns?", picture="curves"),
    case("long", "many positions", lambda draw: _size(draw, (20, 30), (5, 41)),
         "Are the slow columns right as well as the fast ones?", picture="curves"),
    case("one_pair", "a single pair of columns, more than a hundred positions",
         lambda draw: _size(draw, (51, 60), (1, 2)),
         "With d_model = 2 there is one hand, and it turns by 1 radian a step.", hidden_only=True, picture="curves"),
]

MISTAKES = [
    wrong("cosine_exponent",
          "The cosine of a pair turns slower than its sine: its exponent is probably that of its own column, "
          "`(2 * i + 1) / d_model`.",
          "In the formula, which exponent stands under the cosine?",
          edit(_COSINE, "table[pos, 2 * i + 1] = math.cos(pos / 10000 ** ((2 * i + 1) / d_model))")),
    wrong("exponent_doubled",
          "The speeds fall twice as fast as they should: the 2 of `2i` seems to be in the exponent twice.",
          "If your loop variable already runs over even columns, is it `i` or `2i`?",
          edit("(2 * i / d_model)", "(4 * i / d_model)")),
    wrong("doubled_and_cosine_exponent",
          "Two slips at once: the 2 of `2i` is in the exponents twice, and the cosine has another exponent than its "
          "sine.",
          "Which exponents have columns 2 and 3, by the formula?",
          source("""
              def table_by_loops(max_len, d_model):
                  table = torch.zeros(max_len, d_model)
                  for pos in range(max_len):
                      for i in range(0, d_model, 2):
                          table[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))
                          table[pos, i + 1] = math.cos(
                              pos / 10000 ** (2 * (i + 1) / d_model))
                  return table
              """)),
    wrong("exponent_halved",
          "The speeds fall half as fast as they should: the 2 of `2i` is missing in the exponent.",
          "Which exponent should the last pair have: nearly 1, or nearly 1/2?",
          edit("(2 * i / d_model)", "(i / d_model)")),
    wrong("exponent_constant",
          "All hands turn equally fast: the exponent does not depend on the pair.",
          "Where is `i` in your exponent?",
          edit("(2 * i / d_model)", "(2 / d_model)")),
    wrong("exponent_floored",
          "All hands turn at full speed: the exponent is 0, whatever the pair.",
          "Which exponents do you get for `i = 1, 2, 3`: are they rounded?",
          edit("(2 * i / d_model)", "(2 * i // d_model)")),
    wrong("exponent_negative",
          "The hands get faster from left to right: the position is *multiplied* by the power.",
          "Is the power of 10000 above or below the line?",
          edit(_ANGLE, "angle = pos * 10000 ** (2 * i / d_model)")),
    wrong("exponent_from_one",
          "The pairs are counted from 1, so even the first hand turns too slowly.",
          "Which value has `i` in columns 0 and 1?",
          edit("(2 * i / d_model)", "(2 * (i + 1) / d_model)")),
    wrong("divided_by_d_minus_2",
          "The exponents run from 0 to exactly 1: they are divided by `d_model - 2`.",
          "What does the formula divide by?",
          edit("(2 * i / d_model)", "(2 * i / max(d_model - 2, 1))")),
    wrong("exponent_times_d",
          "The exponent is far too large: it is not divided by `d_model`, so only the first pair turns.",
          "Which exponent does the last pair have?",
          edit("(2 * i / d_model)", "(2 * i * d_model)")),
    wrong("precedence",
          "Without brackets, Python takes the power before the division: the angle is divided by `10000 ** (2i)` and "
          "by `d_model` apart.",
          "Which does Python do first, `**` or `/`?",
          edit("(2 * i / d_model)", "(2 * i) / d_model")),
    wrong("precedence_of_the_power",
          "Without brackets, Python takes the power before the product: all angles are divided by `10000 ** 2`, and "
          "`i` multiplies them.",
          "Which does Python do first in `10000 ** 2 * i`?",
          edit("(2 * i / d_model)", "2 * i / d_model")),
    wrong("no_power",
          "The angle has a product in place of a power of 10000.",
          "Is the exponent in the formula an exponent in your code?",
          edit(_ANGLE, "angle = pos / (10000 * max(2 * i, 1) / d_model)")),
    common("base_1000", edit("10000 ** (2", "1000 ** (2")),
    common("base_100000", edit("10000 ** (2", "100000 ** (2")),
    wrong("base_e",
          "The speeds fall by powers of e where they should be powers of 10000.",
          "Which logarithm belongs in front of the exponent?",
          edit(_ANGLE, "angle = pos * math.exp(-2 * i / d_model)")),
    common("log10", edit(_ANGLE, "angle = pos * math.exp(-math.log10(10000) * 2*i / d_model)")),
    common("log2", edit(_ANGLE, "angle = pos * math.exp(-math.log2(10000) * 2*i / d_model)")),
    common("swapped",
           edit("math.sin", "math.cosine", "math.cos(", "math.sin(", "math.cosine", "math.cos")),
    common("sine_everywhere", edit("math.cos", "math.sin")),
    common("cosine_everywhere", edit("math.sin", "math.cos")),
    wrong("sines_only",
          "The odd columns were never filled in.",
          "How many numbers does each pair have?",
          edit(_COSINE, "pass")),
    wrong("cosines_only",
          "The even columns were never filled in.",
          "How many numbers does each pair have?",
          edit(_SINE, "pass")),
    wrong("next_to_each_other",
          "Pair `i` is written into the columns `i` and `i + 1`: each pair writes over a half of the one before, and "
          "the last columns stay empty.",
          "Which two columns belong to pair 1?",
          edit("table[pos, 2 * i] =", "table[pos, i] =", "table[pos, 2 * i + 1] =", "table[pos, i + 1] =")),
    wrong("halves",
          "All sines stand in the left half and all cosines in the right half.",
          "In which two columns does pair 0 belong?",
          edit("table[pos, 2 * i] =", "table[pos, i] =", "table[pos, 2 * i + 1] =", "table[pos, d_model // 2 + i] =")),
    wrong("from_one",
          "The positions are counted from 1: your first row belongs in the second.",
          "What is row 0 of the table, by the formula?",
          edit(_ANGLE, "angle = (pos + 1) / 10000 ** (2 * i / d_model)")),
    wrong("wraps_around",
          "Later positions are taken for the first ones.",
          "Has position 100 the angle of position 0?",
          edit(_ANGLE, "angle = pos % 100 / 10000 ** (2 * i / d_model)")),
    wrong("first_row_left_out",
          "Row 0 was never filled in.",
          "Does the sine and cosine of position 0 need no place?",
          edit("range(max_len)", "range(1, max_len)")),
    wrong("last_row_left_out",
          "The last row was never filled in.",
          "Where does your loop over positions end?",
          edit("range(max_len)", "range(max_len - 1)")),
    wrong("last_pair_left_out",
          "The last pair of columns was never filled in.",
          "Where does your loop over pairs end?",
          edit("range(d_model // 2)", "range(d_model // 2 - 1)")),
    wrong("divided_by_length",
          "The positions are divided by the length of the table.",
          "Does the formula know how long the sentence is?",
          edit("angle = pos /", "angle = pos / max_len /")),
    wrong("degrees",
          "The angles are taken for degrees.",
          "Does `math.sin` expect degrees or radians, and which does the formula use?",
          edit(_ANGLE, "angle = math.radians(pos / 10000 ** (2 * i / d_model))")),
    common("angle_times_two_pi", edit(_ANGLE, "angle = math.tau * pos / 10000 ** (2 * i / d_model)")),
    wrong("angle_floored",
          "The angles were rounded down to whole numbers.",
          "Where does `//` or `int` cut off the fraction?",
          edit("angle = pos / 10000", "angle = pos // 10000")),
    wrong("integer_table",
          "The table holds whole numbers, so every sine and cosine was cut off.",
          "Which dtype has your empty table?",
          edit("torch.zeros(max_len, d_model)", "torch.zeros(max_len, d_model, dtype=torch.int64)")),
    wrong("double_table",
          "The numbers are right, but in float64. The rest of the network is float32.",
          "Which dtype has your empty table?",
          edit("torch.zeros(max_len, d_model)", "torch.zeros(max_len, d_model, dtype=torch.float64)")),
    wrong("transposed",
          "Rows and columns are swapped: the table is `(d_model, max_len)`.",
          "Which of the two does a row stand for: a position, or a column of numbers?",
          edit("return table", "return table.T")),
    wrong("batch_dimension",
          "The table has a batch dimension in front.",
          "Which shape does the docstring promise?",
          edit("return table", "return table.unsqueeze(0)")),
    wrong("returned_too_early",
          "The table is returned after its first row: the `return` is inside the loop.",
          "How far is your `return` indented?",
          edit("    return table", "        return table")),
    wrong("positions_and_pairs_swapped",
          "Position and pair have changed places in the angle.",
          "Which of your two loop variables is the position?",
          edit(_ANGLE, "angle = i / 10000 ** (2 * pos / d_model)")),
    wrong("not_returned",
          "Nothing comes back: the function ends without `return`.",
          "What does a Python function without `return` give back?",
          edit("    return table", "    table")),
]

ACCEPTED = [
    right("by_columns", source("""
        def table_by_loops(max_len, d_model):
            table = torch.empty(max_len, d_model)
            for pos in range(max_len):
                for j in range(d_model):
                    angle = pos / 10000 ** ((j - j % 2) / d_model)
                    table[pos, j] = math.cos(angle) if j % 2 else math.sin(angle)
            return table
        """)),
    right("even_columns", source("""
        def table_by_loops(max_len, d_model):
            table = torch.zeros((max_len, d_model))
            for j in range(0, d_model, 2):
                for pos in range(max_len):
                    table[pos, j] = math.sin(pos * 10000 ** (-j / d_model))
                    table[pos, j + 1] = math.cos(pos * 10000 ** (-j / d_model))
            return table
        """)),
    right("lists", source("""
        def table_by_loops(max_len, d_model):
            rows = []
            for pos in range(max_len):
                row = []
                for i in range(d_model // 2):
                    angle = pos * math.exp(-math.log(10000) * 2 * i / d_model)
                    row += [math.sin(angle), math.cos(angle)]
                rows.append(row)
            return torch.tensor(rows)
        """)),
    right("rotating", source("""
        import cmath
        def table_by_loops(max_len, d_model):
            table = torch.zeros(max_len, d_model)
            for i in range(d_model // 2):
                hand, step = 1, cmath.exp(1j / 10000 ** (2 * i / d_model))
                for pos in range(max_len):
                    table[pos, 2 * i : 2 * i + 2] = torch.tensor(
                        [hand.imag, hand.real])
                    hand *= step
            return table
        """)),
    right("numpy", source("""
        import numpy as np
        def table_by_loops(max_len, d_model):
            table = np.zeros((max_len, d_model))
            for pos in range(max_len):
                for i in range(d_model // 2):
                    angle = pos / np.power(10000, 2 * i / d_model)
                    table[pos, 2 * i] = np.sin(angle)
                    table[pos, 2 * i + 1] = np.cos(angle)
            return torch.from_numpy(table).to(torch.get_default_dtype())
        """)),
]

EXERCISE = Specification(
    name="positional_encoding/table_by_loops", title="The sinusoid table, by loops", target="table_by_loops",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
