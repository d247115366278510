"""The figures of unit 9. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import fmean
from typing import Any

from torch import Tensor

from autograder.checks.display import show, show_steps
from autograder.figures import maps, style, told
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, ORANGE

LOOKS = ((ORANGE, "--"), (BLUE, "-"))


def _spell(part: str) -> str:
    """Name a part of a model: "(1, 0)" is "head (1, 0)", "ffn 2" is "network 2"."""
    if part.startswith("("):
        return f"head {part}"
    return part.replace("ffn", "network")


def cliff(curves: Mapping[str, Sequence[float]]) -> None:
    """Draw the losses of two training runs; each point is the mean of ten steps."""
    figure, axes = style.subplots(height=2.5, width=4.9)
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
    A title is a head and its score, such as "(0, 1): 0.72".
    """
    figure, row = style.subplots(1, len(weights), height=2.2, sharey=True)
    for axes, head_weights, title in zip(row, weights, titles, strict=True):
        maps.image(axes, head_weights, top=1.0)
        axes.axhline(period - 0.5, **style.DOTTED)
        axes.set(aspect="equal", xticks=[0, 20, 39], yticks=[0, 20, 39])
        head, score = title.split(": ")
        # One token back, or to what followed the previous occurrence?
        back, followed = (head_weights.diagonal(-n).mean() for n in (1, period - 1))
        kind = "previous" if back > followed else "induction"
        axes.set_title(f"{_spell(head)}\n{kind} {score}", size=9)
    row[0].set_ylabel("query")
    figure.supxlabel("key", size=9.5, color=style.QUIET)
    caption = (
        "Layer 0 looks one token back; layer 1, once the text repeats (dotted), at "
        "what followed last time. Above each map is the head's score."
    )
    show(figure, f"Attention maps. {'; '.join(titles)}.", "9.3", caption)


def bus(contributions: Mapping[str, float], token: str) -> None:
    """Draw how the parts of a model add up to a token's logit, one part per step.

    ``contributions`` maps each part, in order, to what it adds to the logit.
    """
    names, values = [*map(_spell, contributions)], [*contributions.values()]
    frames, alts = [], []
    captions: dict[str, str] = {}
    for count in range(1, len(names) + 1):
        figure, axes = style.subplots(height=2.6, width=5.6)
        _draw_bus(axes, names, values, count)
        total = sum(values[:count])
        sentence = (
            f"{names[count - 1]} writes {style.number(values[count - 1], '+.1f')}; "
            f"the logit of {token} is now {total:.1f}."
        )
        frames.append(figure)
        captions[names[count - 1]] = sentence[0].upper() + sentence[1:]
        alts.append(sentence)
    caption = "Each part adds its share to one logit, from where the last one ended."
    show_steps(frames, captions, alts, "9.4", caption, opened=-1)


def _draw_bus(
    axes: Any, names: Sequence[str], values: Sequence[float], count: int
) -> None:
    """Draw how the first ``count`` parts add up to a logit, each from the last sum."""
    sums = [0.0, *accumulate(values)]
    room = max(sums) - min(sums)
    for x, value in enumerate(values[:count]):
        end = sums[x + 1]
        axes.bar(x, value, 0.6, bottom=sums[x], color=BLUE if value > 0 else ORANGE)
        axes.text(
            x,
            max(sums[x], end) + 0.03 * room,
            style.number(value, "+.1f"),
            ha="center",
            size=9,
        )
        axes.plot((x + 0.3, x + 0.7), (end, end), color=style.QUIET, linewidth=1)
    total = sums[count]
    axes.bar(len(values), total, 0.6, color=style.QUIET)
    axes.text(len(values), max(0.0, total) + 0.03 * room, f"logit {total:.1f}",
              ha="center")  # fmt: skip
    style.bare(axes)
    axes.axhline(0, color=style.HAIR, linewidth=1)
    axes.set_xticks(range(len(names)), names)
    axes.set(xlim=(-0.6, len(values) + 0.6))
    axes.set_ylim(min(sums) - 0.05 * room, max(sums) + 0.15 * room)


def contributions(values: Mapping[str, float]) -> None:
    """Draw what parts of the chat model, by name, add to logit(Paris) - logit(Rome)."""
    values = {_spell(part): value for part, value in values.items()}
    figure, axes = style.subplots(height=2.9, width=4.9)
    colours = [BLUE if value > 0 else ORANGE for value in values.values()]
    bars(axes, values, "+.2f", colours)
    end = 1.3 * max(map(abs, values.values()))
    axes.set_xlim(-end, end)
    axes.invert_yaxis()
    axes.set_title("contribution to logit(Paris) − logit(Rome)")
    most, least = (end(values, key=values.__getitem__) for end in (max, min))
    caption = (
        f"Blue parts vote for Paris, above all {most}; orange ones vote for Rome, "
        f"above all {least}."
    )
    show(figure, f"Contributions: {told.bars(values)}", "9.5", caption)


def patching(effects: Sequence[Sequence[float]], tokens: Sequence[str]) -> None:
    """Draw the map of activation patching for two texts about France and Italy.

    ``effects``, `(blocks, L)`, are the shares of the effect that the states
    entering each block carry.
    """
    figure, axes = style.subplots(height=3.4, width=4.6)
    mappable = maps.image(axes, _show_table(effects), top=1.0)
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
    axes.axhline(change - 0.5, **style.DOTTED)
    caption = (
        f"The effect is at “{tokens[carriers[0]]}” until block {change - 1} (dotted) "
        f"moves it to “{tokens[carriers[change]]}”."
    )
    show(figure, alt, "9.6", caption)


def _show_table(rows: Sequence[Sequence[float]]) -> Any:
    import numpy as np

    return np.array(rows)


def sinks(first: Sequence[float], second: Sequence[float]) -> None:
    """Draw the mean attention weights on the first and on the second token, by block.

    ``second`` is measured with the first token masked.
    """
    figure, axes = style.subplots(height=2.5, width=5.6)
    curves = {"first token": first, "second, if the first is masked": second}
    for (name, values), (colour, line) in zip(curves.items(), LOOKS[::-1], strict=True):
        axes.plot(values, line, color=colour, label=name)
    mean = fmean(first)
    axes.axhline(mean, **style.DOTTED)
    axes.set(xlabel="block", title="mean attention weight", ylim=(0, 1))
    style.name_lines(axes)
    caption = (
        f"The first token gets {mean:.0%} of all attention, averaged over the blocks "
        "(dotted); if it is masked, the second one is treated like it."
    )
    show(figure, f"Mean weight by block. {told.curves(curves)}", "9.7", caption)
