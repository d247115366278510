"""The figures of unit 3. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from autograder.checks.display import show, show_steps
from autograder.figures import maps, style, told
from autograder.figures.style import BLUE, GREEN, ORANGE, PINK
from transformer_course.library.attention_maps import SentenceMaps

HEADS = (BLUE, ORANGE, GREEN, PINK)


def _draw_maps(
    weights_by_title: Mapping[str, Tensor],
    words: Sequence[object],
    number: str,
    caption: str,
    height: float = 2.6,
    outlined: int | None = None,
) -> None:
    """Draw attention maps with titles, side by side; ``words`` label both axes.

    ``outlined`` is the row that the caption is about, if any.
    """
    from matplotlib.patches import Rectangle

    figure, row = style.subplots(1, len(weights_by_title), height=height)
    descriptions = []
    for axes, (title, weights) in zip(row, weights_by_title.items(), strict=True):
        size = 10 if len(words) < 5 else 8
        maps.heat_map(axes, weights, words, words, title, size=size)
        axes.tick_params(labelsize=8)
        axes.set_xlabel("key")
        if outlined is not None:
            corner = (-0.5, outlined - 0.5)
            axes.add_patch(
                Rectangle(
                    corner, len(words), 1, fill=False, color=ORANGE, clip_on=False
                )
            )
        descriptions.append(f"{title}: {told.weights(weights, words, words)}")
    row[0].set_ylabel("query")
    show(figure, f"Attention maps. {' '.join(descriptions)}", number, caption)


def one_head_or_two(
    weights_by_title: Mapping[str, Tensor], words: Sequence[str]
) -> None:
    """Draw two heads that attend to one neighbour each, and one that attends to both.

    The attention weights have the shape `(L, L)`, for the L ``words``.
    """
    _draw_maps(
        weights_by_title,
        words,
        "3.1",
        "In the outlined row of “bites”, two heads find one neighbour each; one head "
        "for both divides its weight between them.",
        height=2.5,
        outlined=list(words).index("bites"),
    )


def _draw_cells(axes: object, numbers: Tensor, d_k: int, title: str) -> None:
    """Draw a table of numbers, each in the colour of its head.

    The number 21, for example, stands for feature 1 of position 2.
    """
    rows = numbers.long().tolist()
    words = [[f"{n:02d}" for n in row] for row in rows]
    colours = [[HEADS[n % 10 // d_k] for n in row] for row in rows]
    maps.coloured_cells(axes, words, colours, title)


def blocks(numbers: Tensor, num_heads: int) -> None:
    """Draw a table of all features, and beside it the block of columns of each head.

    ``numbers`` are entries as in `_draw_cells`, of shape `(L, d_model)`.
    """
    d_k = numbers.size(1) // num_heads
    widths = [numbers.size(1)] + [d_k] * num_heads
    figure, row = style.subplots(
        1, num_heads + 1, height=1.9, gridspec_kw={"width_ratios": widths}
    )
    _draw_cells(row[0], numbers, d_k, "after the projection")
    descriptions = []
    for head, axes in enumerate(row[1:]):
        part = numbers[:, d_k * head : d_k * (head + 1)]
        _draw_cells(axes, part, d_k, f"head {head}")
        descriptions.append(f"head {head} has {part[0].tolist()} of position 0")
    alt = (
        f"A matrix of {len(numbers)} positions, {numbers.size(1)} features each, in "
        f"{num_heads} colours, and its blocks of columns: {'; '.join(descriptions)}."
    )
    caption = "Heads are blocks of columns; 21 is position 2, feature 1."
    show(figure, alt, "3.3", caption)


def splits(results_by_name: Mapping[str, Tensor]) -> None:
    """Draw ways to split features into heads, one way per row and one head per column.

    Results have the shape `(h, L, d_k)`, with numbers as in `_draw_cells`.
    """
    count = next(iter(results_by_name.values())).size(0)
    figure, grid = style.subplots(len(results_by_name), count, height=3.8, width=4.2)
    descriptions = []
    for row, (line, (name, heads)) in enumerate(
        zip(grid, results_by_name.items(), strict=True)
    ):
        for head, axes in enumerate(line):
            title = "" if row else f"head {head}"
            _draw_cells(axes, heads[head], heads.size(-1), title)
        # An entry like 21 is feature 1 of position 2, so its last digit gives its head.
        mixed = sorted({int(n) % 10 // heads.size(-1) for n in heads[0].flatten()})
        line[0].set_ylabel(name if mixed == [0] else f"{name}: wrong")
        descriptions.append(f"{name}: head 0 holds features of heads {mixed}")
    alt = f"{'; '.join(descriptions)}."
    caption = "A correct split gives each head a single colour; view alone does not."
    show(figure, alt, "3.4", caption)


def losses(
    losses_by_heads: Mapping[int, Sequence[float]], sizes: Mapping[int, int]
) -> None:
    """Draw the training losses of layers with 1, 2 and 4 heads.

    The keys are the numbers of heads; ``sizes`` are the numbers of parameters.
    """
    figure, axes = style.subplots(height=2.8)
    for (count, values), colour, line in zip(
        losses_by_heads.items(), (ORANGE, BLUE, GREEN), ("-", "--", ":"), strict=True
    ):
        label = f"{count} head{'s' if count > 1 else ''}: ends at {values[-1]:.3f}"
        axes.plot(values, line, color=colour, label=label)
    counts = " or ".join(f"{size:,}" for size in sorted(set(sizes.values())))
    title = f"mean squared error, {counts} parameters each"
    axes.set(xlabel="training step", title=title, ylim=(0, 1.1))
    style.name_lines(axes)
    curves = {f"{count} heads": values for count, values in losses_by_heads.items()}
    steps = len(next(iter(losses_by_heads.values())))
    alt = f"Loss over {steps} steps. {told.curves(curves)}"
    caption = (
        "With two or four heads the loss falls to zero; with one head it does not."
    )
    show(figure, alt, "3.6", caption)


def trained(weights_by_title: Mapping[str, Tensor]) -> None:
    """Draw attention maps of a trained layer with one head and of one with two heads.

    ``weights_by_title`` maps the title of each map to its weights, `(L, L)`.
    """
    length = next(iter(weights_by_title.values())).size(-1)
    caption = (
        "The single head divides its attention; the heads of the pair divide the work."
    )
    _draw_maps(weights_by_title, range(length), "3.7", caption)


def birth(
    steps: Sequence[int], maps_at: Sequence[Tensor], losses: Sequence[float]
) -> None:
    """Draw, in steps, the maps of two heads during training, beside the loss.

    The maps `(2, L, L)` are those after ``steps``, the losses those of every step.
    """
    frames, captions, alts = [], {}, []
    for step, pair in zip(steps, maps_at, strict=True):
        figure, row = style.subplots(1, 3, height=2.3, width=style.WIDTH)
        positions = range(pair.size(-1))
        for head, axes in enumerate(row[:2]):
            title = f"head {head}"
            maps.heat_map(axes, pair[head], positions, positions, title, values=None)
        row[2].plot(losses, color=style.QUIET, linewidth=1.4)
        at = min(step, len(losses) - 1)
        row[2].plot(at, losses[at], "o", color=ORANGE, clip_on=False)
        row[2].set(title="loss", xlabel="training step", ylim=(0, 1.1))
        frames.append(figure)
        captions[f"step {step}"] = f"The loss is {losses[at]:.2f}."
        phrases = [told.weights(weights, positions, positions) for weights in pair]
        alts.append(f"Head 0: {phrases[0]} Head 1: {phrases[1]}")
    caption = "In the first hundred steps, the two heads divide the work between them."
    # The heads differ first about a third of the way through the steps shown.
    show_steps(frames, captions, alts, "3.8", caption, opened=len(frames) // 3)


def who_writes_what(spread: Tensor, features: Sequence[str]) -> None:
    """Draw how much each head contributes to each feature of the output.

    Args:
        spread: the standard deviations of the contributions, `(h, d_model)`.
        features: the names of equally large groups of features, in order.
    """
    figure, axes = style.subplots(height=1.5)
    rows = [f"head {i}" for i in range(len(spread))]
    maps.heat_map(axes, spread, rows, (), top=None, values=".1f", size=8.5)
    width = spread.size(1) / len(features)
    axes.set_xticks([width * (i + 0.5) - 0.5 for i in range(len(features))], features)
    descriptions, mains = [], []
    for name, row in zip(rows, spread, strict=True):
        means = [float(part.mean()) for part in row.chunk(len(features))]
        start = round(width) * means.index(max(means))
        mains.append(f"{name} mainly into features {start}-{start + round(width) - 1}")
        parts = ", ".join(f"{f}: {m:.2f}" for f, m in zip(features, means, strict=True))
        descriptions.append(f"{name} writes on average {parts}")
    alt = f"{'; '.join(descriptions)}."
    caption = (
        f"Each head writes into one half: {', '.join(mains)}. The numbers are standard "
        "deviations."
    )
    show(figure, alt, "3.9", caption)


def all_heads(sentence_maps: SentenceMaps) -> None:
    """Draw the maps of all heads of a published model, one row per layer."""
    layers, heads = sentence_maps.weights.shape[:2]
    figure, grid = style.subplots(layers, heads, height=3.7)
    for layer, row in enumerate(grid):
        for head, axes in enumerate(row):
            maps.image(axes, sentence_maps.weights[layer, head], top=1.0)
            style.bare(axes)
            axes.set_aspect("equal")
            if layer == 0:
                axes.set_title(f"head {head}" if head == 0 else head, size=8, pad=3)
        name = f"layer {layer}" if layer == 0 else layer
        row[0].set_ylabel(name, size=8, rotation=0, ha="right", va="center")
    means = {
        name: sentence_maps.weights.diagonal(offset, 2, 3).mean().item()
        for name, offset in {"itself": 0, "the token before": -1, "the next": 1}.items()
    }
    alt = (
        f"{layers} rows of {heads} small attention maps. Mean weight over all heads "
        f"on {told.bars(means)}"
    )
    caption = (
        "All heads of MiniLM on one sentence, a layer in each row: some draw a line "
        "beside the diagonal, some stripes, some spread their weight."
    )
    show(figure, alt, "3.10", caption)


def neighbours(weights_by_title: Mapping[str, Tensor], tokens: Sequence[str]) -> None:
    """Draw maps of two heads: one attends to the previous token, one to the next.

    ``weights_by_title`` maps the title of each map to its weights.
    """
    _draw_maps(
        weights_by_title,
        tokens,
        "3.11",
        "These two MiniLM heads attend most to the previous and to the next token.",
        height=3.4,
    )
