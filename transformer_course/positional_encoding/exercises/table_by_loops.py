"""Cases and mistakes for an exercise: a table of sinusoids, computed with loops."""

from __future__ import annotations

from autograder.authoring.common import common
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import InputSizes, Specification


def _draw_sizes(max_len: tuple[int, int], pairs: tuple[int, int]) -> InputSizes:
    """Return random sizes of a table with 2m + 1 rows and an even number of columns.

    Thus the two always differ. ``max_len`` and ``pairs`` are bounds, as for
    `range`, of m and of the pairs of columns.
    """
    return sizes(max_len=lambda draw: 2 * draw.ids(*max_len) + 1, d_model=lambda draw: 2 * draw.ids(*pairs))


_ANGLE = "angle = pos / 10000 ** (2 * i / d_model)"
_EXPONENT = "(2 * i / d_model)"
_SINE = "table[pos, 2 * i] = math.sin(angle)"
_COSINE = "table[pos, 2 * i + 1] = math.cos(angle)"

CASES = [
    case("small", "a small table", _draw_sizes((3, 6), (3, 20)),
         "Compare row 1 with the formula, entry by entry.", picture="curves"),
    case("wide", "more columns than positions", _draw_sizes((2, 5), (8, 41)),
         "Which of the two sizes counts the rows, and which the columns?", picture="curves"),
    case("long", "many positions", _draw_sizes((20, 30), (5, 41)),
         "Are the slowly varying columns correct as well as the fast ones?", picture="curves"),
    case("one_pair", "a single pair of columns, more than a hundred positions", _draw_sizes((51, 60), (1, 2)),
         "With d_model = 2 there is a single pair, and its angle grows by 1 radian per position.",
         hidden_only=True, picture="curves"),
]

