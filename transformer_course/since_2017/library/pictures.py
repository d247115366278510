"""The figures of unit 7. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from autograder.checks.display import show, show_steps
from autograder.figures import maps, style, told
from autograder.figures.style import BLUE, ORANGE


def clocks(turned: Tensor, scores: Tensor, stops: Sequence[int]) -> None:
    """Draw, in steps, a query at later positions, and its score with a key at 0.

    Args:
        turned: a vector, rotated for each position, `(L, d_k)`; pair j consists of the
            components j and j + d_k/2.
        scores: by position, the dot product with the vector at position 0, `(L,)`.
        stops: the position in each step.
    """
    from matplotlib.patches import Circle

    frames, captions, alts = [], {}, []
    half, values = turned.size(-1) // 2, scores.tolist()
    for at in stops:
        figure, row = style.subplots(
            1, half + 1, height=2.0, gridspec_kw={"width_ratios": [1] * half + [2.2]}
        )
        for pair, axes in enumerate(row[:-1]):
            axes.add_patch(Circle((0, 0), 1, fill=False, color=style.HAIR, lw=1.2))
            for position, colour in ((0, style.QUIET), (at, BLUE)):
                hand = turned[position, [pair, pair + half]].tolist()
                arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkB": 0}
                axes.annotate("", hand, (0, 0), arrowprops=arrow)
            style.bare(axes)
            axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
            axes.set_title(f"pair {pair}")
        row[-1].plot(values, color=style.QUIET, linewidth=1.4)
        row[-1].plot(at, values[at], "o", color=BLUE)
        row[-1].set(title="score by distance", xlabel="distance")
        frames.append(figure)
        captions[f"distance {at}"] = f"The score is {values[at]:.2f}."
        dots = [float(turned[at, [p, p + half]] @ turned[0, [p, p + half]])
                for p in range(half)]  # fmt: skip
        parts = ", ".join(f"pair {p} {told.number(dot)}" for p, dot in enumerate(dots))
        alts.append(f"What each pair adds to the score at distance {at}: {parts}.")
    caption = (
        "The blue query turns away from the grey key at position 0, fast in the first "
        "pair and slowly in the last; the score sums the cosines of the four angles."
    )
    show_steps(frames, captions, alts, "7.2", caption, opened=len(frames) // 2)


def cache(without: Sequence[int], cached: Sequence[int]) -> None:
    """Draw, token by token, how many keys are computed without and with a cache."""
    frames, captions, alts = [], {}, []
    count = len(without)
    for n in range(1, count + 1):
        figure, row = style.subplots(1, 2, height=2.8)
        for axes, title, new in ((row[0], "without a cache", without[n - 1]),
                                 (row[1], "with a cache", cached[n - 1])):  # fmt: skip
            _draw_triangle(axes, count, n, new)
            axes.set_title(title)
        frames.append(figure)
        captions[f"token {n}"] = (
            f"Keys computed: {without[n - 1]} without a cache; "
            f"{cached[n - 1]} with one, which looks up {n - cached[n - 1]}."
        )
        sums = sum(without[:n]), sum(cached[:n])
        alts.append(f"Computed so far: {sums[0]} without a cache, {sums[1]} with one.")
    caption = (
        "With a cache, a new token computes one key (full) and looks up the rest "
        "(pale)."
    )
    show_steps(frames, captions, alts, "7.5", caption, opened=-1)


def _draw_triangle(axes: Any, count: int, n: int, new: int) -> None:
    """Draw the causal scores and the keys of n positions, and mark what is computed.

    The last ``new`` of them are computed; the picture has room for ``count``.
    """
    full, pale, none = (style.sequential()(part) for part in (1.0, 0.25, 0.0))
    for i in range(count):
        for j in range(i + 1):
            maps.cell(axes, i, j, full if n - new <= i < n else none, "")
    for j in range(n):
        maps.cell(axes, count + 0.6, j, full if j >= n - new else pale, f"k{j}")
    style.bare(axes)
    axes.set_yticks([(count - 1) / 2, count + 0.6], ["scores", "keys and\nvalues"])
    axes.set(xlim=(-0.6, count - 0.4), ylim=(count + 1.2, -0.6), aspect="equal")


def cost(lengths: Sequence[int], costs_by_name: Mapping[str, Sequence[float]]) -> None:
    """Draw the milliseconds for the next token, by the number of tokens so far.

    ``costs_by_name`` has two entries, without and with a cache.
    """
    figure, axes = style.subplots(height=2.6, width=4.9)
    looks = ((ORANGE, "--"), (BLUE, "-"))
    for (name, values), (colour, line) in zip(
        costs_by_name.items(), looks, strict=True
    ):
        axes.plot(lengths, values, line, color=colour, label=name)
    axes.set(xlabel="tokens so far", ylim=(0, None))
    axes.set_title("milliseconds for the next token")
    style.name_lines(axes)
    span = f"From {lengths[0]} to {lengths[-1]} tokens, milliseconds for the next one. "
    caption = "With a cache, the cost of the next token hardly grows with the text."
    show(figure, span + told.curves(costs_by_name), "7.6", caption)


def reading(curves: Mapping[str, Mapping[int, float]]) -> None:
    """Draw the bits per byte of unseen text during training, for two tokenizers.

    ``curves`` maps a tokenizer's name to {number of steps: bits per byte}.
    """
    figure, axes = style.subplots(height=2.6, width=4.9)
    looks = ((ORANGE, "--"), (BLUE, "-"))
    for (name, curve), (colour, line) in zip(curves.items(), looks, strict=True):
        steps, bits = list(curve), list(curve.values())
        axes.plot(steps, bits, line, color=colour, label=name, marker="o", ms=4)
    axes.set(xlabel="step of training")
    axes.set_title("bits per byte of unseen text")
    style.name_lines(axes)
    alt = "Bits per byte of unseen text. " + " ".join(
        f"{name}: "
        + ", ".join(f"{told.number(bits)} after {n} steps" for n, bits in curve.items())
        + "."
        for name, curve in curves.items()
    )
    caption = (
        "At every moment, merged pairs of bytes predict the text better than bytes."
    )
    show(figure, alt, "7.7", caption)


def scaling(sizes: Sequence[int], losses: Sequence[float], a: float, b: float) -> None:
    """Draw the losses of models by their sizes, and the line `a * size ** -b`.

    The line is fitted to all models but the last.
    """
    figure, axes = style.subplots(height=2.8, width=4.9)
    line = [float(a * size**-b) for size in sizes]
    axes.plot(sizes, line, "--", color=style.QUIET, label="line through these four")
    axes.plot(sizes[:-1], losses[:-1], "o", color=BLUE, label="trained first")
    axes.plot(sizes[-1:], losses[-1:], "s", color=ORANGE, label="trained afterwards")
    # The two marks may be close: the higher one has its number above, the other below.
    up = losses[-1] > line[-1]
    for word, loss, colour, above in (
        ("measured", losses[-1], ORANGE, up),
        ("predicted", line[-1], style.QUIET, not up),
    ):
        axes.annotate(
            f"{word} {loss:.2f}", (sizes[-1], loss), (9, 1 if above else -1),
            textcoords="offset points", color=colour, size=9,
            va="bottom" if above else "top",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="parameters in the blocks")
    axes.set_yticks([2.0, 2.4, 2.8], ["2.0", "2.4", "2.8"])
    axes.minorticks_off()
    axes.margins(y=0.15)
    axes.set_title("loss on unseen text, nats per byte")
    axes.legend(loc="upper right", reverse=True)
    pairs = ", ".join(
        f"{size:,} parameters {told.number(loss)}"
        for size, loss in zip(sizes, losses, strict=True)
    )
    alt = (
        f"Loss by size: {pairs}. The line predicts {told.number(line[-1])} at the end."
    )
    caption = (
        "The line through four small models predicts the loss of a larger fifth one."
    )
    show(figure, alt, "7.8", caption)
