"""The figures of unit 2. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from autograder.checks.display import show, show_steps
from autograder.figures import maps, style, told
from autograder.figures.arcs import arcs
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, ORANGE
from transformer_course.attention.library.recall import NAMES
from transformer_course.library.attention_maps import SentenceMaps


def attention_weights(names: Sequence[str], weights: Tensor) -> None:
    """Draw one query's attention weights as bars, one for each dish in ``names``."""
    figure, axes = style.subplots(height=1.7, width=5.0)
    named = dict(zip(names, weights.tolist(), strict=True))
    bars(axes, named, ".4f", most=1.12)
    axes.invert_yaxis()
    alt = f"Bars of attention weights: {told.bars(named)}"
    caption = (
        "The attention weights of the four dishes sum to 1, and none of them is 0."
    )
    show(figure, alt, "2.1", caption)


def scores_grow(
    sizes: Sequence[int],
    spread: Sequence[float],
    sharp: Sequence[float],
    scaled: Sequence[float],
) -> None:
    """Draw the spread of scores, and the largest weight with and without scaling.

    For each d_k in ``sizes``, ``spread`` is the scores' standard deviation;
    ``sharp`` and ``scaled`` are the largest weights without and with scaling.
    """
    figure, (left, right) = style.subplots(1, 2)
    left.loglog(sizes, [size**0.5 for size in sizes], "--", color=ORANGE)
    left.loglog(sizes, spread, "o", color=BLUE)
    left.text(sizes[2], spread[2] * 1.9, "√dₖ", color=ORANGE, ha="right")
    left.set(xlabel="dₖ", title="standard deviation of the scores")
    left.set_yticks([1, 2, 4, 8, 16, 32], [1, 2, 4, 8, 16, 32])
    right.semilogx(sizes, sharp, "o-", color=ORANGE)
    right.semilogx(sizes, scaled, "s-", color=BLUE)
    right.text(sizes[-1], sharp[-1] - 0.2, "without scaling", color=ORANGE, ha="right")
    right.text(sizes[-1], scaled[-1] + 0.06, "with scaling", color=BLUE, ha="right")
    right.axhline(0.1, **style.DOTTED)
    right.text(sizes[-1], 0.02, "uniform", color=style.QUIET, size=8.5, ha="right")
    right.set(xlabel="dₖ", title="largest of 10 weights, on average", ylim=(0, 1.05))
    for axes in (left, right):
        axes.set_xticks(sizes, sizes)
    alt = f"From d_k {sizes[0]} to {sizes[-1]}. " + told.curves(
        {
            "Standard deviation of the scores": spread,
            "Largest weight without scaling": sharp,
            "with scaling": scaled,
        }
    )
    caption = (
        "The scores grow with √dₖ, and unless they are divided by it, softmax turns "
        "hard."
    )
    show(figure, alt, "2.3", caption)


def by_hand(
    guests: Sequence[str],
    dishes: Sequence[str],
    weights: Tensor,
    output: Tensor,
    sold_out: int,
) -> None:
    """Draw attention weights and outputs of guests (queries) for dishes (keys).

    ``weights`` is `(guests, dishes)`; ``output``, `(guests, 2)`, has price and
    minutes. ``sold_out`` is the index of the masked dish.
    """
    figure, (left, right) = style.subplots(
        1, 2, height=2.3, width=4.2, gridspec_kw={"width_ratios": [4, 2]}
    )
    allowed = torch.arange(len(dishes)).ne(sold_out).expand(weights.shape)
    maps.heat_map(left, weights, guests, dishes, "weights", allowed=allowed)
    maps.heat_map(right, output, (), ["price", "min."], "output", top=None)
    alt = f"Attention weights, {told.weights(weights, guests, dishes)}"
    caption = (
        "The attention of three guests to four dishes: each row of weights sums to 1, "
        "and the dish that is struck out is masked."
    )
    show(figure, alt, "2.4", caption)


