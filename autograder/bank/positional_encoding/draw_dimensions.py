"""A picture of some dimensions, and what stands on its axes."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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


def _asked(
    rows: int, d_model: int, length: int, *dimensions: int, again: bool = False
) -> Maker:
    """A table of any numbers: nobody can draw it from the formula.

    ``again``: a picture of it is open already when it is drawn.
    """

    def inputs(draw: Draw) -> Inputs:
        made: Inputs = {
            "table": draw.tensor(rows, d_model),
            "dimensions": torch.tensor(dimensions),
            "length": torch.tensor(length),
        }
        return made | ({"pictures": torch.tensor(2)} if again else {})

    return inputs


def _drawn(table: torch.Tensor, dimensions: list[int], length: int) -> Axes:
    """The picture without seaborn: that takes ten times as long, and nobody looks."""
    ax = Figure().subplots()
    for number in dimensions:
        values = table[:length, number - 1].tolist()
        ax.plot(range(length), values, label=f"dimension {number}")
    ax.set(xlabel="position", ylabel="value")
    ax.legend()
    return ax


_VALUES = "values = table[:length, number - 1].tolist()"
_LINE = 'sns.lineplot(x=list(range(length)), y=values, label=name, marker="o", ax=ax)'
_NAMES = 'ax.set(xlabel="position", ylabel="value")'
_IN_MATPLOTLIB = (
    Edit("import seaborn as sns\n    ", ""),
    Edit(_LINE, "ax.plot(list(range(length)), values, label=name)"),
    Edit("return ax", """
        ax.legend()
        return ax
        """),
)


def _way(*edits: Edit, name: str = "") -> Way:
    """The solution with edits, drawn without seaborn, too: nobody looks at it."""
    return Way(name=name, edits=[*_IN_MATPLOTLIB, *edits])


EXERCISE = Specification(
    name="positional_encoding/draw_dimensions",
    title="A picture of some dimensions",
    target="draw_dimensions",
    reference=_drawn,
    cases=[
        CaseKind(
            name="four",
            title="dimensions 1, 2, 7 and 16 of 20, over 9 positions",
            inputs=_asked(20, 20, 9, 1, 2, 7, 16),
            hint="One curve for each dimension, over positions 0 to length - 1.",
            picture="curves",
        ),
        CaseKind(
            name="two",
            title="dimensions 3 and 8 of 8, over all of 65 positions",
            inputs=_asked(65, 8, 65, 3, 8, again=True),
            hint="The last dimension is the last column, the first one column 0.",
            picture="curves",
        ),
        CaseKind(
            name="out_of_order",
            title="dimensions 11, 5 and 9 of 12, in this order",
            inputs=_asked(16, 12, 7, 11, 5, 9),
            hint="Each curve is named by the number of its own dimension.",
            picture="curves",
        ),
        CaseKind(
            name="one",
            title="a single dimension",
            inputs=_asked(13, 6, 11, 4, again=True),
            hint="One curve needs its name, too.",
            picture="curves",
            hidden_only=True,
        ),
    ],
    mutants=[
        Mutant(
            name="counted_from_zero",
            says="Dimension 7 shows column 7: you counted from 0, people count from 1.",
            asks="Which column is dimension 1?",
            ways=[_way(
                Edit(_VALUES, "values = table[:length, number % table.size(1)].tolist()"),
            )],
        ),
        Mutant(
            name="column_beyond_the_last",
            says="Dimension 7 shows column 7, and the last dimension finds no column: you "
            "counted from 0, people count from 1.",
            asks="Which column is dimension 1?",
            ways=[_way(
                Edit(_VALUES, "values = table[:length, number].tolist()"),
            )],
        ),
        Mutant(
            name="square_table_turned",
            says="Where the table has as many rows as columns, you draw rows.",
            asks="Which index of the table counts positions, whatever its sizes?",
            ways=[_way(
                Edit(_VALUES,
                     "turned = table.T if len(table) == table.size(1) else table; values = turned[:length, number - 1].tolist()"),
            )],
        ),
        Mutant(
            name="named_from_zero",
            says="The curves are right and their names are one too small.",
            asks="By which number do people call column 0?",
            ways=[_way(
                Edit('f"dimension {number}"', 'f"dimension {number - 1}"'),
            )],
        ),
        Mutant(
            name="rows_drawn",
            says="Rows of the table are drawn: the encoding of one position, not one "
            "dimension over the positions.",
            asks="What runs along the x axis, and along which index of the table?",
            ways=[_way(
                Edit(_VALUES, "values = table[number % len(table)].tolist()"),
                Edit("list(range(length))", "list(range(table.size(1)))"),
            )],
        ),
        Mutant(
            name="all_positions",
            says="All rows of the table are drawn, not the first `length`.",
            asks="Where does `length` stand in your code?",
            ways=[_way(
                Edit(_VALUES, "values = table[:, number - 1].tolist()"),
                Edit("list(range(length))", "list(range(len(table)))"),
            )],
        ),
        Mutant(
            name="one_position_short",
            says="The last position is missing.",
            asks="How many numbers does `range(length - 1)` have?",
            ways=[_way(
                Edit(_VALUES, "values = table[: length - 1, number - 1].tolist()"),
                Edit("list(range(length))", "list(range(length - 1))"),
            )],
        ),
        Mutant(
            name="positions_from_one",
            says="The x axis begins at 1; the first position is 0.",
            asks="Which position has the first row of the table?",
            ways=[_way(
                Edit("list(range(length))", "list(range(1, length + 1))"),
            )],
        ),
        Mutant(
            name="last_positions",
            says="The *last* rows are drawn.",
            asks="What does `table[-length:]` begin with?",
            ways=[_way(
                Edit("table[:length, number - 1]", "table.flip(0)[:length, number - 1]"),
            )],
        ),
        Mutant(
            name="axes_swapped",
            says="Positions stand on the y axis and values on the x axis.",
            asks="Which of the two arguments of `plot` comes first?",
            ways=[Way(edits=[
                Edit(_LINE, "ax.plot(values, list(range(length)), label=name)"),
                Edit(_NAMES, """
                    ax.legend()
                    ax.set(xlabel="position", ylabel="value")
                    """),
            ])],
        ),
        Mutant(
            name="no_legend",
            says="Nobody can tell the curves apart: the legend is missing or empty, or "
            "its names hold no number of a dimension.",
            asks="Which curve is dimension 7 in your picture?",
            ways=[
                Way(edits=[
                    Edit(_LINE, "ax.plot(list(range(length)), values, label=name)"),
                ]),
                Way(name="no_labels", edits=[Edit("label=name, ", "")]),
                _way(
                    Edit('f"dimension {number}"', '"a dimension " + "*" * number'),
                    name="names_without_numbers",
                ),
            ],
        ),
        Mutant(
            name="numbered_in_order",
            says="The curves are named 1, 2, 3, ... in the order of drawing, not by their "
            "dimension.",
            asks="What is the name of the curve that shows dimension 7?",
            ways=[_way(
                Edit('f"dimension {number}"', 'f"dimension {list(dimensions).index(number) + 1}"'),
            )],
        ),
        Mutant(
            name="names_mixed_up",
            says="The names belong to other curves.",
            asks="In which order do you draw, and in which order do you name?",
            ways=[_way(
                Edit('f"dimension {number}"',
                     'f"dimension {list(dimensions)[::-1][list(dimensions).index(number)]}"'),
            )],
        ),
        Mutant(
            name="legend_sorted",
            says="The names in the legend are sorted, the curves are not.",
            asks="What does `legend` do with a list of names that it is given?",
            ways=[Way(edits=[
                Edit(_LINE, "ax.plot(list(range(length)), values, label=name)"),
                Edit("return ax", """
                    ax.legend([f"dimension {d}" for d in sorted(dimensions)])
                    return ax
                    """),
            ])],
        ),
        Mutant(
            name="out_of_view",
            says="The x axis ends before the last position: a part of each curve cannot "
            "be seen.",
            asks="From where to where does your x axis run?",
            ways=[
                _way(Edit(_NAMES, """
                    ax.set(xlabel="position", ylabel="value", xlim=(0, length - 2))
                    """)),
            ],
        ),
        Mutant(
            name="view_of_fifty",
            says="The x axis ends at the same position, however many are asked for.",
            asks="What does somebody see who asks for 65 positions?",
            ways=[_way(Edit(_NAMES, """
                ax.set(xlabel="position", ylabel="value", xlim=(0, 50))
                """))],
        ),
        Mutant(
            name="in_one_figure",
            says="A second call draws over the picture of the first one.",
            asks="Does each call make a figure of its own?",
            ways=[_way(Edit("_, ax = plt.subplots(figsize=(8, 3))", "ax = plt.figure(7).add_subplot()"))],
        ),
        Mutant(
            name="x_axis_unnamed",
            says="The x axis has no name.",
            asks="What runs along it?",
            ways=[_way(Edit(_NAMES, 'ax.set(xlabel="", ylabel="value")'))],
        ),
        Mutant(
            name="y_axis_unnamed",
            says="The y axis has no name.",
            asks="What do the heights of the curves mean?",
            ways=[_way(Edit(_NAMES, 'ax.set(xlabel="position", ylabel="")'))],
        ),
        Mutant(
            name="names_exchanged",
            says="Both axes have names, but each that of the other one.",
            asks="What runs along the x axis, and what do the heights mean?",
            ways=[
                _way(Edit(_NAMES, 'ax.set(xlabel="value", ylabel="position")')),
                _way(
                    Edit(_NAMES, 'ax.set(xlabel="the encoding", ylabel="Positions")'),
                    name="names_exchanged_in_words",
                ),
            ],
        ),
        Mutant(
            name="axes_unnamed",
            says="Neither axis has a name.",
            asks="What would somebody else read off your picture?",
            ways=[
                _way(Edit(_NAMES, 'ax.set(title="dimensions")')),
                _way(Edit(_NAMES, 'ax.set_title("position, value")'), name="title_only"),
            ],
        ),
        Mutant(
            name="one_curve_only",
            says="Only the first dimension stands on the axes that come back.",
            asks="How often does your loop run, and on which axes does it draw?",
            ways=[
                _way(
                    Edit("for number in dimensions:", "for number in list(dimensions)[:1]:"),
                ),
            ],
        ),
        Mutant(
            name="one_picture_each",
            says="Each curve has a picture of its own; the axes that came back show the "
            "last one only.",
            asks="How many times do you make an empty picture?",
            ways=[_way(
                Edit('name = f"dimension {number}"', """
                    name = f"dimension {number}"
                    _, ax = plt.subplots()
                    """),
            )],
        ),
        Mutant(
            name="from_the_formula",
            says="The curves are those of the sinusoid formula, not of the table that was "
            "given.",
            asks="Where in your code does `table` stand?",
            ways=[_way(
                Edit("table[:length, number - 1]",
                     "sinusoid(torch.arange(length), table.size(1))[:, number - 1]"),
            )],
        ),
        Mutant(
            name="absolute_values",
            says="The curves never go below zero: their signs are lost.",
            asks="Which values lie between -1 and 0 in the table?",
            ways=[_way(
                Edit("table[:length, number - 1]", "table[:length, number - 1].abs()"),
            )],
        ),
        Mutant(
            name="figure_returned",
            says="The figure comes back, or nothing; the `Axes` was asked for.",
            asks="What are the two things that `plt.subplots()` returns?",
            ways=[
                _way(Edit("return ax", "return ax.figure")),
            ],
        ),
    ],
    accepted=[
        Accepted(name="matplotlib", source="""
            def draw_dimensions(table, dimensions, length):
                import matplotlib.pyplot as plt
                figure, axes = plt.subplots()
                for d in dimensions:
                    axes.plot(table[:length, d - 1], "--", label=f"dim. {d}")
                axes.legend(loc="upper right")
                axes.set_xlabel("pos")
                axes.set_ylabel("PE")
                return axes
            """),
        Accepted(name="one_call", source="""
            def draw_dimensions(table, dimensions, length):
                import matplotlib.pyplot as plt
                ax = plt.figure().gca()
                chosen = table[:length, [d - 1 for d in dimensions]]
                lines = ax.plot(range(length), chosen)
                ax.legend(lines, [str(d) for d in dimensions])
                ax.set(xlabel="position in the sentence", ylabel="number")
                return ax
            """),
        Accepted(name="with_columns", edits=[
            Edit('f"dimension {number}"', 'f"dimension {number} (column {number - 1})"'),
        ]),
        Accepted(name="line_at_zero", source="""
            def draw_dimensions(table, dimensions, length):
                import matplotlib.pyplot as plt
                _, ax = plt.subplots()
                ax.axhline(0, color="0.8", linewidth=1, zorder=0)
                for d in dimensions:
                    ax.plot(range(length), table[:length, d - 1], label=f"dimension {d}")
                ax.set(xlabel="position", ylabel="value")
                ax.legend()
                return ax
            """),
        Accepted(name="long_table", source="""
            def draw_dimensions(table, dimensions, length):
                import matplotlib.pyplot as plt
                import pandas as pd
                import seaborn as sns
                rows = [
                    (position, f"dimension {d}", float(table[position, d - 1]))
                    for d in dimensions for position in range(length)
                ]
                data = pd.DataFrame(rows, columns=["position", "curve", "value"])
                plt.figure()
                return sns.lineplot(data=data, x="position", y="value", hue="curve")
            """),
        Accepted(name="tight", edits=[
            *_IN_MATPLOTLIB,
            Edit(_NAMES, """
                ax.set(xlabel="position", ylabel="value", xlim=(0, length - 1))
                """),
        ]),
        Accepted(name="black_and_white", edits=[
            *_IN_MATPLOTLIB,
            Edit("values, label=name)",
                 'values, "k" + "-:"[number % 2], label=name)'),
        ]),
        Accepted(name="with_a_line_at_zero", edits=[
            *_IN_MATPLOTLIB,
            Edit(_NAMES, """
                ax.set(xlabel="position", ylabel="value", title="Some dimensions")
                ax.grid(True)
                """),
        ]),
    ],
)
