"""The figures of unit 6. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from autograder.checks.display import show
from autograder.figures import maps, style, told
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, GREEN, ORANGE


def cross_attention(
    weights: Tensor, reads: Sequence[str], writes: Sequence[str]
) -> None:
    """Draw the attention map of the last layer, `(Lt, Ls)`, averaged over its heads.

    ``reads`` are the Ls tokens of the source, ``writes`` the Lt that are written.
    """
    figure, axes = style.subplots(height=1.2 + 0.36 * len(writes), width=5.4)
    maps.heat_map(axes, weights, writes, reads, size=7)
    axes.set(xlabel="source", ylabel="what is written next")
    alt = f"Cross-attention. {told.weights(weights, writes, reads)}"
    caption = (
        "Each row shows where the last layer looks in the source while it writes a "
        "token (mean of the heads; ▁ marks the space in front of a token)."
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
    figure, row = style.subplots(1, len(counts), height=2.1, sharey=True)
    descriptions = []
    most = max(1, *(n for numbers in counts.values() for n in numbers))
    for axes, (name, numbers), colour in zip(
        row, counts.items(), (ORANGE, BLUE, GREEN), strict=False
    ):
        named = dict(zip(kinds, numbers, strict=True))
        bars(axes, named, "d", colour, most=1.2 * most)
        axes.set_title(name)
        listed = (f"{kind} {n}" for kind, n in named.items())
        descriptions.append(f"{name}: {', '.join(listed)}")
    row[0].invert_yaxis()
    title = f"Mistakes in {sentences:,} sentences, by kind"
    show(figure, f"{title}. {'. '.join(descriptions)}.", number, f"{title}.")
