"""The figures of unit 4. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from autograder.checks.display import show
from autograder.figures import maps, style, told
from autograder.figures.style import BLUE, GREEN, ORANGE

Run = tuple[Sequence[float], Sequence[float]]  # losses, gradient norms by layer
GUESS = math.log(12)  # the loss of guessing one of twelve letters


def _draw_guessing(axes: Any, value: float, at: float, below: bool = False) -> None:
    """Draw a line at ``value`` labelled "guessing"; the label ends at x = ``at``."""
    axes.axhline(value, **style.DOTTED)
    axes.annotate(
        "guessing", (at, value), (0, -5 if below else 1), textcoords="offset points",
        color=style.QUIET, size=8.5, ha="right", va="top" if below else "bottom",
    )  # fmt: skip


def placements(runs: Mapping[str, Sequence[Run]]) -> None:
    """Draw losses and initial gradient norms of pre- and post-norm, for some seeds.

    Under "post-norm" and "pre-norm", ``runs`` has a run for each seed: the loss of
    each step, and each layer's gradient norm before the first step.
    """
    figure, (left, right) = style.subplots(1, 2, height=2.8)
    descriptions = []
    looks = {"post-norm": (ORANGE, "--"), "pre-norm": (BLUE, "-")}
    for name, (colour, line) in looks.items():
        for seed, (losses, sizes) in enumerate(runs[name]):
            left.plot(losses, line, color=colour, linewidth=1.4)
            layers = range(1, len(sizes) + 1)
            right.plot(layers, sizes, line, marker="o", color=colour)
            descriptions.append(
                f"{name}, seed {seed}: loss {told.curve(losses)}, "
                f"gradient norm {told.curve(sizes)}"
            )
        # Post-norm is named above its curves, and pre-norm below.
        ends = [losses[-1] for losses, _ in runs[name]]
        above = name == "post-norm"
        y, side = (max(ends) + 0.15, "bottom") if above else (min(ends) - 0.15, "top")
        left.text(len(losses), y, name, color=colour, ha="right", va=side)
    steps = len(runs["pre-norm"][0][0])
    _draw_guessing(left, GUESS, steps, below=True)
    left.set(xlabel="step", title="loss, 8 layers, no warm-up", ylim=(1, 4))
    right.set(xlabel="layer", title="gradient norm before the first step")
    caption = (
        f"With each of {len(runs['pre-norm'])} seeds (one line each), only pre-norm "
        f"leaves the level of guessing within {steps} steps."
    )
    show(figure, f"{'; '.join(descriptions)}.", "4.4", caption)


def warmups(losses: Mapping[str, Sequence[float]]) -> None:
    """Draw the loss of post-norm with and without warm-up.

    ``losses`` maps labels to the loss of each step, first without warm-up.
    """
    figure, axes = style.subplots(height=2.6)
    for (name, values), colour, line in zip(
        losses.items(), (ORANGE, GREEN), ("--", "-"), strict=True
    ):
        axes.plot(values, line, color=colour, label=name, linewidth=1.4)
    _draw_guessing(axes, GUESS, len(values))
    axes.set(xlabel="step", title="loss, 8 layers, post-norm, peak rate 0.005")
    style.name_lines(axes)
    caption = "With small first steps, post-norm leaves the level of guessing as well."
    show(figure, f"Loss. {told.curves(losses)}", "4.5", caption)


Named = tuple[str, Sequence[str], Sequence[str], Tensor]  # title, rows, columns, bool


def _draw_masks(
    parts: Sequence[Named], number: str, caption: str, down: str, across: str
) -> None:
    """Draw Boolean matrices side by side; ``down`` and ``across`` label their axes."""
    width = min(style.WIDTH, 2.6 * len(parts))
    figure, row = style.subplots(1, len(parts), width=width)
    descriptions = []
    for axes, (title, rows, columns, matrix) in zip(row, parts, strict=True):
        maps.heat_map(axes, matrix, rows, columns, title, allowed=matrix, values=None)
        descriptions.append(f"{title}: {told.mask(matrix, rows, columns)}")
    row[0].set_ylabel(down)
    figure.supxlabel(across, size=9.5, color=style.QUIET)
    show(figure, " ".join(descriptions), number, caption)


def who_moves(parts: Sequence[Named]) -> None:
    """Draw which outputs (rows) change when an input (column) changes.

    A part is a title, the names of rows and columns, and a Boolean matrix.
    """
    caption = "A cell is filled if its output (row) changes with its input (column)."
    _draw_masks(parts, "4.7", caption, "output", "the input that changes")


# FLOPs of attention and network; entries of attention weights and hidden vectors.
Cost = tuple[int, int, int, int]


def costs(lengths: Sequence[int], layer_costs: Sequence[Cost]) -> None:
    """Draw the costs of attention and of the feed-forward network, by length.

    A cost is the FLOPs of attention and of the network, and the numbers of
    attention weights and of hidden activations that are kept for the backward pass.
    """
    figure, row = style.subplots(1, 2, height=2.8)
    attention, network, weights, hidden = map(list, zip(*layer_costs, strict=True))
    parts = (
        ("FLOPs", {"attention": attention, "feed-forward": network}),
        ("entries kept for the backward pass",
         {"attention weights": weights, "hidden vectors": hidden}),
    )  # fmt: skip
    crossings = []
    for axes, (title, curves) in zip(row, parts, strict=True):
        # The first curve's name stands left of its end, the second's below it.
        for (name, values), colour, line, away in zip(
            curves.items(), (ORANGE, BLUE), ("-", "--"), ((-14, 0), (0, -34)),
            strict=True,
        ):  # fmt: skip
            axes.plot(lengths, values, line, color=colour)
            end = (lengths[-1], values[-1])
            axes.annotate(name, end, away, textcoords="offset points", color=colour,
                          ha="right", va="center")  # fmt: skip
        first, second = curves.values()
        # the lengths from which the first cost is at least the second
        over = [n for n, a, b in zip(lengths, first, second, strict=True) if a >= b]
        crossings.append(f"at {over[0]:,} tokens" if over else "at no length shown")
        if over:
            axes.axvline(over[0], **style.DOTTED)
            axes.text(1.1 * over[0], min(first), f"L = {over[0]:,}", color=style.QUIET,
                      size=8.5)  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set(xlabel="length L", title=title)
    caption = (
        f"Attention overtakes the network {crossings[1]} in memory, and {crossings[0]} "
        "in FLOPs."
    )
    alt = f"Costs of {lengths[0]:,} to {lengths[-1]:,} tokens. {caption}"
    show(figure, alt, "4.10", caption)


def masks(masks_by_title: Mapping[str, Tensor], names: Sequence[str]) -> None:
    """Draw masks `(L, L)` side by side; ``names`` label queries and keys."""
    parts = [(title, names, names, mask) for title, mask in masks_by_title.items()]
    caption = (
        "From the same padding, BERT hides pads only; GPT hides pads and the future."
    )
    _draw_masks(parts, "4.11", caption, "query", "key")


def families(
    masked: Mapping[str, Sequence[float]], following: Sequence[float], letters: int
) -> None:
    """Draw accuracy by position, for predicting masked letters and the next letter.

    ``masked`` are accuracies of encoder-only models by name, ``following`` those of
    the decoder-only model. ``letters`` is the size of the alphabet.
    """
    figure, (left, right) = style.subplots(1, 2, height=2.6, sharey=True)
    looks = ((BLUE, "o-"), (ORANGE, "^--"))
    for (name, values), (colour, line) in zip(masked.items(), looks, strict=True):
        left.plot(values, line, color=colour)
        y, side = (values[0] - 0.05, "top") if values[0] > 0.5 else (
            values[0] + 0.05, "bottom")  # fmt: skip
        left.text(0, y, name, color=colour, va=side)
    right.plot(following, "s-", color=GREEN)
    for axes, end in ((left, 9), (right, 10)):
        _draw_guessing(axes, 1 / letters, end)
        axes.set_xlabel("position")
    left.set_title("masked letters: accuracy, encoder-only")
    right.set_title("next letter: accuracy, decoder-only")
    curves = {**{f"masked letters, {n}": v for n, v in masked.items()},
              "next letter": following}  # fmt: skip
    description = "; ".join(
        f"{name} by position: {', '.join(f'{v:.2f}' for v in values)}"
        for name, values in curves.items()
    )
    caption = "Where the mirror image is in the future, a model can only guess."
    show(figure, f"{description}.", "4.12", caption)


def mirror(weights: Tensor, shares: Sequence[float]) -> None:
    """Draw where each head attends from each position, if the letter there is masked.

    ``weights`` is `(h, L, L)`, for a palindrome. ``shares`` are the heads' mean
    weights on the mirror image of the masked position.
    """
    figure, row = style.subplots(1, len(weights), height=2.3)
    ticks, descriptions = range(0, weights.size(-1), 3), []
    for head, (axes, head_weights) in enumerate(zip(row, weights, strict=True)):
        maps.heat_map(
            axes, head_weights, (), (), f"head {head}: {shares[head]:.0%}", values=None
        )
        axes.set_xticks(ticks, ticks)
        axes.set_yticks(ticks, ticks)
        descriptions.append(f"head {head}: {shares[head]:.0%}")
    row[0].set_ylabel("masked letter")
    figure.supxlabel("attends to", size=9.5, color=style.QUIET)
    weights_there = ", ".join(descriptions)
    alt = f"Attention from masked letters; on the mirror image: {weights_there}."
    caption = (
        "When a letter is masked, each head attends somewhere else; the percentage is "
        "its weight on the mirror image."
    )
    show(figure, alt, "4.13", caption)


def crossing(weights: Tensor, writes: Sequence[str], reads: Sequence[str]) -> None:
    """Draw the cross-attention `(Lt, Ls)` from the target's words to the source's.

    The decoder ``writes`` the words of the target, and ``reads`` the source's.
    """
    figure, axes = style.subplots(height=3.2, width=4.6)
    maps.heat_map(axes, weights, [f"→ {word}" for word in writes], reads)
    axes.set(xlabel="source", ylabel="about to write")
    caption = "The decoder attends to the words that it is about to translate."
    show(figure, told.weights(weights, writes, reads), "4.14", caption)
