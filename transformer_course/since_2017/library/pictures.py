"""The figures of unit 7. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from torch import Tensor

from autograder.checks.display import show, show_steps
from autograder.figures import maps, style, told
from autograder.figures.style import BLUE, ORANGE, PALETTE

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def clocks(turned: Tensor, scores: Tensor, stops: Sequence[int]) -> None:
    """Steps: a query at one position after the other, and its score with a key at 0.

    Args:
        turned: a vector, rotated for each position, `(L, d_k)`; pair j is j, j + d_k/2.
        scores: by position, the dot product with the vector at position 0, `(L,)`.
    """
    from matplotlib.patches import Circle

    frames, said, alts = [], [], []
    half, values = turned.size(-1) // 2, scores.tolist()
    for at in stops:
        figure, row = style.subplots(
            1, half + 1, height=2.0, gridspec_kw={"width_ratios": [1] * half + [2.2]}
        )
        for pair, axes in enumerate(row[:-1]):
            axes.add_patch(Circle((0, 0), 1, fill=False, color=style.HAIR, lw=1.2))
            for place, colour in ((0, style.QUIET), (at, BLUE)):
                hand = turned[place, [pair, pair + half]].tolist()
                arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkB": 0}
                axes.annotate("", hand, (0, 0), arrowprops=arrow)
            style.bare(axes)
            axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
            axes.set_title(f"pair {pair}")
        row[-1].plot(values, color=style.QUIET, linewidth=1.4)
        row[-1].plot(at, values[at], "o", color=BLUE)
        row[-1].set(title="score by distance", xlabel="distance")
        frames.append(figure)
        said.append(f"Query at position {at}, key at 0: the score is {values[at]:.2f}.")
        dots = [float(turned[at, [p, p + half]] @ turned[0, [p, p + half]])
                for p in range(half)]  # fmt: skip
        parts = ", ".join(f"pair {p} {told.number(dot)}" for p, dot in enumerate(dots))
        alts.append(f"What each pair adds to the score at distance {at}: {parts}.")
    caption = (
        "Rotary clocks. Grey: the key at position 0. Blue: the query. The score is the "
        "sum over the pairs of the cosine between the two hands."
    )
    show_steps(frames, said, alts, "7.2", caption)


def cache(without: Sequence[int], cached: Sequence[int]) -> None:
    """Steps: what is computed for each new token, without a cache and with one.

    Args:
        without, cached: positions whose keys the layer projected, token by token.
    """
    frames, said, alts = [], [], []
    count = len(without)
    for n in range(1, count + 1):
        figure, row = style.subplots(1, 2, height=2.8)
        for axes, title, new in ((row[0], "without a cache", without[n - 1]),
                                 (row[1], "with a cache", cached[n - 1])):  # fmt: skip
            _triangle(axes, count, n, new)
            axes.set_title(title)
        frames.append(figure)
        said.append(
            f"Token {n}. Keys computed: {without[n - 1]} without a cache; "
            f"{cached[n - 1]} with one, which looks up {n - cached[n - 1]}."
        )
        sums = sum(without[:n]), sum(cached[:n])
        alts.append(f"Computed so far: {sums[0]} without a cache, {sums[1]} with one.")
    caption = "What a new token costs: computed now (full), looked up (pale)."
    show_steps(frames, said, alts, "7.5", caption)


def _triangle(axes: Any, count: int, n: int, new: int) -> None:
    """Scores of n positions, and their keys; the last ``new`` ones are computed."""
    full, pale, none = (style.sequential()(part) for part in (1.0, 0.25, 0.0))
    for i in range(count):
        for j in range(i + 1):
            maps.cell(axes, i, j, full if n - new <= i < n else none, "")
    for j in range(n):
        maps.cell(axes, count + 0.6, j, full if j >= n - new else pale, f"k{j}")
    style.bare(axes)
    axes.set_yticks([(count - 1) / 2, count + 0.6], ["scores", "keys and\nvalues"])
    axes.set(xlim=(-0.6, count - 0.4), ylim=(count + 1.2, -0.6), aspect="equal")


def cost(lengths: Sequence[int], named: Mapping[str, Sequence[float]]) -> None:
    """Milliseconds for the next token."""
    figure, axes = _two(lengths, named, xlabel="tokens so far", ylim=(0, None))
    axes.set_title("milliseconds for the next token")
    ends = f"From {lengths[0]} to {lengths[-1]} tokens, milliseconds for the next one. "
    caption = "What the next token costs, with and without a cache."
    show(figure, ends + told.curves(named), "7.6", caption)


def _two(
    xs: Sequence[int], named: Mapping[str, Sequence[float]], marker: str = "",
    **more: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Two curves that colour and line tell apart, and their legend."""
    figure, axes = style.subplots(height=2.6, width=6.0)
    looks = ((ORANGE, f"--{marker}"), (BLUE, f"-{marker}"))
    for (name, values), (colour, line) in zip(named.items(), looks, strict=True):
        axes.plot(xs[: len(values)], values, line, color=colour, label=name)
    style.legend(axes)
    axes.set(**more)
    return figure, axes


