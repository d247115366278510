"""The figures of unit 1. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from autograder.checks.display import show
from autograder.figures import maps, style, told
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, ORANGE

ROUNDING = 1e-4  # a smaller shuffle gap is an error of rounding


def gaps(gaps_by_name: Mapping[str, float]) -> None:
    """Draw the shuffle gap of each kind of layer that mixes positions."""
    figure, axes = style.subplots(height=0.7 + 0.34 * len(gaps_by_name), width=4.9)
    bars(axes, gaps_by_name, ".1f", ORANGE)
    for label, gap in zip(axes.texts, gaps_by_name.values(), strict=True):
        if gap < ROUNDING:
            label.set_text(f"0 ({gap:.0e})")
    axes.set_title("shuffle gap")
    axes.invert_yaxis()
    seeing = [name for name, gap in gaps_by_name.items() if gap >= ROUNDING]
    subject = f"Only the {' and the '.join(seeing)} have" if seeing else "None has"
    caption = f"{subject} a gap; a layer without one cannot see order."
    alt = f"Bars of the shuffle gap: {told.bars(gaps_by_name)}"
    show(figure, alt, "1.1", caption)


def dimensions(table: Tensor, numbers: Sequence[int]) -> None:
    """Draw columns of a table of sinusoids, `(L, d_model)`, as curves.

    The columns in ``numbers`` are counted from 1.
    """
    figure, axes = style.subplots()
    curves = {f"dimension {n}": table[:, n - 1].tolist() for n in numbers}
    for name, values in curves.items():
        axes.plot(values, label=name, marker="o")
    axes.set(xlabel="position", ylabel="value")
    style.name_lines(axes)
    alt = f"Curves over the positions. {told.curves(curves)}"
    caption = (
        f"Of these {table.shape[1]} dimensions, the two of a pair have the same "
        "frequency, and later pairs have longer waves."
    )
    show(figure, alt, "1.2", caption)


def whole_table(table: Tensor) -> None:
    """Draw a table of sinusoids, `(L, d_model)`, as a heat map, a row per position."""
    figure, axes = style.subplots(height=3.6)
    image = maps.image(axes, table, signed=True, top=1.0)
    axes.set(xlabel="dimension", ylabel="position")
    maps.colour_bar(figure, image, axes, "value")
    steady = int((table.std(0) < 0.1).sum())
    alt = (
        f"Heat map, {table.shape[0]} positions by {table.shape[1]} dimensions. Stripes "
        "are narrow on the left and grow longer to the right; the last "
        f"{steady} dimensions hardly change over these positions."
    )
    caption = "Each row encodes one position; towards the right, rows hardly differ."
    show(figure, alt, "1.3", caption)


def similarity(products: Tensor, rows: Sequence[int]) -> None:
    """Draw the dot products of positions, `(L, L)`, and two rows of them as curves."""
    figure, (left, right) = style.subplots(1, 2, height=2.9)
    image = maps.image(left, products)
    left.set(xlabel="position", ylabel="position", title="dot product", aspect="equal")
    maps.colour_bar(figure, image, left, "")
    curves = {}
    for row, colour in zip(rows, (BLUE, ORANGE), strict=True):
        values = products[row].tolist()
        right.plot(values, color=colour)
        right.text(row, max(values) + 0.8, f"of {row}", ha="center", color=colour)
        curves[f"position {row}"] = values
    right.set(xlabel="other position", ylabel="dot product", title="two of its rows")
    right.margins(y=0.12)
    peaks = ", ".join(f"{told.number(max(v))} at its own position for {n}"
                      for n, v in curves.items())  # fmt: skip
    alt = (
        "Left: dot products of positions, brightest on the diagonal and alike along "
        f"it. Right: two rows of it; the highest is {peaks}. {told.curves(curves)}"
    )
    caption = "The dot product of two positions depends only on their distance."
    show(figure, alt, "1.4", caption)


def lengths(lengths_by_name: Mapping[str, float]) -> None:
    """Draw the average lengths of word vectors and of position vectors."""
    figure, axes = style.subplots(height=0.9 + 0.3 * len(lengths_by_name), width=4.9)
    for row, (name, length) in enumerate(lengths_by_name.items()):
        colour = BLUE
        if "position" in name:
            colour = ORANGE
            axes.axvline(length, **style.DOTTED)
        axes.plot(length, row, "o", color=colour, markersize=7)
        axes.annotate(f"{length:.1f}", (length, row), (8, 0), size=9, va="center",
                      textcoords="offset points")  # fmt: skip
    names = [
        name.replace("√d_model", r"√$d_\mathrm{model}$") for name in lengths_by_name
    ]
    axes.set_yticks(range(len(names)), names)
    axes.set(xscale="log", xlim=(0.6, 1500), title="average length of a vector")
    axes.set_xticks([1, 10, 100], [1, 10, 100])
    axes.minorticks_off()
    axes.invert_yaxis()
    alt = f"Average length of a vector: {told.bars(lengths_by_name)}"
    caption = (
        "Words far left of the dotted line are drowned out by the positions; words far "
        "right of it drown them out."
    )
    show(figure, alt, "1.5", caption)


def clocks(start: Tensor, moved: Tensor, wanted: Tensor, pos: int, k: int) -> None:
    """Draw four pairs of features as clock hands, before and after a move by k.

    ``start`` is the row of position pos, ``moved`` that row after the move, and
    ``wanted`` the row of position pos + k; each is `(d_model,)`.
    """
    from matplotlib.patches import Circle

    figure, row = style.subplots(1, 4, height=2.3)
    descriptions = []
    for i, axes in enumerate(row):
        pair = slice(2 * i, 2 * i + 2)
        axes.add_patch(Circle((0, 0), 1, fill=False, color=style.HAIR, linewidth=1.2))
        for hand, colour in ((start[pair], BLUE), (moved[pair], ORANGE)):
            arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkB": 0}
            axes.annotate("", hand.tolist(), (0, 0), arrowprops=arrow)
        axes.plot(*wanted[pair].tolist(), "o", color=style.INK, markersize=4)
        style.bare(axes)
        axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
        axes.set(title=f"pair {i}", xlabel="sine")
        gap = float((moved[pair] - wanted[pair]).abs().max())
        coordinates = ", ".join(f"{v:.2f}" for v in moved[pair].tolist())
        descriptions.append(
            f"pair {i}: to ({coordinates}), {told.number(gap)} from the dot"
        )
    row[0].set_ylabel("cosine")
    hands = [row[0].plot([], color=colour)[0] for colour in (BLUE, ORANGE)]
    names = (f"position {pos}", f"moved by {k}", f"position {pos + k}")
    figure.legend([*hands, row[0].lines[0]], names, ncols=3, loc="outside upper left")
    alt = (
        f"Four clocks. The hands of position {pos}, moved by {k}, end at: "
        f"{'; '.join(descriptions)}."
    )
    caption = "A correct move ends each orange hand on its dot."
    show(figure, alt, "1.6", caption)


def accuracies(results: Mapping[str, Sequence[float]], sizes: Sequence[int]) -> None:
    """Draw the accuracy of each model, from 0 to 1, at two lengths."""
    figure, axes = style.subplots(height=2.6)
    for column, (size, colour) in enumerate(zip(sizes, (BLUE, ORANGE), strict=True)):
        xs = [row + 0.38 * column - 0.19 for row in range(len(results))]
        heights = [100 * result[column] for result in results.values()]
        rectangles = axes.bar(xs, heights, 0.35, color=colour, label=f"length {size}")
        axes.bar_label(rectangles, fmt="%.0f%%", padding=2, size=9)
    axes.axhline(50, **style.DOTTED)
    axes.text(1.01, 50, "coin flip", color=style.QUIET, size=8.5, va="center",
              transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_xticks(range(len(results)), list(results))
    axes.set(ylim=(0, 128), yticks=range(0, 101, 25), title="correct answers (%)")
    axes.legend(loc="upper left", ncols=2)
    alt = ", ".join(f"{name} {a:.0%} and {b:.0%}" for name, (a, b) in results.items())
    show(
        figure,
        f"Bars of accuracy at length {sizes[0]} and {sizes[1]}: {alt}.",
        "1.7",
        f"All four models were trained on sentences of {sizes[0]} tokens; "
        f"{sizes[1]} are new to them.",
    )


def tables(tables_by_title: Mapping[str, Tensor]) -> None:
    """Draw three tables of sinusoids side by side, with the correct one first."""
    figure, row = style.subplots(1, len(tables_by_title), height=2.6, sharey=True)
    correct = next(iter(tables_by_title.values()))
    descriptions, counts = [], []
    for axes, (title, table) in zip(row, tables_by_title.items(), strict=True):
        maps.image(axes, table, signed=True, top=1.0)
        axes.set(title=title, xlabel="dimension")
        off = int(((table - correct).abs().amax(0) > 0.01).sum())
        counts.append(f"{off} in {title}")
        descriptions.append(
            f"{title}: {off} of {table.shape[1]} dimensions differ from the first"
        )
    row[0].set_ylabel("position")
    alt = f"Three heat maps. {'; '.join(descriptions)}."
    caption = (
        "The paper's table, and two that were published: of "
        f"{correct.shape[1]} dimensions, {' and '.join(counts[1:])} are wrong."
    )
    show(figure, alt, "1.8", caption)
