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
         "Compare row 1 with the formula, entry by entry.", picture="curves"),
    case("wide", "more columns than positions", lambda draw: _size(draw, (2, 5), (8, 41)),
         "Which of the two sizes counts the rows, and which the columns?", picture="curves"),
    case("long", "many positions", lambda draw: _size(draw, (20, 30), (5, 41)),
         "Are the slowly varying columns correct as well as the fast ones?", picture="curves"),
    case("one_pair", "a single pair of columns, more than a hundred positions",
         lambda draw: _size(draw, (51, 60), (1, 2)),
         "With d_model = 2 there is a single pair, and its angle grows by 1 radian per position.",
         hidden_only=True, picture="curves"),
]

MISTAKES = [
    wrong("cosine_exponent",
          "The cosine of each pair has a lower frequency than its sine; its exponent is probably that of its own "
          "column, `(2 * i + 1) / d_model`.",
          "In the formula, which exponent appears inside the cosine?",
          edit(_COSINE, "table[pos, 2 * i + 1] = math.cos(pos / 10000 ** ((2 * i + 1) / d_model))")),
    wrong("exponent_doubled",
          "The frequencies fall off too quickly: the 2 of `2i` seems to be in the exponent twice.",
          "If your loop variable already runs over the even columns, does it stand for `i` or for `2i`?",
          edit("(2 * i / d_model)", "(4 * i / d_model)")),
    wrong("doubled_and_cosine_exponent",
          "Two slips at once: the 2 of `2i` is in the exponents twice, and each cosine has a different exponent from "
          "its sine.",
          "Which exponents does the formula give for columns 2 and 3?",
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
          "The frequencies fall off too slowly: the 2 of `2i` is missing from the exponent.",
          "Which exponent should the last pair have: close to 1, or close to 1/2?",
          edit("(2 * i / d_model)", "(i / d_model)")),
    wrong("exponent_constant",
          "All pairs have the same frequency: the exponent does not depend on the pair.",
          "Where is `i` in your exponent?",
          edit("(2 * i / d_model)", "(2 / d_model)")),
    wrong("exponent_floored",
          "All pairs have the highest frequency: the exponent is 0 for every pair.",
          "Which exponents does your code compute for `i = 1, 2, 3`?",
          edit("(2 * i / d_model)", "(2 * i // d_model)")),
    wrong("exponent_negative",
          "The frequencies rise from left to right: the position is *multiplied* by the power.",
          "Is the power of 10000 in the numerator or the denominator?",
          edit(_ANGLE, "angle = pos * 10000 ** (2 * i / d_model)")),
    wrong("exponent_from_one",
          "The pairs are counted from 1, so even the first frequency is too low.",
          "What is the value of `i` for columns 0 and 1?",
          edit("(2 * i / d_model)", "(2 * (i + 1) / d_model)")),
    wrong("divided_by_d_minus_2",
          "The exponents run from 0 to exactly 1: they are divided by `d_model - 2`.",
          "What does the formula divide by?",
          edit("(2 * i / d_model)", "(2 * i / max(d_model - 2, 1))")),
    wrong("exponent_times_d",
          "The exponents are far too large: they are not divided by `d_model`, so only the first pair visibly changes.",
          "Which exponent does your last pair have, and which should it have?",
          edit("(2 * i / d_model)", "(2 * i * d_model)")),
    wrong("precedence",
          "Without parentheses, Python evaluates the power before the division: the angle is divided by `10000 ** "
          "(2i)`, then by `d_model`.",
          "What is `4 ** 2 / 2` in Python, and what is `4 ** (2 / 2)`?",
          edit("(2 * i / d_model)", "(2 * i) / d_model")),
    wrong("precedence_of_the_power",
          "Without parentheses, Python evaluates the power before the product: every angle is divided by `10000 ** "
          "2`, then multiplied by `i`.",
          "What is `10 ** 2 * 3` in Python, and what is `10 ** (2 * 3)`?",
          edit("(2 * i / d_model)", "2 * i / d_model")),
    wrong("no_power",
          "Your angle uses a product where the formula has a power of 10000.",
          "Does the exponent of the formula appear as an exponent in your code?",
          edit(_ANGLE, "angle = pos / (10000 * max(2 * i, 1) / d_model)")),
    common("base_1000", edit("10000 ** (2", "1000 ** (2")),
    common("base_100000", edit("10000 ** (2", "100000 ** (2")),
    wrong("base_e",
          "The frequencies are powers of e instead of powers of 10000.",
          "By which number must you multiply an exponent of e to get a power of 10000?",
          edit(_ANGLE, "angle = pos * math.exp(-2 * i / d_model)")),
    common("log10", edit(_ANGLE, "angle = pos * math.exp(-math.log10(10000) * 2*i / d_model)")),
    common("log2", edit(_ANGLE, "angle = pos * math.exp(-math.log2(10000) * 2*i / d_model)")),
    common("swapped",
           edit("math.sin", "math.cosine", "math.cos(", "math.sin(", "math.cosine", "math.cos"), tests="cosines"),
    common("sine_everywhere", edit("math.cos", "math.sin")),
    common("cosine_everywhere", edit("math.sin", "math.cos")),
    wrong("sines_only",
          "The odd columns were never filled in.",
          "How many columns does each pair have?",
          edit(_COSINE, "pass")),
    wrong("cosines_only",
          "The even columns were never filled in.",
          "How many columns does each pair have?",
          edit(_SINE, "pass")),
    wrong("next_to_each_other",
          "Pair `i` is written to columns `i` and `i + 1`, so each pair overwrites half of the previous one and the "
          "last columns stay empty.",
          "Which two columns belong to pair 1?",
          edit("table[pos, 2 * i] =", "table[pos, i] =", "table[pos, 2 * i + 1] =", "table[pos, i + 1] =")),
    wrong("halves",
          "All sines are in the left half and all cosines in the right half.",
          "Which two columns belong to pair 0?",
          edit("table[pos, 2 * i] =", "table[pos, i] =", "table[pos, 2 * i + 1] =", "table[pos, d_model // 2 + i] =")),
    wrong("from_one",
          "The positions are counted from 1, so your first row should be the second.",
          "What does the formula give for row 0?",
          edit(_ANGLE, "angle = (pos + 1) / 10000 ** (2 * i / d_model)"), tests="positions"),
    wrong("wraps_around",
          "The positions wrap around: later rows repeat the first ones.",
          "Does position 100 have the same angle as position 0?",
          edit(_ANGLE, "angle = pos % 100 / 10000 ** (2 * i / d_model)")),
    wrong("first_row_left_out",
          "Row 0 was never filled in.",
          "What are the sine and cosine of 0?",
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
          "Does the length of the table appear in the formula?",
          edit("angle = pos /", "angle = pos / max_len /")),
    wrong("degrees",
          "The angles are treated as degrees.",
          "Does `math.sin` expect degrees or radians, and which does the formula use?",
          edit(_ANGLE, "angle = math.radians(pos / 10000 ** (2 * i / d_model))")),
    common("angle_times_two_pi", edit(_ANGLE, "angle = math.tau * pos / 10000 ** (2 * i / d_model)")),
    wrong("angle_floored",
          "The angles were rounded down to whole numbers.",
          "Which operation in your code drops the fraction?",
          edit("angle = pos / 10000", "angle = pos // 10000")),
    wrong("integer_table",
          "The table holds integers, so every sine and cosine was truncated.",
          "Which dtype does your empty table have?",
          edit("torch.zeros(max_len, d_model)", "torch.zeros(max_len, d_model, dtype=torch.int64)")),
    wrong("double_table",
          "The values are float64, while the rest of the network is float32.",
          "Which dtype does your empty table have?",
          edit("torch.zeros(max_len, d_model)", "torch.zeros(max_len, d_model, dtype=torch.float64)"),
          tests="float32"),
    wrong("transposed",
          "The table is transposed: its shape is `(d_model, max_len)`.",
          "What should one row hold: a position, or a dimension?",
          edit("return table", "return table.T")),
    wrong("batch_dimension",
          "The table has an extra batch dimension.",
          "What shape does the docstring promise?",
          edit("return table", "return table.unsqueeze(0)")),
    wrong("returned_too_early",
          "The table is returned after its first row: the `return` is inside the loop.",
          "How far is your `return` indented?",
          edit("    return table", "        return table")),
    wrong("positions_and_pairs_swapped",
          "The position and the index of the pair are swapped in the angle.",
          "Which of your two loop variables is the position?",
          edit(_ANGLE, "angle = i / 10000 ** (2 * pos / d_model)")),
    wrong("not_returned",
          "Your function ends without `return`, so it returns nothing.",
          "What value do you get from a Python function without `return`?",
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
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
