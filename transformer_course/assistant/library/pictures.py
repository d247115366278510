"""The figures of unit 8. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.checks.display import show
from autograder.figures import style, told
from autograder.figures.bars import bars
from autograder.figures.style import BLUE, ORANGE, PALETTE
from transformer_course.assistant.library.texts import CHOICES

_NAMES = {1: "‹", 2: "›", 13: "¬"}  # 13: a newline


def learnt(ids: Sequence[int], marks: Sequence[bool]) -> None:
    """Draw a conversation letter by letter, with a filled cell for each learnt token.

    The ``ids`` are from `encode_letters`; ``marks`` says which the loss includes.
    """
    from matplotlib.patches import Rectangle

    # `encode_letters` adds 3 to the code of each letter, and has markers below that.
    names = [_NAMES[i] if i in _NAMES else chr(i - 3) for i in ids]
    figure, axes = style.subplots(height=1.9, width=6.6)
    row = column = widest = 0
    for name, mark in zip(names, marks, strict=True):
        if mark:
            box = Rectangle((column, row), 0.96, 0.9, color=BLUE, alpha=0.3, lw=0)
            axes.add_patch(box)
        axes.text(column + 0.5, row + 0.5, name, ha="center", va="center",
                  color=style.INK if mark else style.QUIET)  # fmt: skip
        column, widest = column + 1, max(widest, column + 1)
        # A newline begins a new row.
        if name == _NAMES[13]:
            row, column = row + 1, 0
    axes.set(xlim=(0, max(widest, 28)), ylim=(row + 0.1, -0.1))
    style.bare(axes)
    parts = "".join(n if m else " " for n, m in zip(names, marks, strict=True)).split()
    alt = f"Of {len(ids)} tokens, {sum(marks)} are learnt: {' and '.join(parts)}."
    caption = (
        "A conversation letter by letter; tokens on blue are learnt. ‹ and › are the "
        "markers, and ¬ is a newline."
    )
    show(figure, alt, "8.1", caption)


def preferences(chosen: Sequence[float], rejected: Sequence[float]) -> None:
    """Draw the mean log-probabilities of chosen and rejected answers by step of DPO.

    The chosen answers are reversals, the rejected ones copies.
    """
    figure, axes = style.subplots(height=2.4, width=4.9)
    axes.plot(chosen, color=BLUE, label="reversal")
    axes.plot(rejected, "--", color=ORANGE, label="copy")
    axes.set(xlabel="step", title="mean log-probability of an answer")
    style.name_lines(axes)
    alt = (
        f"Mean log-probability over {len(chosen)} steps of DPO. Reversals: "
        f"{told.curve(chosen)}. Copies: {told.curve(rejected)}."
    )
    caption = (
        "DPO: copies become far less probable, while reversals change comparatively "
        "little."
    )
    show(figure, alt, "8.2", caption)


def rewards(mean_rewards: Sequence[float]) -> None:
    """Draw the mean reward of the sampled answers over the steps of GRPO training."""
    figure, axes = style.subplots(height=2.4, width=4.9)
    axes.plot(mean_rewards, color=style.QUIET, linewidth=0.8)
    smooth = _smooth(mean_rewards, 8)
    axes.plot(smooth, color=BLUE)
    axes.set(xlabel="step", title="mean reward of the sampled answers", ylim=(0, 1.05))
    alt = f"Mean reward over {len(mean_rewards)} steps, {told.curve(smooth)}."
    caption = "GRPO: the mean reward of each step, and of the last eight."
    show(figure, alt, "8.3", caption)


def prices(bits: Sequence[int], perplexities: Mapping[str, Sequence[float]]) -> None:
    """Draw the perplexity of a quantised model over the number of bits per weight.

    ``perplexities`` maps the part of a matrix that shares one scale, such as "row",
    to a value for each of ``bits``.
    """
    figure, axes = style.subplots(height=2.6, width=4.9)
    for (name, values), colour, marker in zip(
        perplexities.items(), PALETTE, "osD", strict=False
    ):
        axes.plot(
            bits, values, color=colour, marker=marker, label=f"a scale per {name}"
        )
    axes.set(xlabel="bits", title="perplexity (lower is better)", yscale="log")
    axes.set_xticks(bits, bits)
    axes.invert_xaxis()
    style.name_lines(axes)
    alt = (
        f"Perplexity with {', '.join(map(str, bits))} bits. {told.curves(perplexities)}"
    )
    caption = "The fewer weights share a scale, the fewer bits are enough."
    show(figure, alt, "8.4", caption)


def _smooth(values: Sequence[float], window: int) -> list[float]:
    """The moving average: the mean of each value and up to window - 1 before it."""
    parts = [values[max(0, n - window) : n] for n in range(1, len(values) + 1)]
    return [sum(part) / len(part) for part in parts]


def passes(rates: Mapping[int, float]) -> None:
    """Draw the bytes that a pass of speculative decoding writes, by number of guesses.

    ``rates`` maps each number of guesses to the mean number of bytes per pass.
    """
    figure, axes = style.subplots(height=2.4, width=4.9)
    axes.plot([*rates], [*rates.values()], color=BLUE, marker="o")
    for point in rates.items():
        axes.annotate(
            f"{point[1]:.2f}", point, (-4, 7), textcoords="offset points", ha="center"
        )
    axes.set(xlabel="guesses ahead", title="bytes per pass", yticks=[])
    axes.set(xticks=[*rates], ylim=(0, 1.15 * max(rates.values())))
    alt = f"Bytes per pass: {told.bars({str(n): r for n, r in rates.items()})}"
    caption = "Each further guess adds less, since one rejection ends the pass."
    show(figure, alt, "8.5", caption)


def scores(correct: Mapping[str, int]) -> None:
    """Draw the number of correctly answered questions for each way to score choices."""
    questions = len(CHOICES)
    guessed = sum(1 / len(choices) for _, *choices in CHOICES)
    figure, axes = style.subplots(height=1.6, width=4.9)
    bars(axes, dict(reversed([*correct.items()])), ".0f", most=questions)
    axes.axvline(guessed, **style.DOTTED)
    axes.text(guessed, -0.5, "guessing", color=style.QUIET, size=8.5, ha="center",
              va="top")  # fmt: skip
    axes.set_title(f"correct answers of {questions}")
    worst, best = (end(correct, key=correct.__getitem__) for end in (min, max))
    caption = (
        f"The same model and the same questions: the {worst} finds {correct[worst]} "
        f"right answers, the {best} {correct[best]}."
    )
    show(figure, f"Correct answers: {told.bars(correct)}", "8.6", caption)
