"""The figures of unit 6. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from autograder.checks.display import show
from autograder.figures import maps, style, told
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, ORANGE
from autograder.library import experiments

Curve = Sequence[tuple[int, float]]  # examples seen, BLEU


def _told(curve: Curve) -> str:
    return ", ".join(f"{bleu:.0f} after {seen:,}" for seen, bleu in curve)


def your_curve(curve: Curve, inserter: float) -> None:
    """BLEU over the examples seen, beside the best model without a network."""
    figure = experiments.plot_curves([{"model": "yours", "curve": curve}], "model")
    axes = figure.axes[0]
    axes.axhline(inserter, **style.DOTTED)
    axes.text(curve[-1][0], inserter - 1, "insert the commonest", ha="right", va="top",
              size=8.5, color=style.QUIET)  # fmt: skip
    alt = f"BLEU on dev, {_told(curve)} examples; the inserter has {inserter:.0f}."
    show(figure, alt, "6.2", "Your model's BLEU on dev over the examples it has seen.")


def shipped_curve(curve: Curve) -> None:
    """BLEU of the shipped model while it was trained."""
    figure = experiments.plot_curves([{"model": "shipped", "curve": curve}], "model")
    caption = "The shipped model's BLEU on dev over the examples it has seen."
    show(figure, f"BLEU on dev, {_told(curve)} examples.", "6.3", caption)


def cross_attention(
    weights: Tensor, reads: Sequence[str], writes: Sequence[str]
) -> None:
    """The map of the last layer, mean of the heads, `(Lt, Ls)`."""
    figure, axes = style.subplots(height=1.2 + 0.36 * len(writes), width=5.4)
    maps.heat_map(axes, weights, writes, reads, size=7)
    axes.set(xlabel="source", ylabel="what is written next")
    show(
        figure,
        f"Cross-attention. {told.weights(weights, writes, reads)}",
        "6.4",
        "Cross-attention of the last layer, mean of the heads. ▁ stands for the space "
        "in front of a piece.",
    )


def mistakes(kinds: Sequence[str], counts: Mapping[str, Sequence[int]]) -> None:
    """Kinds of mistakes of two models."""
    figure, row = style.subplots(1, len(counts), height=2.1, sharey=True)
    said, most = [], max(1, *(n for found in counts.values() for n in found))
    for axes, (name, found), colour in zip(
        row, counts.items(), (ORANGE, BLUE), strict=True
    ):
        named = dict(zip(kinds, found, strict=True))
        bars(axes, named, "d", colour, most=1.2 * most)
        axes.set_title(name)
        listed = (f"{kind} {n}" for kind, n in named.items())
        said.append(f"{name}: {', '.join(listed)}")
    row[0].invert_yaxis()
    alt = f"Mistakes in 200 sentences. {'. '.join(said)}."
    show(figure, alt, "6.5", "Mistakes in 200 sentences, by kind.")


def experiment(rows: Sequence[Mapping[str, Any]], label: str) -> None:
    """One curve for each run of an experiment."""
    alts = [f"{label} = {row[label]}: {_told(row['curve'])}" for row in rows]
    caption = f"BLEU on dev over the examples seen, one curve for each {label}."
    show(experiments.plot_curves(rows, label), "; ".join(alts), caption=caption)
