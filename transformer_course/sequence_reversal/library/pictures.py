"""The figures of unit 5. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from autograder.checks.display import show, show_steps
from autograder.figures import maps, style, told
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, ORANGE

Log = Sequence[tuple[int, float, float]]  # step, token accuracy, exact match


def schedule(factors: Sequence[float], warmup: int, steps: int) -> None:
    """Draw the learning rate of each step, as a share of its peak.

    The warm-up ends at the step ``warmup``, and the training at ``steps``.
    """
    figure, axes = style.subplots(height=2.3, width=5.6)
    axes.plot(factors)
    away = 0.01 * len(factors)  # distance of a label from its line
    for at, text, x, side in (
        (warmup, "warm-up ends", warmup + away, "left"),
        (steps, "training ends", steps - away, "right"),
    ):
        axes.axvline(at, **style.DOTTED)
        axes.text(x, 0.55 if side == "right" else 0.08, text, ha=side, size=9)
    axes.set(xlabel="step", title="share of the peak learning rate")
    alt = (
        f"The learning rate over {len(factors)} steps, {told.curve(factors)}; its peak "
        f"is at step {factors.index(max(factors))}."
    )
    caption = "The rate rises in a straight line, then falls along half a cosine wave."
    show(figure, alt, "5.2", caption)


def log(losses: Sequence[float], entries: Log) -> None:
    """Draw the loss of each training step, and the accuracy on held-out sequences.

    ``entries`` are (step, share of correct tokens, share of correct sequences).
    """
    steps, tokens, exact_matches = zip(*entries, strict=True)
    figure, (left, right) = style.subplots(1, 2, height=2.7)
    left.semilogy(losses, linewidth=1.4)
    # A model that guesses among the 14 tokens of the vocabulary has this loss.
    left.axhline(math.log(14), **style.DOTTED)
    left.text(len(losses), math.log(14) * 0.62, "knows nothing: log 14", ha="right",
              size=8.5, color=style.QUIET)  # fmt: skip
    left.set(xlabel="step", title="loss on fresh batches")
    right.plot(steps, tokens, color=ORANGE, linestyle="--", label="next token")
    right.plot(steps, exact_matches, color=BLUE, label="whole sequence")
    for values, colour in ((tokens, ORANGE), (exact_matches, BLUE)):
        half = _find_half(steps, values)
        if half in steps:
            right.plot(half, values[steps.index(half)], "o", color=colour)
    right.set(xlabel="step", title="held-out accuracy", ylim=(-0.03, 1.05))
    style.name_lines(right)
    curves = {"loss": losses, "token accuracy": tokens, "exact match": exact_matches}
    alt = (
        f"Over {len(losses)} steps. {told.curves(curves)} Half of the tokens are right "
        f"at step {_find_half(steps, tokens)}, half of the sequences at step "
        f"{_find_half(steps, exact_matches)}."
    )
    caption = (
        "The model gets half of the tokens right (dots) long before it gets half of "
        "the sequences right."
    )
    show(figure, alt, "5.4", caption)


def _find_half(steps: Sequence[int], values: Sequence[float]) -> object:
    """The first step at which a value is at least 0.5, or "none"."""
    return next((s for s, v in zip(steps, values, strict=True) if v >= 0.5), "none")


def ablations(final: Mapping[str, float], scores: Mapping[str, float]) -> None:
    """Draw the final loss and the exact match of models that each lack one part."""
    figure, (left, right) = style.subplots(1, 2, height=1.9, sharey=True)
    for axes, values, title, colour in (
        (left, final, "loss at the end", ORANGE),
        (right, scores, "exact match, held out", BLUE),
    ):
        bars(axes, values, ".3f", colour, most=1.25 * max(values.values()))
        axes.set_title(title)
    left.invert_yaxis()
    descriptions = [f"{name}: loss {final[name]:.3f}, exact match {scores[name]:.3f}"
            for name in final]  # fmt: skip
    caption = (
        "Without the causal mask the loss is lowest and the model useless: it copies "
        "the answer."
    )
    show(figure, f"Bars. {'; '.join(descriptions)}.", "5.5", caption)


def cliff(lengths: Sequence[int], scores: Sequence[float], longest: int) -> None:
    """Draw exact match by length, in orange for lengths above ``longest``."""
    figure, axes = style.subplots(height=2.4)
    colours = [BLUE if length <= longest else ORANGE for length in lengths]
    rectangles = axes.bar(lengths, scores, 0.72, color=colours)
    axes.bar_label(rectangles, [f"{100 * s:.0f}" for s in scores], padding=2, size=9)
    axes.text(longest + 0.6, 0.6, "longer than in training", color=ORANGE)
    axes.set(xlabel="length", title="exact match (%)", ylim=(0, 1.15), yticks=[])
    axes.set_xticks(lengths, lengths)
    pairs = zip(lengths, scores, strict=True)
    description = ", ".join(f"{length}: {100 * s:.0f}" for length, s in pairs)
    caption = f"Exact match by length: the model was trained on lengths 1 to {longest}."
    show(figure, f"Exact match by length in percent: {description}.", "5.6", caption)


def cross_attention(
    weights: Tensor, reads: Sequence[str], writes: Sequence[str]
) -> None:
    """Draw the attention maps of all heads, `(h, Lt, Ls)`, side by side.

    ``reads`` are the Ls tokens of the source, ``writes`` the Lt decoded tokens.
    """
    figure, row = style.subplots(1, len(weights), height=2.5)
    descriptions = []
    for head, (axes, head_weights) in enumerate(zip(row, weights, strict=True)):
        maps.heat_map(axes, head_weights, writes, reads, f"head {head}", values=None)
        descriptions.append(f"head {head}: {told.weights(head_weights, writes, reads)}")
    row[0].set_ylabel("the token to be written")
    figure.supxlabel("source: what it attends to", size=9.5, color=style.QUIET)
    alt = f"Cross-attention. {' '.join(descriptions)}"
    caption = (
        "Each row looks at the mirror image of its place: together they make the "
        "anti-diagonal."
    )
    show(figure, alt, "5.7", caption)


Trial = tuple[Sequence[str], Sequence[str], Sequence[str], Tensor]


def token_by_token(trials: Sequence[Trial]) -> None:
    """Draw, in steps, how the model reverses sequences, one token per step.

    A trial has the source, the correct output and the model's output, as tokens,
    and the attention weights `(Lt, Ls)`.
    """
    frames, captions, alts = [], {}, []
    most = max(len(written) for _, _, written, _ in trials)
    for step in range(most):
        figure, rows = style.subplots(len(trials), 1, height=1.35 * len(trials))
        sentences = []
        for axes, trial in zip(rows, trials, strict=True):
            sentences.append(_draw_step(axes, trial, step))
        frames.append(figure)
        captions[f"token {step + 1}"] = " ".join(sentences)
        alts.append(" ".join(sentences))
    caption = (
        "Each source symbol is as blue as the attention that it gets; below it is what "
        "has been written, in orange where it is wrong."
    )
    show_steps(frames, captions, alts, "5.8", caption, opened=most // 2)


def _draw_step(axes: Any, trial: Trial, step: int) -> str:
    """Draw one sequence at a step of decoding; return a description of the step."""
    source, right, written, weights = trial
    ended = step >= len(written)
    row = [0.0] * len(source) if ended else weights[step].tolist()
    shade, bluest = style.sequential(), 0
    for j, (token, weight) in enumerate(zip(source, row, strict=True)):
        maps.cell(axes, 0, j, shade(weight), token)
        bluest = j if weight > row[bluest] else bluest
    for j, token in enumerate(written[: step + 1]):
        good = j < len(right) and token == right[j]
        fill = (
            (*_read_colour(ORANGE), 0.55) if not good else (*_read_colour(BLUE), 0.12)
        )
        maps.cell(axes, 1.3, j, fill, token)
    style.bare(axes)
    axes.set(xlim=(-0.6, 13.4), ylim=(1.9, -0.6), aspect="equal")
    axes.set_title(f"length {len(source) - 1}")
    if ended:
        return f"Length {len(source) - 1}: done."
    newest = written[step]
    wanted = right[step] if step < len(right) else "nothing"
    verdict = "correct" if newest == wanted else f"it should be {wanted}"
    return (
        f"Length {len(source) - 1}: attends most to {source[bluest]} "
        f"at index {bluest}, writes {newest}: {verdict}."
    )


def _read_colour(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def birth(
    maps_at: Mapping[int, Tensor],
    entries: Log,
    reads: Sequence[str],
    writes: Sequence[str],
) -> None:
    """Draw, in steps, the maps of the heads during training, beside the exact match.

    ``maps_at`` maps a step to attention weights `(h, Lt, Ls)`. ``entries`` are
    (step, token accuracy, exact match).
    """
    frames, captions, alts = [], {}, []
    steps, _, exact_matches = zip(*entries, strict=True)
    for step, weights in maps_at.items():
        figure, row = style.subplots(1, len(weights) + 1, height=2.5)
        for head, axes in enumerate(row[:-1]):
            title = f"head {head}"
            maps.heat_map(axes, weights[head], writes, reads, title, values=None)
        score = exact_matches[steps.index(step)]
        row[-1].plot(steps, exact_matches, color=style.QUIET, linewidth=1.4)
        row[-1].plot(step, score, "o", color=ORANGE)
        row[-1].set(title="exact match", xlabel="step", ylim=(-0.05, 1.08))
        frames.append(figure)
        captions[f"step {step}"] = f"Exact match is {score:.0%}."
        alts.append(" ".join(
            f"Head {head}: {told.weights(head_weights, writes, reads)}"
            for head, head_weights in enumerate(weights)
        ))  # fmt: skip
    caption = "The anti-diagonal appears while exact match rises."
    # The diagonal is taking shape about a third of the way through the steps shown.
    show_steps(frames, captions, alts, "5.9", caption, opened=len(frames) // 3)


def with_and_without(
    lengths: Sequence[int], scores_by_model: Mapping[str, Sequence[float]]
) -> None:
    """Draw exact match by length for a model without attention and for the Transformer.

    ``scores_by_model`` maps the label of each model, in this order, to its exact match.
    """
    figure, axes = style.subplots(height=2.5)
    looks = ((ORANGE, "s--"), (BLUE, "o-"))
    for (name, scores), (colour, line) in zip(
        scores_by_model.items(), looks, strict=True
    ):
        axes.plot(lengths, scores, line, color=colour, label=name)
    axes.set(xlabel="length", title="exact match", ylim=(-0.03, 1.05))
    axes.set_xticks(lengths, lengths)
    style.name_lines(axes)
    description = "; ".join(
        f"{name}, by length: {', '.join(f'{score:.2f}' for score in scores)}"
        for name, scores in scores_by_model.items()
    )
    caption = "With one vector, exact match falls as sequences get longer."
    show(figure, f"Exact match. {description}.", "5.11", caption)
