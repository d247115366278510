"""The sinusoid table, by loops."""

from __future__ import annotations

from autograder.bank.positional_encoding._table_by_loops.accepted import ACCEPTED
from autograder.oracle.draw import Draw
from autograder.oracle.specification import (
    CaseKind,
    Edit,
    Inputs,
    Mutant,
    Specification,
    Way,
)


def _size(draw: Draw, max_len: tuple[int, int], pairs: tuple[int, int]) -> Inputs:
    """An odd max_len and an even d_model, so that the two always differ."""
    return {
        "max_len": 2 * draw.ids(*max_len) + 1,
        "d_model": 2 * draw.ids(*pairs),
    }


_ANGLE = "angle = pos / 10000 ** (2 * i / d_model)"
_SINE = "table[pos, 2 * i] = math.sin(angle)"
_COSINE = "table[pos, 2 * i + 1] = math.cos(angle)"

EXERCISE = Specification(
    name="positional_encoding/table_by_loops",
    title="The sinusoid table, by loops",
    target="table_by_loops",
    cases=[
        CaseKind(
            name="small",
            title="a small table",
            inputs=lambda draw: _size(draw, (3, 6), (3, 20)),
            hint="Compare row 1 with the formula, number by number.",
            picture="curves",
        ),
        CaseKind(
            name="wide",
            title="more columns than positions",
            inputs=lambda draw: _size(draw, (2, 5), (8, 41)),
            hint="Which number of positions, which number of columns?",
            picture="curves",
        ),
        CaseKind(
            name="long",
            title="many positions",
            inputs=lambda draw: _size(draw, (20, 30), (5, 41)),
            hint="Are the slow columns right as well as the fast ones?",
            picture="curves",
        ),
        CaseKind(
            name="one_pair",
            title="a single pair of columns, more than a hundred positions",
            inputs=lambda draw: _size(draw, (51, 60), (1, 2)),
            hint="With d_model = 2 there is one hand, and it turns by 1 radian a step.",
            hidden_only=True,
            picture="curves",
        ),
    ],
    mutants=[
        Mutant(
            name="cosine_exponent",
            says="The cosine of a pair turns slower than its sine: its exponent is "
            "probably that of its own column, `(2 * i + 1) / d_model`.",
            asks="In the formula, which exponent stands under the cosine?",
            ways=[
                Way(edits=[
                    Edit(_COSINE,
                         "table[pos, 2 * i + 1] = math.cos(pos / 10000 ** ((2 * i + 1) / d_model))"),
                ]),
                Way(name="own_column_exponent", source="""
                    def table_by_loops(max_len, d_model):
                        table = torch.zeros(max_len, d_model)
                        for pos in range(max_len):
                            for j in range(d_model):
                                angle = pos / 10000 ** (j / d_model)
                                table[pos, j] = math.cos(angle) if j % 2 else math.sin(angle)
                        return table
                    """),
            ],
        ),
        Mutant(
            name="exponent_doubled",
            says="The speeds fall twice as fast as they should: the 2 of `2i` seems to "
            "be in the exponent twice.",
            asks="If your loop variable already runs over even columns, is it `i` or "
            "`2i`?",
            ways=[
                Way(edits=[Edit("(2 * i / d_model)", "(4 * i / d_model)")]),
                Way(name="exponent_doubled_even_columns", source="""
                    def table_by_loops(max_len, d_model):
                        table = torch.zeros(max_len, d_model)
                        for pos in range(max_len):
                            for i in range(0, d_model, 2):
                                table[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))
                                table[pos, i + 1] = math.cos(pos / 10000 ** (2 * i / d_model))
                        return table
                    """),
                Way(name="exponent_doubled_half_size", edits=[
                    Edit("(2 * i / d_model)", "(2 * i / (d_model // 2))"),
                ]),
            ],
        ),
        Mutant(
            name="doubled_and_cosine_exponent",
            says="Two slips at once: the 2 of `2i` is in the exponents twice, and the "
            "cosine has another exponent than its sine.",
            asks="Which exponents have columns 2 and 3, by the formula?",
            ways=[Way(source="""
                def table_by_loops(max_len, d_model):
                    table = torch.zeros(max_len, d_model)
                    for pos in range(max_len):
                        for i in range(0, d_model, 2):
                            table[pos, i] = math.sin(pos / 10000 ** (2 * i / d_model))
                            table[pos, i + 1] = math.cos(
                                pos / 10000 ** (2 * (i + 1) / d_model))
                    return table
                """)],
        ),
        Mutant(
            name="exponent_halved",
            says="The speeds fall half as fast as they should: the 2 of `2i` is "
            "missing in the exponent.",
            asks="Which exponent should the last pair have: nearly 1, or nearly 1/2?",
            ways=[Way(edits=[Edit("(2 * i / d_model)", "(i / d_model)")])],
        ),
        Mutant(
            name="exponent_constant",
            says="All hands turn equally fast: the exponent does not depend on the "
            "pair.",
            asks="Where is `i` in your exponent?",
            ways=[Way(edits=[Edit("(2 * i / d_model)", "(2 / d_model)")])],
        ),
        Mutant(
            name="exponent_floored",
            says="All hands turn at full speed: the exponent is 0, whatever the pair.",
            asks="Which exponents do you get for `i = 1, 2, 3`: are they rounded?",
            ways=[Way(edits=[Edit("(2 * i / d_model)", "(2 * i // d_model)")])],
        ),
        Mutant(
            name="exponent_negative",
            says="The hands get faster from left to right: the position is "
            "*multiplied* by the power.",
            asks="Is the power of 10000 above or below the line?",
            ways=[
                Way(edits=[Edit(_ANGLE, "angle = pos * 10000 ** (2 * i / d_model)")]),
                Way(name="positive_log", edits=[
                    Edit(_ANGLE,
                         "angle = pos * math.exp(math.log(10000) * 2 * i / d_model)"),
                ]),
            ],
        ),
        Mutant(
            name="exponent_from_one",
            says="The pairs are counted from 1, so even the first hand turns too "
            "slowly.",
            asks="Which value has `i` in columns 0 and 1?",
            ways=[Way(edits=[Edit("(2 * i / d_model)", "(2 * (i + 1) / d_model)")])],
        ),
        Mutant(
            name="divided_by_d_minus_2",
            says="The exponents run from 0 to exactly 1: they are divided by `d_model "
            "- 2`.",
            asks="What does the formula divide by?",
            ways=[Way(edits=[
                Edit("(2 * i / d_model)", "(2 * i / max(d_model - 2, 1))"),
            ])],
        ),
        Mutant(
            name="exponent_times_d",
            says="The exponent is far too large: it is not divided by `d_model`, so only "
            "the first pair turns.",
            asks="Which exponent does the last pair have?",
            ways=[Way(edits=[Edit("(2 * i / d_model)", "(2 * i * d_model)")])],
        ),
        Mutant(
            name="precedence",
            says="Without brackets, Python takes the power before the division: the "
            "angle is divided by `10000 ** (2i)` and by `d_model` apart.",
            asks="Which does Python do first, `**` or `/`?",
            ways=[Way(edits=[Edit("(2 * i / d_model)", "(2 * i) / d_model")])],
        ),
        Mutant(
            name="precedence_of_the_power",
            says="Without brackets, Python takes the power before the product: all angles are "
            "divided by `10000 ** 2`, and `i` multiplies them.",
            asks="Which does Python do first in `10000 ** 2 * i`?",
            ways=[Way(edits=[Edit("(2 * i / d_model)", "2 * i / d_model")])],
        ),
        Mutant(
            name="no_power",
            says="The angle has a product in place of a power of 10000.",
            asks="Is the exponent in the formula an exponent in your code?",
            ways=[Way(edits=[
                Edit(_ANGLE, "angle = pos / (10000 * max(2 * i, 1) / d_model)"),
            ])],
        ),
        Mutant(
            name="base_1000",
            says="The base of the powers is 1000, not 10000.",
            asks="How many zeros has the base in the formula?",
            ways=[Way(edits=[Edit("10000 ** (2", "1000 ** (2")])],
        ),
        Mutant(
            name="base_100000",
            says="The base of the powers is 100000, not 10000.",
            asks="How many zeros has the base in the formula?",
            ways=[Way(edits=[Edit("10000 ** (2", "100000 ** (2")])],
        ),
        Mutant(
            name="base_e",
            says="The speeds fall by powers of e where they should be powers of 10000.",
            asks="Which logarithm belongs in front of the exponent?",
            ways=[Way(edits=[
                Edit(_ANGLE, "angle = pos * math.exp(-2 * i / d_model)"),
            ])],
        ),
        Mutant(
            name="log10",
            says="The speeds come from `exp` together with a base-10 logarithm.",
            asks="Which logarithm undoes `exp`?",
            ways=[Way(edits=[
                Edit(_ANGLE,
                     "angle = pos * math.exp(-math.log10(10000) * 2*i / d_model)"),
            ])],
        ),
        Mutant(
            name="log2",
            says="The speeds come from `exp` together with a base-2 logarithm.",
            asks="Which logarithm undoes `exp`?",
            ways=[Way(edits=[
                Edit(_ANGLE,
                     "angle = pos * math.exp(-math.log2(10000) * 2*i / d_model)"),
            ])],
        ),
        Mutant(
            name="swapped",
            says="Sine and cosine are swapped: the cosines stand in the even columns.",
            asks="Which function does the formula give to column 0?",
            ways=[
                Way(edits=[
                    Edit("math.sin", "math.cosine"),
                    Edit("math.cos(", "math.sin("),
                    Edit("math.cosine", "math.cos"),
                ]),
                Way(name="columns_swapped", edits=[
                    Edit("table[pos, 2 * i] =", "table[pos, 2*i + 1] ="),
                    Edit("table[pos, 2 * i + 1] =", "table[pos, 2 * i] ="),
                ]),
            ],
        ),
        Mutant(
            name="sine_everywhere",
            says="All columns are sines.",
            asks="Which function does the formula give to column 1?",
            ways=[Way(edits=[Edit("math.cos", "math.sin")])],
        ),
        Mutant(
            name="cosine_everywhere",
            says="All columns are cosines.",
            asks="Which function does the formula give to column 0?",
            ways=[Way(edits=[Edit("math.sin", "math.cos")])],
        ),
        Mutant(
            name="sines_only",
            says="The odd columns were never filled in.",
            asks="How many numbers does each pair have?",
            ways=[Way(edits=[Edit(_COSINE, "pass")])],
        ),
        Mutant(
            name="cosines_only",
            says="The even columns were never filled in.",
            asks="How many numbers does each pair have?",
            ways=[Way(edits=[Edit(_SINE, "pass")])],
        ),
        Mutant(
            name="next_to_each_other",
            says="Pair `i` is written into the columns `i` and `i + 1`: each pair writes over "
            "a half of the one before, and the last columns stay empty.",
            asks="Which two columns belong to pair 1?",
            ways=[Way(edits=[
                Edit("table[pos, 2 * i] =", "table[pos, i] ="),
                Edit("table[pos, 2 * i + 1] =", "table[pos, i + 1] ="),
            ])],
        ),
        Mutant(
            name="halves",
            says="All sines stand in the left half and all cosines in the right half.",
            asks="In which two columns does pair 0 belong?",
            ways=[Way(edits=[
                Edit("table[pos, 2 * i] =", "table[pos, i] ="),
                Edit("table[pos, 2 * i + 1] =", "table[pos, d_model // 2 + i] ="),
            ])],
        ),
        Mutant(
            name="from_one",
            says="The positions are counted from 1: your first row belongs in the "
            "second.",
            asks="What is row 0 of the table, by the formula?",
            ways=[Way(edits=[
                Edit(_ANGLE, "angle = (pos + 1) / 10000 ** (2 * i / d_model)"),
            ])],
        ),
        Mutant(
            name="wraps_around", says="Later positions are taken for the first ones.",
            asks="Has position 100 the angle of position 0?",
            ways=[Way(edits=[Edit(_ANGLE, "angle = pos % 100 / 10000 ** (2 * i / d_model)")])]),
        Mutant(
            name="first_row_left_out",
            says="Row 0 was never filled in.",
            asks="Does the sine and cosine of position 0 need no place?",
            ways=[Way(edits=[Edit("range(max_len)", "range(1, max_len)")])],
        ),
        Mutant(
            name="last_row_left_out",
            says="The last row was never filled in.",
            asks="Where does your loop over positions end?",
            ways=[Way(edits=[Edit("range(max_len)", "range(max_len - 1)")])],
        ),
        Mutant(
            name="last_pair_left_out",
            says="The last pair of columns was never filled in.",
            asks="Where does your loop over pairs end?",
            ways=[Way(edits=[Edit("range(d_model // 2)", "range(d_model // 2 - 1)")])],
        ),
        Mutant(
            name="divided_by_length",
            says="The positions are divided by the length of the table.",
            asks="Does the formula know how long the sentence is?",
            ways=[Way(edits=[Edit("angle = pos /", "angle = pos / max_len /")])],
        ),
        Mutant(
            name="degrees",
            says="The angles are taken for degrees.",
            asks="Does `math.sin` expect degrees or radians, and which does the "
            "formula use?",
            ways=[Way(edits=[
                Edit(_ANGLE, "angle = math.radians(pos / 10000 ** (2 * i / d_model))"),
            ])],
        ),
        Mutant(
            name="angle_times_two_pi",
            says="The angles are multiplied by 2 pi.",
            asks="Is there a pi in the formula?",
            ways=[Way(edits=[
                Edit(_ANGLE, "angle = math.tau * pos / 10000 ** (2 * i / d_model)"),
            ])],
        ),
        Mutant(
            name="angle_floored",
            says="The angles were rounded down to whole numbers.",
            asks="Where does `//` or `int` cut off the fraction?",
            ways=[Way(edits=[Edit("angle = pos / 10000", "angle = pos // 10000")])],
        ),
        Mutant(
            name="integer_table",
            says="The table holds whole numbers, so every sine and cosine was cut off.",
            asks="Which dtype has your empty table?",
            ways=[Way(edits=[
                Edit("torch.zeros(max_len, d_model)",
                     "torch.zeros(max_len, d_model, dtype=torch.int64)"),
            ])],
        ),
        Mutant(
            name="double_table",
            says="The numbers are right, but in float64. The rest of the network is "
            "float32.",
            asks="Which dtype has your empty table?",
            ways=[Way(edits=[
                Edit("torch.zeros(max_len, d_model)",
                     "torch.zeros(max_len, d_model, dtype=torch.float64)"),
            ])],
        ),
        Mutant(
            name="transposed",
            says="Rows and columns are swapped: the table is `(d_model, max_len)`.",
            asks="Which of the two does a row stand for: a position, or a column of "
            "numbers?",
            ways=[Way(edits=[Edit("return table", "return table.T")])],
        ),
        Mutant(
            name="batch_dimension",
            says="The table has a batch dimension in front.",
            asks="Which shape does the docstring promise?",
            ways=[Way(edits=[Edit("return table", "return table.unsqueeze(0)")])],
        ),
        Mutant(
            name="returned_too_early",
            says="The table is returned after its first row: the `return` is inside "
            "the loop.",
            asks="How far is your `return` indented?",
            ways=[Way(edits=[Edit("    return table", "        return table")])],
        ),
        Mutant(
            name="positions_and_pairs_swapped",
            says="Position and pair have changed places in the angle.",
            asks="Which of your two loop variables is the position?",
            ways=[Way(edits=[
                Edit(_ANGLE, "angle = i / 10000 ** (2 * pos / d_model)"),
            ])],
        ),
        Mutant(
            name="not_returned",
            says="Nothing comes back: the function ends without `return`.",
            asks="What does a Python function without `return` give back?",
            ways=[Way(edits=[Edit("    return table", "    table")])],
        ),
    ],
    accepted=ACCEPTED,
)
