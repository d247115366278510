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
GUESS = math.log(12)  # the loss of who guesses one of twelve letters


def _guessing(axes: Any, value: float, at: float) -> None:
    """A dotted line for guessing."""
    axes.axhline(value, **style.DOTTED)
    axes.text(
        at, value, "guessing", color=style.QUIET, size=8.5, ha="right", va="bottom"
    )


def placements(runs: Mapping[str, Sequence[Run]]) -> None:
    """Losses and first gradients of pre-norm and post-norm, some seeds each."""
    figure, (left, right) = style.subplots(1, 2, height=2.8)
    said = []
    looks = {"post-norm": (ORANGE, "--"), "pre-norm": (BLUE, "-")}
    for name, (colour, line) in looks.items():
        for seed, (losses, sizes) in enumerate(runs[name]):
            label = name if seed == 0 else None
            left.plot(losses, line, color=colour, label=label, linewidth=1.4)
            layers = range(1, len(sizes) + 1)
            right.plot(layers, sizes, line, marker="o", color=colour, label=label)
            ends = f"loss {told.curve(losses)}, gradient norm {told.curve(sizes)}"
            said.append(f"{name}, seed {seed}: {ends}")
    _guessing(left, GUESS, len(runs["pre-norm"][0][0]))
    left.set(xlabel="step", title="loss, 8 layers, no warm-up", ylim=(1, 4))
    right.set(xlabel="layer", title="gradient norm before the first step")
    right.legend()
    caption = "Where the norm is placed decides whether this training run works."
    show(figure, f"{'; '.join(said)}.", "4.3", caption)


def warmups(losses: Mapping[str, Sequence[float]]) -> None:
    """Post-norm with and without warm-up."""
    figure, axes = style.subplots(height=2.6)
    for (name, values), colour, line in zip(
        losses.items(), (ORANGE, GREEN), ("--", "-"), strict=True
    ):
        axes.plot(values, line, color=colour, label=name, linewidth=1.4)
    _guessing(axes, GUESS, len(values))
    axes.set(xlabel="step", title="loss, 8 layers, post-norm, peak rate 0.005")
    axes.legend(loc="lower left")
    caption = "Post-norm learns once its first steps are small."
    show(figure, f"Loss. {told.curves(losses)}", "4.4", caption)


Named = tuple[str, Sequence[str], Sequence[str], Tensor]  # title, rows, columns, bool


def _allowed(
    parts: Sequence[Named], number: str, caption: str, across: str, height: float = 2.6
) -> None:
    """Yes-or-no matrices side by side."""
    width = min(style.WIDTH, 2.6 * len(parts))
    figure, row = style.subplots(1, len(parts), height=height, width=width)
    said = []
    for axes, (title, rows, columns, matrix) in zip(row, parts, strict=True):
        maps.heat_map(axes, matrix, rows, columns, title, allowed=matrix, values=None)
        said.append(f"{title}: {told.mask(matrix, rows, columns)}")
    figure.supxlabel(across, size=9.5, color=style.QUIET)
    show(figure, " ".join(said), number, caption)


def who_moves(parts: Sequence[Named]) -> None:
    """Which outputs (rows) move when an input (column) changes."""
    caption = "Outputs (rows) that move when an input (column) changes."
    _allowed(parts, "4.6", caption, "the input that changes")


def masks(named: Mapping[str, Tensor], names: Sequence[str]) -> None:
    """The masks of two families, made from one attention mask."""
    parts = [(title, names, names, mask) for title, mask in named.items()]
    caption = "One attention mask, two families. Struck out: masked."
    _allowed(parts, "4.9", caption, "key")


def families(
    hidden: Mapping[str, Sequence[float]], following: Sequence[float], letters: int
) -> None:
    """Accuracy by position: hidden letters, and the next letter."""
    figure, (left, right) = style.subplots(1, 2, height=2.6, sharey=True)
    looks = ((BLUE, "o-"), (ORANGE, "^--"))
    for (name, values), (colour, line) in zip(hidden.items(), looks, strict=True):
        left.plot(values, line, color=colour, label=name)
    right.plot(following, "s-", color=GREEN)
    for axes, end in ((left, 9), (right, 10)):
        _guessing(axes, 1 / letters, end)
        axes.set_xlabel("position")
    left.set_title("encoder-only: hidden letters correct")
    right.set_title("decoder-only: next letter correct")
    left.legend(loc="center left")
    curves = {**{f"hidden letters, {n}": v for n, v in hidden.items()},
              "next letter": following}  # fmt: skip
    said = "; ".join(
        f"{name} by position: {', '.join(f'{v:.2f}' for v in values)}"
        for name, values in curves.items()
    )
    caption = "Share of correct letters by position, for two families."
    show(figure, f"{said}.", "4.10", caption)


def mirror(weights: Tensor, shares: Sequence[float]) -> None:
    """Where each head attends from a hidden letter, `(h, L, L)`."""
    figure, row = style.subplots(1, len(weights), height=2.3)
    places, said = range(weights.size(-1)), []
    for head, (axes, one) in enumerate(zip(row, weights, strict=True)):
        maps.heat_map(
            axes, one, (), (), f"head {head}: {shares[head]:.0%}", values=None
        )
        axes.set_xticks(places[::3], places[::3])
        axes.set_yticks(places[::3], places[::3])
        said.append(f"head {head}: {shares[head]:.0%}")
    row[0].set_ylabel("hidden letter")
    figure.supxlabel("attends to", size=9.5, color=style.QUIET)
    show(
        figure,
        f"Attention from hidden letters; on the mirror image: {', '.join(said)}.",
        "4.11",
        "Where four heads attend when a letter is hidden, and the weight on its mirror "
        "image.",
    )


def crossing(weights: Tensor, writes: Sequence[str], reads: Sequence[str]) -> None:
    """Cross-attention from the words that are written to those that are read."""
    figure, axes = style.subplots(height=3.2, width=4.6)
    maps.heat_map(axes, weights, [f"→ {word}" for word in writes], reads)
    caption = "Cross-attention, mean of the heads: from the word that is written next."
    show(figure, told.weights(weights, writes, reads), "4.12", caption)
