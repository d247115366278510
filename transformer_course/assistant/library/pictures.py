"""The figures of unit 8. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.checks.display import show
from autograder.figures import style, told
from autograder.figures.style import BLUE, ORANGE


def preferences(chosen: Sequence[float], rejected: Sequence[float]) -> None:
    """Draw the mean log-probability of chosen and rejected answers in each step."""
    figure, axes = style.subplots(height=2.4, width=6.0)
    axes.plot(chosen, color=BLUE)
    axes.plot(rejected, color=ORANGE)
    axes.text(len(chosen), chosen[-1], " reversal", color=BLUE, va="center")
    axes.text(len(rejected), rejected[-1], " copy", color=ORANGE, va="center")
    axes.set(xlabel="step", title="mean log-probability of an answer")
    axes.margins(x=0.16)
    alt = (
        f"Mean log-probability over {len(chosen)} steps of DPO. Reversals: "
        f"{told.curve(chosen)}. Copies: {told.curve(rejected)}."
    )
    caption = (
        "DPO: copies become less probable at every step, and reversals hardly more."
    )
    show(figure, alt, "8.1", caption)


def rewards(log: Sequence[float]) -> None:
    """Draw the mean reward of each step."""
    figure, axes = style.subplots(height=2.4, width=6.0)
    axes.plot(log, color=style.QUIET, linewidth=0.8)
    axes.plot(_smooth(log, 8), color=BLUE)
    axes.set(xlabel="step", title="mean reward of the sampled answers", ylim=(0, 1.05))
    alt = f"Mean reward over {len(log)} steps, {told.curve(_smooth(log, 8))}."
    caption = "GRPO: the mean reward of each step, and of the last eight."
    show(figure, alt, "8.2", caption)


def _smooth(values: Sequence[float], window: int) -> list[float]:
    """The mean of each value and those before it, as many as the window holds."""
    parts = [values[max(0, n - window) : n] for n in range(1, len(values) + 1)]
    return [sum(part) / len(part) for part in parts]