MISTAKES = [
    wrong("cosine_exponent",
          "The cosine of each pair has a lower frequency than its sine; its exponent is probably that of its own "
          "column.",
          "In the formula, which exponent appears inside the cosine?",
          edit(_COSINE, "table[pos, 2 * i + 1] = math.cos(pos / 10000 ** ((2 * i + 1) / d_model))")),
    wrong("exponent_doubled", "The frequencies fall off too quickly: the 2 of `2i` seems to be in the exponent twice.",
          "If your loop variable already runs over the even columns, does it stand for `i` or for `2i`?",
          edit(_EXPONENT, "(4 * i / d_model)")),
    wrong("doubled_and_cosine_exponent",
          "Two slips at once: the 2 of `2i` is in the exponents twice, and each cosine has a different exponent from "
          "its sine.",
          "Which exponents does the formula give for columns 2 and 3?",
          edit(_EXPONENT, "(4 * i / d_model)",
               _COSINE, "table[pos, 2 * i + 1] = math.cos(pos / 10000 ** ((4 * i + 2) / d_model))")),
    wrong("exponent_halved", "The frequencies fall off too slowly: the 2 of `2i` is missing from the exponent.",
          "Which exponent should the last pair have: close to 1, or close to 1/2?",
          edit(_EXPONENT, "(i / d_model)")),
    wrong("exponent_constant", "All pairs have the same frequency: the exponent does not depend on the pair.",
          "Which exponents does your code compute for `i = 1, 2, 3`?",
          edit(_EXPONENT, "(2 / d_model)"),
          edit(_EXPONENT, "(2 * i // d_model)", name="exponent_floored")),
    wrong("exponent_negative",
          "The frequencies rise from left to right: the position is *multiplied* by the power, or the exponent lacks "
          "a minus.",
          "Is the power of 10000 in the numerator or the denominator?",
          edit(_ANGLE, "angle = pos * 10000 ** (2 * i / d_model)")),
    wrong("exponent_from_one", "The pairs are counted from 1, so even the first frequency is too low.",
          "Which exponent should columns 0 and 1 have?",
          edit(_EXPONENT, "(2 * (i + 1) / d_model)")),
    wrong("divided_by_d_minus_2", "The exponents run from 0 to exactly 1: they are divided by `d_model - 2`.",
          "What does the formula divide by?",
          edit(_EXPONENT, "(2 * i / max(d_model - 2, 1))")),
    wrong("exponent_times_d",
          "The exponents are far too large: they are not divided by `d_model`, so only the first pair visibly changes.",
          "Which exponent does your last pair have, and which should it have?",
          edit(_EXPONENT, "(2 * i * d_model)")),
    wrong("precedence", "The exponent lacks its parentheses: Python evaluates a power before a product or a division.",
          "What is `4 ** 2 / 2` in Python, and what is `4 ** (2 / 2)`?",
          edit(_EXPONENT, "(2 * i) / d_model"),
          edit(_EXPONENT, "2 * i / d_model", name="precedence_of_the_power")),
    wrong("no_power", "Your angle uses a product where the formula has a power of 10000.",
          "Does the exponent of the formula appear as an exponent in your code?",
          edit(_ANGLE, "angle = pos / (10000 * max(2 * i, 1) / d_model)")),
    common("base", edit("10000", "1000"), edit("10000", "100000")),
    wrong("base_e", "The frequencies are powers of e instead of powers of 10000.",
          "By which number must you multiply an exponent of e to get a power of 10000?",
          edit(_ANGLE, "angle = pos * math.exp(-2 * i / d_model)")),
    common("logarithm",
           edit(_ANGLE, "angle = pos * math.exp(-math.log10(10000) * 2*i / d_model)"),
           edit(_ANGLE, "angle = pos * math.exp(-math.log2(10000) * 2*i / d_model)")),
    common("swapped",
           edit("math.sin", "math.cosine", "math.cos(", "math.sin(", "math.cosine", "math.cos"), tests="cosines"),
    common("one_function", edit("math.cos", "math.sin"), edit("math.sin", "math.cos")),
    wrong("columns_left_out", "Some columns were never filled in.",
          "How many columns does each pair have, and where does your loop over pairs end?",
          edit(_COSINE, "pass", name="sines_only"),
          edit(_SINE, "pass", name="cosines_only"),
          edit("range(d_model // 2)", "range(d_model // 2 - 1)", name="last_pair_left_out")),
    wrong("next_to_each_other",
          "Pair `i` is written to columns `i` and `i + 1`, so each pair overwrites half of the previous one and the "
          "last columns stay empty.",
          "Which two columns belong to pair 1?",
          edit("table[pos, 2 * i] =", "table[pos, i] =", "table[pos, 2 * i + 1] =", "table[pos, i + 1] =")),
    wrong("halves", "All sines are in the left half and all cosines in the right half.",
          "Which two columns belong to pair 0?",
          edit("table[pos, 2 * i] =", "table[pos, i] =", "table[pos, 2 * i + 1] =", "table[pos, d_model // 2 + i] =")),
    wrong("from_one", "Every position is off by one: a 1 was added.",
          "What does the formula give for position 0?",
          edit("angle = pos", "angle = (pos + 1)"), tests="positions"),
    wrong("wraps_around", "The positions wrap around: later rows repeat the first ones.",
          "Does position 100 have the same angle as position 0?",
          edit("angle = pos", "angle = pos % 100")),
    wrong("row_left_out", "The first or the last row was never filled in.",
          "At which positions does your loop start and end?",
          edit("range(max_len)", "range(1, max_len)", name="first_row_left_out"),
          edit("range(max_len)", "range(max_len - 1)", name="last_row_left_out")),
    wrong("divided_by_length", "The positions are divided by the length of the table.",
          "Does the length of the table appear in the formula?",
          edit("angle = pos /", "angle = pos / max_len /")),
    common("degrees", edit(_ANGLE, "angle = math.radians(pos / 10000 ** (2 * i / d_model))")),
    common("angle_times_two_pi", edit("angle = pos", "angle = math.tau * pos")),
    wrong("angle_floored", "The angles were rounded down to whole numbers.",
          "Which operation in your code drops the fraction?",
          edit("angle = pos / 10000", "angle = pos // 10000")),
    wrong("integer_table", "The table holds integers, so every sine and cosine was truncated.",
          "Which dtype does your empty table have?",
          edit("torch.zeros(max_len, d_model)", "torch.zeros(max_len, d_model, dtype=torch.int64)")),
    common("double", on="return table", tests="float32"),
    wrong("transposed", "The table is transposed: its shape is `(d_model, max_len)`.",
          "What should one row hold: a position, or a dimension?",
          edit("return table", "return table.T")),
    wrong("batch_dimension", "The result has an extra leading dimension.",
          "What shape does the docstring promise?",
          edit("return table", "return table.unsqueeze(0)")),
    wrong("returned_too_early", "The table is returned after its first row: the `return` is inside the loop.",
          "How far is your `return` indented?",
          edit("    return table", "        return table")),
    wrong("positions_and_pairs_swapped", "The position and the index of the pair are swapped in the angle.",
          "Which of your two loop variables is the position?",
          edit(_ANGLE, "angle = i / 10000 ** (2 * pos / d_model)")),
    common("nothing_returned", edit("    return table", "    table")),
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
]

EXERCISE = Specification(results="table", cases=CASES, mutants=MISTAKES, accepted=ACCEPTED)
