"""The figures of unit 10. They draw what a notebook computed, and compute nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from autograder.checks.display import show
from autograder.figures import style, told
from autograder.figures.style import BLUE, ORANGE, PALETTE

_STRETCHES = {"all divided": "all frequencies divided",
              "by turns": "only slow ones divided"}  # fmt: skip
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def largest_scores(curves: Mapping[str, Sequence[float]]) -> None:
    """Draw two models' largest attention score on new text, at every tenth step."""
    caption = "With the norms, the largest attention score stays several times smaller."
    named = {_say_without(name, "QK-norm"): ys for name, ys in curves.items()}
    _show_two_curves(named, "largest score", "10.1", caption)


def _say_without(name: str, part: str) -> str:
    """Name the curve "without" in full, so that it says what the model lacks."""
    return f"without {part}" if name == "without" else name


def windows(lengths: Sequence[int], losses: Mapping[str, Sequence[float]]) -> None:
    """Draw two models' loss on new text, by the number of bytes read at a time."""
    figure, axes = _plot_two(lengths, losses, "o", xlabel="bytes read at a time")
    axes.set_title("loss on new text")
    _double(axes, lengths)
    style.name_lines(axes)
    caption = (
        f"Trained at {lengths[0]} bytes: only without a window does the loss rise on "
        "longer texts."
    )
    show(figure, f"Loss at {', '.join(map(str, lengths))} bytes. {told.curves(losses)}",
         "10.2", caption)  # fmt: skip


def loads(curves: Mapping[str, Sequence[float]]) -> None:
    """Draw the share of tokens that the least used expert gets, at every tenth step.

    A router chooses among four experts for each token; an even load is a quarter each.
    """
    named = {_say_without(name, "balancing"): ys for name, ys in curves.items()}
    *_, (balanced, shares) = named.items()
    caption = (
        f"{balanced.capitalize()}, even the least used of four experts ends at "
        f"{shares[-1]:.0%} of the choices; an even share (dotted) is a quarter."
    )
    _show_two_curves(
        named, "share of the least used expert", "10.3", caption, even_share=0.25
    )


def optimizers(curves: Mapping[str, Sequence[float]]) -> None:
    """Draw the training losses of two optimizers, averaged over ten steps each."""
    tenths = {
        name: [fmean(losses[i : i + 10]) for i in range(0, len(losses), 10)]
        for name, losses in curves.items()
    }
    caption = (
        "From the same weights and with the same batches, Muon ends lower than AdamW. "
        "Each point is the mean of ten steps."
    )
    _show_two_curves(tenths, "training loss", "10.4", caption)


def exchanges(losses: Mapping[str, Sequence[float]]) -> None:
    """Draw the training losses of a model, and of models with one part replaced.

    ``losses`` maps the name of each model to its loss in each step.
    """
    figure, axes = style.subplots(height=3.0)
    whole, *_ = losses  # the model in which nothing is replaced
    smooth = {
        "nothing replaced" if name == whole else name: _smooth(values)
        for name, values in losses.items()
    }
    end = smooth["nothing replaced"][-1]
    colours = (style.INK, *PALETTE)
    for (name, values), colour, line in zip(
        smooth.items(), colours, LINES, strict=False
    ):
        near = abs(values[-1] - end) < 0.15
        look = {"lw": 1.2, "alpha": 0.7} if near else {"lw": 2.4}
        axes.plot(values, color=colour, linestyle=line, label=name, **look)
    axes.set(xlabel="step", title="training loss", ylim=(None, 2.6))
    style.name_lines(axes)
    caption = (
        "Of the parts replaced by their ancestors of 2017, only the positions matter "
        "much."
    )
    show(figure, f"Training loss over steps. {told.curves(smooth)}", "10.5", caption)


def positions(lengths: Sequence[int], losses: Mapping[str, Sequence[float]]) -> None:
    """Draw the loss on new text for four ways to encode positions, by length."""
    figure = _plot_four(lengths, losses, "loss on fresh text")
    caption = (
        "After a short training at 64 bytes, rotary positions are best at every length."
    )
    show(figure, f"Loss at {', '.join(map(str, lengths))} bytes. {told.curves(losses)}",
         "10.6", caption)  # fmt: skip


def stretched(lengths: Sequence[int], losses: Mapping[str, Sequence[float]]) -> None:
    """Draw the loss on new text for four ways to scale the rotary frequencies."""
    named = {_STRETCHES.get(name, name): values for name, values in losses.items()}
    figure = _plot_four(lengths, named, "loss on new text")
    caption = (
        "On longer texts, dividing all frequencies (interpolation) or only slow ones "
        "(by turns) does harm, and a larger base helps."
    )
    show(figure, f"Loss at {', '.join(map(str, lengths))} bytes. {told.curves(named)}",
         "10.7", caption)  # fmt: skip


def _plot_four(
    lengths: Sequence[int], losses: Mapping[str, Sequence[float]], title: str
) -> Any:
    """Plot four curves over ``lengths``; each has its own colour, line and marker."""
    figure, axes = style.subplots(height=2.8, width=5.4)
    looks = zip(reversed(PALETTE[:4]), reversed(LINES[:4]), "^Dso", strict=True)
    for (name, values), (colour, line, marker) in zip(
        losses.items(), looks, strict=True
    ):
        look = {"color": colour, "linestyle": line, "marker": marker}
        axes.plot(lengths, values, label=name, **look)
    axes.set(xlabel="bytes in a window", title=title)
    _double(axes, lengths)
    style.name_lines(axes)
    return figure


def _double(axes: Any, lengths: Sequence[int]) -> None:
    """Scale the x-axis so that each doubling of a length is one step."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, lengths)


def _plot_two(
    xs: Sequence[int], values_by_name: Mapping[str, Sequence[float]], marker: str = "",
    **properties: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Plot two named curves over ``xs``; return the figure and its axes.

    ``properties`` are set on the axes, such as title or xlabel.
    """
    figure, axes = style.subplots(height=2.6, width=4.9)
    looks = ((ORANGE, f"--{marker}"), (BLUE, f"-{marker}"))
    for (name, values), (colour, line) in zip(
        values_by_name.items(), looks, strict=True
    ):
        axes.plot(xs[: len(values)], values, line, color=colour, label=name)
    axes.set(**properties)
    return figure, axes


def _show_two_curves(
    curves: Mapping[str, Sequence[float]],
    title: str,
    number: str,
    caption: str,
    even_share: float | None = None,
) -> None:
    """Show two curves over training steps, with a value for every tenth step.

    ``even_share`` is the height of a dotted line for comparison, if any.
    """
    steps = range(0, 10 * max(map(len, curves.values())), 10)
    figure, axes = _plot_two(steps, curves, xlabel="step", title=title)
    if even_share is not None:
        axes.axhline(even_share, **style.DOTTED)
    style.name_lines(axes)
    alt = f"{title.capitalize()} over steps. {told.curves(curves)}"
    show(figure, alt, number, caption)


def _smooth(values: Sequence[float], window: int = 25) -> list[float]:
    """The moving average: the mean of each value and up to window - 1 before it."""
    parts = [values[max(0, n - window) : n] for n in range(1, len(values) + 1)]
    return [sum(part) / len(part) for part in parts]