def rising_scores(factors: Sequence[float], weights: Sequence[Tensor]) -> None:
    """Draw, in steps, the softmax `(keys,)` of one query's scores times each factor."""
    frames, captions, alts = [], {}, []
    for factor, row in zip(factors, weights, strict=True):
        values = row.tolist()
        figure, axes = style.subplots(height=2.1, width=5.2)
        rectangles = axes.bar(range(len(values)), values, width=0.7)
        axes.bar_label(
            rectangles, [f"{value:.2f}" for value in values], padding=3, size=9
        )
        axes.set(
            ylim=(0, 1.12), yticks=[0, 0.5, 1], title=f"softmax({factor:g} · scores)"
        )
        axes.set_xticks(range(len(values)), [f"key {j}" for j in range(len(values))])
        frames.append(figure)
        # The derivative of a softmax weight w by its own score is w (1 - w).
        gradient = float((row * (1 - row)).mean())
        captions[f"× {factor:g}"] = (
            f"The largest weight is {max(values):.2f}, and the mean derivative of a "
            f"weight by its score is {gradient:.3f}."
        )
        alts.append(told.bars({f"key {j}": v for j, v in enumerate(values)}))
    caption = (
        "As the scores rise, the order of the weights stays the same, but one key "
        "takes over, and the derivative vanishes."
    )
    opened = len(frames) // 2
    show_steps(frames, captions, alts, "2.5", caption, opened=opened)


def masks(masks_by_title: Mapping[str, Tensor], words: Sequence[str]) -> None:
    """Draw Boolean masks `(L, L)` of a sentence side by side; True allows a key."""
    figure, row = style.subplots(1, len(masks_by_title), height=2.7)
    alts = []
    for axes, (title, mask) in zip(row, masks_by_title.items(), strict=True):
        maps.heat_map(axes, mask, words, words, title, allowed=mask, values=None)
        alts.append(f"{title}: {told.mask(mask, words, words)}")
    row[0].set_ylabel("query")
    caption = (
        "Each row shows to which keys a query may attend; masked ones are struck out."
    )
    show(
        figure,
        "Masks, for each query its allowed keys. " + " ".join(alts),
        "2.6",
        caption,
    )


def follow_rows(
    q: Tensor, k: Tensor, v: Tensor, weights: Tensor, output: Tensor
) -> None:
    """Draw, in steps, which entries of all matrices contribute to an output row."""
    frames, captions, alts = [], {}, []
    keys = [f"key {j}" for j in range(len(k))]
    shares = weights.nan_to_num()  # rows without allowed keys have no colour
    for i in range(len(q)):
        # Of the queries, the weights and the output, only row i lights up.
        this = torch.arange(len(q)).eq(i)[:, None].float()
        parts = {
            "q": (q, this.expand(q.shape), ".3g"),
            "k": (k, shares[i][:, None].expand(k.shape), ".3g"),
            "weights": (weights, shares * this, ".2f"),
            "v": (v, shares[i][:, None].expand(v.shape), ".3g"),
            "output": (output, this.expand(output.shape), ".2f"),
        }
        widths = [matrix.size(-1) for matrix, _, _ in parts.values()]
        figure, row = style.subplots(1, 5, height=1.9, width_ratios=widths)
        for axes, (title, part) in zip(row, parts.items(), strict=True):
            maps.lit_matrix(axes, *part, title)
        frames.append(figure)
        row_shares = enumerate(shares[i].tolist())
        mixture = [f"{share:.2f} · v{j}" for j, share in row_shares if share >= 0.005]
        sources = " + ".join(mixture) or "nothing"
        captions[f"row {i}"] = f"Row {i} of the weights mixes {sources}."
        alts.append(told.weights(shares[i : i + 1], [f"Weights of query {i}"], keys))
    # Pointing at row i of the output, the last matrix, opens step i.
    areas = maps.row_areas(frames[0], frames[0].axes[-1], len(q))
    caption = (
        "Point at a row of the output: its query lights up, and so do its weights and, "
        "in proportion to them, the keys and values."
    )
    middle = len(frames) // 2
    show_steps(frames, captions, alts, "", caption, opened=middle, areas=areas)


def who_is_it(sentences: Sequence[Sequence[str]], weights: Sequence[Tensor]) -> None:
    """Draw what "it" attends to in two sentences, from their weights `(L, L)`."""
    lasts = [words[-1] for words in sentences]
    rows = list(zip(lasts, sentences, weights, strict=True))
    caption = "In step 2, “it” attends to the noun that fits the last word."
    _show_pronoun(rows, "2.8", caption)


def it_in_a_real_model(
    sentence_maps: Mapping[str, SentenceMaps], layer: int, head: int
) -> None:
    """Draw what "it" attends to in a published model, for two endings of a sentence.

    ``sentence_maps`` has the attention maps by the sentence's last word.
    """
    rows = [
        (last, m.tokens, m.weights[layer, head]) for last, m in sentence_maps.items()
    ]
    caption = f"Head {head} of layer {layer} in MiniLM lets “it” attend to these words."
    _show_pronoun(rows, "2.14", caption)


