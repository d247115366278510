"""A figure of some dimensions: its curves, and whether all is labelled."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, source, wrong
from autograder.authoring.specification import Inputs, Maker, Specification, Way


def _asked(rows: int, d_model: int, length: int, *dimensions: int, again: bool = False) -> Maker:
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
    "import seaborn as sns\n    ", "",
    _LINE, "ax.plot(list(range(length)), values, label=name)",
    "return ax", "ax.legend()\nreturn ax",
)  # fmt: skip


def _way(*texts: str, name: str = "") -> Way:
    """The solution with edits, drawn without seaborn, too: nobody looks at it."""
    return edit(*_IN_MATPLOTLIB, *texts, name=name)


CASES = [
    case("four", "dimensions 1, 2, 7 and 16 of 20, over 9 positions", _asked(20, 20, 9, 1, 2, 7, 16),
         "One curve for each dimension, over positions 0 to length - 1.", picture="curves"),
    case("two", "dimensions 3 and 8 of 8, over all 65 positions", _asked(65, 8, 65, 3, 8, again=True),
         "The first dimension is column 0, and the last one is the last column.", picture="curves"),
    case("out_of_order", "dimensions 11, 5 and 9 of 12, in this order", _asked(16, 12, 7, 11, 5, 9),
         "Each curve shows the column that was asked for, whatever the order.", picture="curves"),
    case("one", "a single dimension", _asked(13, 6, 11, 4, again=True),
         "A single curve needs a label as well.", picture="curves", hidden_only=True),
]

MISTAKES = [
    wrong("counted_from_zero",
          "Dimension 7 shows column 7: you count from 0, but dimensions are counted from 1.",
          "Which column is dimension 1?",
          _way(_VALUES, "values = table[:length, number % table.size(1)].tolist()")),
    wrong("column_beyond_the_last",
          "Dimension 7 shows column 7, and the last dimension is out of range: you count from 0, but dimensions are "
          "counted from 1.",
          "Which column is dimension 1?",
          _way(_VALUES, "values = table[:length, number].tolist()")),
    wrong("square_table_turned",
          "When the table has as many rows as columns, you plot rows.",
          "Which dimension of the table holds the positions, whatever its shape?",
          _way(_VALUES,
               "turned = table.T if len(table) == table.size(1) else table; values = turned[:length, number - 1].tolist()")),
    wrong("rows_drawn",
          "You plot rows of the table: the encoding of one position, not one dimension over the positions.",
          "What runs along the x-axis, and along which dimension of the table?",
          _way(_VALUES, "values = table[number % len(table)].tolist()", "list(range(length))",
               "list(range(table.size(1)))")),
    wrong("all_positions",
          "All rows of the table are plotted, not just the first `length`.",
          "Where does your code use `length`?",
          _way(_VALUES, "values = table[:, number - 1].tolist()", "list(range(length))", "list(range(len(table)))")),
    wrong("one_position_short",
          "The last position is missing.",
          "How many numbers does `range(length - 1)` contain?",
          _way(_VALUES, "values = table[: length - 1, number - 1].tolist()", "list(range(length))",
               "list(range(length - 1))")),
    wrong("positions_from_one",
          "Your curves are drawn one position too far to the right.",
          "Which position does the first row of the table encode?",
          _way("list(range(length))", "list(range(1, length + 1))")),
    wrong("last_positions",
          "The *last* rows are plotted.",
          "Which row do you start with, and which position does it belong to?",
          _way("table[:length, number - 1]", "table.flip(0)[:length, number - 1]")),
    wrong("axes_swapped",
          "Positions are on the y-axis and values on the x-axis.",
          "Which of the two arguments of `plot` comes first?",
          edit(_LINE, "ax.plot(values, list(range(length)), label=name)",
               _NAMES, """
              ax.legend()
              ax.set(xlabel="position", ylabel="value")
              """)),
    wrong("no_legend",
          "The curves cannot be told apart, because the legend is missing or empty.",
          "Which curve is dimension 7 in your figure?",
          edit(_LINE, "ax.plot(list(range(length)), values, label=name)")),
    wrong("labels_alike",
          "The legend has fewer labels than there are curves, so it does not tell all of them apart.",
          "Which curve is dimension 7 in your figure?",
          _way('f"dimension {number}"', '"dimension"')),
    wrong("out_of_view",
          "The x-axis ends before the last position, so part of each curve is cut off.",
          "What range does your x-axis cover?",
          _way(_NAMES, """
              ax.set(xlabel="position", ylabel="value", xlim=(0, length - 2))
              """)),
    wrong("view_of_fifty",
          "The x-axis always ends at the same position, whatever `length` is.",
          "What would a plot of 65 positions show?",
          _way(_NAMES, """
              ax.set(xlabel="position", ylabel="value", xlim=(0, 50))
              """)),
    wrong("in_one_figure",
          "A second call draws over the figure of the first.",
          "Does each call create its own figure?",
          _way("_, ax = plt.subplots(figsize=(8, 3))", "ax = plt.figure(7).add_subplot()")),
    wrong("in_the_current_axes",
          "Your axes also hold the curves of an earlier call.",
          "Into which figure do your drawing functions draw when they are called a second time?",
          _way("_, ax = plt.subplots(figsize=(8, 3))", "ax = plt.gca()")),
    wrong("x_axis_unnamed",
          "The x-axis has no label.",
          "What runs along it?",
          _way(_NAMES, 'ax.set(xlabel="", ylabel="value")')),
    wrong("y_axis_unnamed",
          "The y-axis has no label.",
          "What do the heights of the curves mean?",
          _way(_NAMES, 'ax.set(xlabel="position", ylabel="")')),
    wrong("axes_unnamed",
          "Neither axis has a label.",
          "What could a reader learn from your figure?",
          _way(_NAMES, 'ax.set(title="dimensions")')),
    wrong("one_curve_only",
          "Only the first dimension is on the axes that you return.",
          "How many times does your loop run, and on which axes does it draw?",
          _way("for number in dimensions:", "for number in list(dimensions)[:1]:")),
    wrong("one_picture_each",
          "Each curve has its own figure, so the axes that you return show only the last one.",
          "How many times do you create a figure?",
          _way('name = f"dimension {number}"', """
              name = f"dimension {number}"
              _, ax = plt.subplots()
              """)),
    wrong("from_the_formula",
          "The curves come from the sinusoid formula, not from the table that was given.",
          "Where does your code use `table`?",
          _way("table[:length, number - 1]", "sinusoid(torch.arange(length), table.size(1))[:, number - 1]")),
    wrong("absolute_values",
          "The curves never go below zero: their signs are lost.",
          "Does the table contain negative values?",
          _way("table[:length, number - 1]", "table[:length, number - 1].abs()")),
    wrong("figure_returned",
          "You return the figure, or nothing, instead of the `Axes`.",
          "What are the two things that `plt.subplots()` returns?",
          _way("return ax", "return ax.figure")),
]

ACCEPTED = [
    right("matplotlib", source("""
        def draw_dimensions(table, dimensions, length):
            import matplotlib.pyplot as plt
            figure, axes = plt.subplots()
            for d in dimensions:
                axes.plot(table[:length, d - 1], "--", label=f"dim. {d}")
            axes.legend(loc="upper right")
            axes.set_xlabel("pos")
            axes.set_ylabel("PE")
            return axes
        """)),
    right("one_call", source("""
        def draw_dimensions(table, dimensions, length):
            import matplotlib.pyplot as plt
            ax = plt.figure().gca()
            chosen = table[:length, [d - 1 for d in dimensions]]
            lines = ax.plot(range(length), chosen)
            ax.legend(lines, [str(d) for d in dimensions])
            ax.set(xlabel="position in the sentence", ylabel="number")
            return ax
        """)),
    right("with_columns", edit('f"dimension {number}"', 'f"dimension {number} (column {number - 1})"')),
    right("line_at_zero", source("""
        def draw_dimensions(table, dimensions, length):
            import matplotlib.pyplot as plt
            _, ax = plt.subplots()
            ax.axhline(0, color="0.8", linewidth=1, zorder=0)
            for d in dimensions:
                ax.plot(range(length), table[:length, d - 1], label=f"dimension {d}")
            ax.set(xlabel="position", ylabel="value")
            ax.legend()
            return ax
        """)),
    right("long_table", source("""
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
        """)),
    right("tight", edit(*_IN_MATPLOTLIB, _NAMES, """
        ax.set(xlabel="position", ylabel="value", xlim=(0, length - 1))
        """)),
    right("named_as_you_like", edit(*_IN_MATPLOTLIB, 'f"dimension {number}"', '"abcdefg"[list(dimensions).index(number)]')),
    right("black_and_white",
          edit(*_IN_MATPLOTLIB, "values, label=name)", 'values, "k" + "-:"[number % 2], label=name)')),
    right("with_a_line_at_zero", edit(*_IN_MATPLOTLIB, _NAMES, """
        ax.set(xlabel="position", ylabel="value", title="Some dimensions")
        ax.grid(True)
        """)),
]

EXERCISE = Specification(
    name="positional_encoding/draw_dimensions", title="Draw some dimensions", target="draw_dimensions",
    reference=_drawn,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
