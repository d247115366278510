"""The figures of unit 9. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from autograder.checks.display import show, show_steps
from autograder.figures import maps, style, told
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, ORANGE

LOOKS = ((ORANGE, "--"), (BLUE, "-"))


def cliff(curves: Mapping[str, Sequence[float]]) -> None:
    """Draw the losses of two training runs; each point is the mean of ten steps."""
    figure, axes = style.subplots(height=2.5, width=6.0)
    smooth = {
        name: [sum(losses[i : i + 10]) / 10 for i in range(0, len(losses), 10)]
        for name, losses in curves.items()
    }
    for (name, losses), (colour, line) in zip(smooth.items(), LOOKS, strict=True):
        axes.plot(
            range(0, 10 * len(losses), 10), losses, line, color=colour, label=name
        )
    axes.set(xlabel="step", title="loss on tokens that can be known", ylim=(0, None))
    style.name_lines(axes)
    caption = "With one layer the loss creeps; with two it falls off a cliff."
    show(figure, f"Loss over steps. {told.curves(smooth)}", "9.2", caption)


def stripes(weights: Tensor, period: int, titles: Sequence[str]) -> None:
    """Draw the attention maps of all heads on one periodic text, side by side.

    ``weights`` have the shape `(heads, L, L)`; a dotted line marks the ``period``.
    """
    figure, row = style.subplots(1, len(weights), height=2.2, sharey=True)
    for axes, head_weights, title in zip(row, weights, titles, strict=True):
        maps.image(axes, head_weights, top=1.0)
        axes.axhline(period - 0.5, **style.DOTTED)
        axes.set(aspect="equal", xticks=[0, 20, 39], yticks=[0, 20, 39])
        axes.set_title(title, size=9)
    row[0].set_ylabel("query")
    figure.supxlabel("key", size=9.5, color=style.QUIET)
    caption = (
        f"A text of period {period}. Layer 0 looks one token back; layer 1, once the "
        "text repeats (dotted), looks at what followed last time."
    )
    show(figure, f"Attention maps. {'; '.join(titles)}.", "9.3", caption)


def bus(contributions: Mapping[str, float], token: str) -> None:
    """Draw how the parts of a model add up to a token's logit, one part per step.

    ``contributions`` maps each part, in order, to what it adds to the logit.
    """
    names, values = [*contributions], [*contributions.values()]
    tall = max(map(abs, values))
    frames, alts = [], []
    captions: dict[str, str] = {}
    for count in range(1, len(names) + 1):
        figure, axes = style.subplots(height=2.4, width=6.4)
        _draw_bus(axes, names, values, count, tall)
        total = sum(values[:count])
        sentence = (
            f"{names[count - 1]} writes {values[count - 1]:+.1f}; "
            f"the logit of {token} is now {total:.1f}."
        )
        frames.append(figure)
        captions[names[count - 1]] = sentence[0].upper() + sentence[1:]
        alts.append(sentence)
    caption = "The residual stream as a bus: each part adds its share of one logit."
    show_steps(frames, captions, alts, "9.4", caption, opened=-1)


def _draw_bus(
    axes: Any, names: Sequence[str], values: Sequence[float], count: int, tall: float
) -> None:
    """Draw the residual stream as a line, with bars for what parts add to a logit.

    Only the first ``count`` parts get a bar; ``tall`` sets the vertical scale.
    """
    end = len(names) + 0.6
    axes.plot((-0.6, end), (0, 0), color=style.QUIET, linewidth=5, alpha=0.35)
    axes.plot((-0.6, count - 0.4), (0, 0), color=BLUE, linewidth=5)
    for x, (name, value) in enumerate(zip(names, values, strict=True)):
        axes.text(x, min(0, *values) - 0.3 * tall, name, ha="center", va="top", size=9)
        if x < count:
            colour = BLUE if value > 0 else ORANGE
            axes.bar(x, value, 0.5, color=colour, alpha=0.68)
            side, away = ("bottom", 3) if value > 0 else ("top", -4)
            axes.annotate(
                f"{value:+.1f}", (x, value), (0, away), textcoords="offset points",
                ha="center", va=side, size=9,
            )  # fmt: skip
    axes.text(end, 0.12 * tall, f"logit {sum(values[:count]):.1f}", ha="right", size=10)
    style.bare(axes)
    low = min(0.0, *values) - 0.6 * tall
    axes.set(xlim=(-0.7, end + 0.2), ylim=(low, 1.25 * tall))


def contributions(values: Mapping[str, float]) -> None:
    """Draw what parts of the chat model, by name, add to logit(Paris) - logit(Rome)."""
    figure, axes = style.subplots(height=2.9, width=6.0)
    colours = [BLUE if value > 0 else ORANGE for value in values.values()]
    bars(axes, values, "+.2f", colours)
    end = 1.3 * max(map(abs, values.values()))
    axes.set_xlim(-end, end)
    axes.invert_yaxis()
    axes.set_title("contribution to logit(Paris) − logit(Rome)")
    caption = "The ten parts of the chat model that write most about Paris or Rome."
    show(figure, f"Contributions: {told.bars(values)}", "9.5", caption)


def patching(effects: Sequence[Sequence[float]], tokens: Sequence[str]) -> None:
    """Draw the map of activation patching for two texts about France and Italy.

    ``effects``, `(blocks, L)`, are the shares of the effect that the states
    entering each block carry.
    """
    figure, axes = style.subplots(height=4.6, width=4.6)
    mappable = maps.image(axes, _show_table(effects), signed=True, top=1.0)
    axes.set_xticks(range(len(tokens)), tokens)
    axes.set_yticks(range(0, len(effects), 3))
    axes.set(xlabel="position", ylabel="the state that enters block")
    maps.colour_bar(figure, mappable, axes, "share of the effect")
    # For each block, the position with the largest effect; it changes at some block.
    carriers = [max(range(len(row)), key=row.__getitem__) for row in effects]
    change = next(i for i, at in enumerate(carriers) if at != carriers[0])
    alt = (
        f"Up to block {change - 1} the effect is at '{tokens[carriers[0]]}', "
        f"from block {change} on at '{tokens[carriers[change]]}', elsewhere near 0."
    )
    caption = "Where the difference between France and Italy is, block by block."
    show(figure, alt, "9.6", caption)


def _show_table(rows: Sequence[Sequence[float]]) -> Any:
    import numpy as np

    return np.array(rows)


def sinks(first: Sequence[float], second: Sequence[float]) -> None:
    """Draw the mean attention weights on the first and on the second token, by block.

    ``second`` is measured with the first token masked.
    """
    figure, axes = style.subplots(height=2.5, width=6.0)
    curves = {"first token": first, "second, if the first is masked": second}
    for (name, values), (colour, line) in zip(curves.items(), LOOKS[::-1], strict=True):
        axes.plot(values, line, color=colour, label=name)
    axes.set(xlabel="block", title="mean attention weight", ylim=(0, 1))
    style.name_lines(axes)
    caption = "Half of all attention goes to the first token, or to whatever is first."
    show(figure, f"Mean weight by block. {told.curves(curves)}", "9.7", caption)