def _show_pronoun(
    rows: Sequence[tuple[str, Sequence[str], Tensor]], number: str, caption: str
) -> None:
    """Show two sentences with arcs from "it" to the words that it attends to.

    A row has a sentence's last word, its words and its weights `(L, L)`.
    """
    figure, column = style.subplots(len(rows), 1, height=1.8 * len(rows))
    alts = []
    for axes, (last, words, matrix), colour in zip(
        column, rows, (BLUE, ORANGE), strict=True
    ):
        at = list(words).index("it")
        arcs(axes, words, at, matrix[at].tolist(), colour)
        phrase = told.weights(matrix[at : at + 1], ["it"], words)
        alts.append(f"... too {last}: {phrase}")
    show(
        figure,
        "Arcs from “it” over the sentence. " + " ".join(alts),
        number,
        f"{caption} An arc is as wide as its weight is large; weights below 0.02 are "
        "left out.",
    )


def recall(
    weights_by_title: Mapping[str, Tensor], questions: Tensor, book: Tensor
) -> None:
    """Draw the attention weights from names to the entries of a phone book.

    The weights are `(PAIRS, PAIRS)`. Names are one-hot, `(PAIRS, names)`; an entry
    of the book is a one-hot name and a one-hot digit.
    """
    names = [NAMES[index] for index in questions.argmax(-1).tolist()]
    entries = [
        f"{NAMES[row[: len(NAMES)].argmax()]} {int(row[len(NAMES) :].argmax())}"
        for row in book
    ]
    figure, row = style.subplots(1, len(weights_by_title), height=2.9)
    alts = []
    for axes, (title, weights) in zip(row, weights_by_title.items(), strict=True):
        maps.heat_map(axes, weights, names, entries, title)
        alts.append(f"{title}, {told.weights(weights, names, entries)}")
    row[0].set_ylabel("asked for")
    caption = (
        "Before training, a name (row) looks at all entries of the book (columns); "
        "after training, it looks at its own."
    )
    show(
        figure,
        "Attention weights from names to entries of a phone book: " + " ".join(alts),
        "2.11",
        caption,
    )


def clinic(matrices_by_layer: Mapping[str, Tensor]) -> None:
    """Draw which outputs depend on which inputs, one matrix per layer.

    Entry (i, j) of a matrix `(L, L)` is True if output i changes with input j.
    """
    figure, row = style.subplots(1, len(matrices_by_layer), height=2.2)
    alts = []
    for axes, (title, matrix) in zip(row, matrices_by_layer.items(), strict=True):
        positions = range(len(matrix))
        title = title.replace("_", " ")
        maps.heat_map(
            axes, matrix, positions, positions, title, allowed=matrix, values=None
        )
        alts.append(f"{title}: {told.mask(matrix, positions, positions)}")
    row[0].set_ylabel("output")
    figure.supxlabel("input", size=9.5, color=style.QUIET)
    caption = "Each column shows which outputs (rows) move when one input changes."
    show(
        figure,
        "For each output the inputs that move it. " + " ".join(alts),
        "2.12",
        caption,
    )


def shuffled(
    words: Sequence[str],
    order: Sequence[int],
    outputs: Mapping[str, tuple[Tensor, Tensor]],
) -> None:
    """Draw, in steps, each layer's outputs of a sentence and of the shuffled sentence.

    Word i of the latter is ``words[order[i]]``. ``outputs`` maps a layer's name to
    the outputs `(L, d)` of both sentences.
    """
    frames, captions, alts = [], {}, []
    top = max(float(a.abs().max()) for pair in outputs.values() for a in pair)
    new = [words[i] for i in order]
    for name, (before, after) in outputs.items():
        change = after - before[torch.tensor(order)]
        figure, row = style.subplots(1, 3, height=2.2)
        parts = (
            (before, words, " ".join(words)),
            (after, new, " ".join(new)),
            (change, new, "change of each word"),
        )
        for axes, (matrix, rows, title) in zip(row, parts, strict=True):
            columns = range(before.size(1))
            maps.heat_map(axes, matrix, rows, columns, title, signed=True, top=top)
        row[0].set_ylabel("word")
        figure.supxlabel("feature of the output", size=9.5, color=style.QUIET)
        frames.append(figure)
        gap = float(change.abs().max())
        moved = (
            "The same vectors, in the new order" if gap < 1e-5 else "Different vectors"
        )
        captions[name] = f"{moved}; the largest change is {gap:.2f}."
        changes = {
            w: float(row.abs().max()) for w, row in zip(new, change, strict=True)
        }
        alts.append(f"Largest change by word: {told.bars(changes)}")
    caption = (
        "A bare layer gives the same vectors in a new order; positions or a causal "
        "mask give new vectors."
    )
    show_steps(frames, captions, alts, "2.13", caption, opened=0)
