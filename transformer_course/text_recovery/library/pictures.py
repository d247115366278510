"""The figures of unit 6. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from autograder.checks.display import show
from autograder.figures import maps, style, told
from autograder.figures.style import BLUE, GREEN, ORANGE


def cross_attention(
    weights: Tensor, reads: Sequence[str], writes: Sequence[str]
) -> None:
    """Draw the attention map of the last layer, `(Lt, Ls)`, averaged over its heads.

    ``reads`` are the Ls tokens of the source, ``writes`` the Lt that are written.
    """
    figure, axes = style.subplots(height=1.2 + 0.36 * len(writes), width=5.4)
    maps.heat_map(axes, weights, writes, reads, size=7)
    axes.set(xlabel="source", ylabel="about to write")
    alt = f"Cross-attention. {told.weights(weights, writes, reads)}"
    caption = (
        "Where the last layer looks in the source while it writes each token (mean of "
        "the heads; ▁ is the space before a token)."
    )
    show(figure, alt, "6.4", caption)


def mistakes(
    kinds: Sequence[str],
    counts: Mapping[str, Sequence[int]],
    sentences: int,
    number: str,
) -> None:
    """Draw how many mistakes of each kind two or three models make.

    ``counts`` maps a model's name to its number of mistakes of each kind.
    """
    sums = dict(zip(kinds, map(sum, zip(*counts.values(), strict=True)), strict=True))
    rows = sorted((kind for kind in kinds if sums[kind]), key=lambda kind: -sums[kind])
    thick = 0.8 / len(counts)
    height = 0.7 + 0.24 * max(1, len(rows)) * len(counts)
    figure, axes = style.subplots(height=height, width=5.6)
    totals, descriptions = [], []
    for n, ((name, numbers), colour) in enumerate(
        zip(counts.items(), (ORANGE, BLUE, GREEN), strict=False)
    ):
        named = dict(zip(kinds, numbers, strict=True))
        places = [row + thick * (n - (len(counts) - 1) / 2) for row in range(len(rows))]
        lengths = [named[kind] for kind in rows]
        container = axes.barh(places, lengths, 0.9 * thick, color=colour, label=name)
        axes.bar_label(container, padding=5, size=9)
        totals.append(f"{sum(numbers):,} of “{name}”")
        listed = (f"{kind} {number}" for kind, number in named.items())
        descriptions.append(f"{name}: {', '.join(listed)}")
    style.bare(axes)
    axes.set_yticks(range(len(rows)), rows)
    axes.margins(x=0.1)
    axes.invert_yaxis()
    axes.legend(loc="lower right")
    axes.set_title(f"mistakes in {sentences:,} sentences")
    caption = f"Mistakes: {', '.join(totals)}."
    if rows:
        caption += f" The most frequent kind is “{rows[0]}”."
    alt = f"Mistakes in {sentences:,} sentences, by kind. {'. '.join(descriptions)}."
    show(figure, alt, number, caption)