def sinks(mean: Tensor) -> None:
    """Mean attention weights of all heads, `(blocks, h, L, L)`."""
    blocks, heads = mean.shape[:2]
    figure, grid = style.subplots(blocks, heads, height=4.2, sharex=True, sharey=True)
    said = []
    for block in range(blocks):
        for head in range(heads):
            axes = grid[block, head]
            maps.image(axes, mean[block, head], top=0.3)
            first = float(mean[block, head, 32:, 0].mean())
            axes.set(title=f"block {block}, head {head}", aspect="equal")
            said.append(f"block {block}, head {head}: {first:.1%}")
    figure.supxlabel("attends to", size=9.5, color=style.QUIET)
    figure.supylabel("position in the window", size=9.5, color=style.QUIET)
    alt = (
        f"Mean attention maps; the weight of the first byte is, for {'; '.join(said)}."
    )
    caption = "Mean attention weights of each head, over 100 windows."
    show(figure, alt, "7.11", caption)


def exchanges(losses: Mapping[str, Sequence[float]]) -> None:
    """Training loss over steps, with one part replaced at a time."""
    figure, axes = style.subplots(height=3.0)
    smooth = {name: _smooth(values) for name, values in losses.items()}
    colours = (style.INK, *PALETTE)
    for (name, values), colour, line in zip(
        smooth.items(), colours, LINES, strict=False
    ):
        axes.plot(values, color=colour, linestyle=line, label=name, lw=1.8)
    axes.set(xlabel="step", title="training loss", ylim=(None, 2.6))
    style.legend(axes)
    caption = "Training loss with one part at a time replaced by its ancestor of 2017."
    show(figure, f"Training loss over steps. {told.curves(smooth)}", "7.12", caption)


def _smooth(values: Sequence[float], window: int = 25) -> list[float]:
    """The mean of each value and those before it, as many as the window holds."""
    parts = [values[max(0, n - window) : n] for n in range(1, len(values) + 1)]
    return [sum(part) / len(part) for part in parts]


def positions(lengths: Sequence[int], losses: Mapping[str, Sequence[float]]) -> None:
    """Loss on fresh text by the length of the window."""
    figure, axes = style.subplots(height=2.8, width=6.0)
    looks = zip(reversed(PALETTE[:4]), reversed(LINES[:4]), "^Dso", strict=True)
    for (name, values), (colour, line, marker) in zip(
        losses.items(), looks, strict=True
    ):
        look = {"color": colour, "linestyle": line, "marker": marker}
        axes.plot(lengths, values, label=name, **look)
    axes.set(xlabel="bytes in a window", title="loss on fresh text")
    axes.set_xticks(lengths, lengths)
    style.legend(axes)
    caption = "Four kinds of positions, on windows longer than those in training."
    show(figure, f"Loss at {', '.join(map(str, lengths))} bytes. {told.curves(losses)}",
         "7.13", caption)  # fmt: skip


def largest_scores(curves: Mapping[str, Sequence[float]]) -> None:
    """The largest score on new text, every tenth step."""
    caption = "The largest score while training, with and without norms."
    _every_tenth(curves, "largest score", "7.7", caption)


def windows(lengths: Sequence[int], losses: Mapping[str, Sequence[float]]) -> None:
    """Loss on new text by the number of bytes that are read at a time."""
    figure, axes = _two(lengths, losses, "o", xlabel="bytes read at a time")
    axes.set_title("loss on new text")
    axes.set_xticks(lengths, lengths)
    caption = f"Trained at {lengths[0]} bytes, measured at longer texts."
    show(figure, f"Loss at {', '.join(map(str, lengths))} bytes. {told.curves(losses)}",
         "7.8", caption)  # fmt: skip


def loads(curves: Mapping[str, Sequence[float]]) -> None:
    """The share of the least used expert of any block, every tenth step."""
    caption = "The least used of four experts; dotted: an even load."
    _every_tenth(curves, "share of the least used expert", "7.9", caption, even=0.25)


def optimizers(curves: Mapping[str, Sequence[float]]) -> None:
    """Training loss over steps, a mean of ten."""
    tenths = {
        name: [fmean(losses[i : i + 10]) for i in range(0, len(losses), 10)]
        for name, losses in curves.items()
    }
    caption = "Two optimizers, equal weights and batches."
    _every_tenth(tenths, "training loss", "7.10", caption)


def _every_tenth(
    curves: Mapping[str, Sequence[float]],
    title: str,
    number: str,
    caption: str,
    even: float | None = None,
) -> None:
    """Two curves over steps, of which each tenth is known."""
    steps = range(0, 10 * max(map(len, curves.values())), 10)
    figure, axes = _two(steps, curves, xlabel="steps", title=title)
    if even is not None:
        axes.axhline(even, **style.DOTTED)
    alt = f"{title.capitalize()} over steps. {told.curves(curves)}"
    show(figure, alt, number, caption)


def rewards(log: Sequence[float]) -> None:
    """The mean reward of each step."""
    figure, axes = style.subplots(height=2.4, width=6.0)
    axes.plot(log, color=style.QUIET, linewidth=0.8)
    axes.plot(_smooth(log, 8), color=BLUE)
    axes.set(xlabel="step", title="mean reward of the sampled answers", ylim=(0, 1.05))
    alt = f"Mean reward over {len(log)} steps, {told.curve(_smooth(log, 8))}."
    caption = "GRPO: the mean reward of each step, and of the last eight."
    show(figure, alt, "7.14", caption)
