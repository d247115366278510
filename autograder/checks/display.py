"""Show figures in a notebook; grading leaves them out, but for their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.checks.console import showable
from autograder.checks.frontend import left_out
from autograder.checks.language import _
from autograder.figures import page
from autograder.figures.page import Drawn
from autograder.figures.svg import as_svg, label
from autograder.root import CONTENT


def show(figure: Any, alt: str, number: str = "", caption: str = "") -> None:
    """Display a matplotlib figure with a text alternative for who cannot see it.

    It follows the page's theme (`figures.svg`). The figure is closed, so that it is not
    shown twice.

    Args:
        number: of the figure, like "2.3".
        caption: a sentence below it; what it shows.
    """
    if not _told(alt):
        drawn = Drawn(as_svg(figure, alt), alt)
        _display(page.figure(drawn, number, caption), number, caption, alt)
    _close(figure)


def show_steps(
    frames: Sequence[Any],
    captions: Sequence[str],
    alts: Sequence[str],
    number: str = "",
    caption: str = "",
) -> None:
    """Display figures of one size that the reader moves through, without any script.

    Args:
        frames: matplotlib figures; all are closed.
        captions: a sentence for each of them.
        alts: a text alternative for each of them.
        number, caption: of the whole, as for `show`.
    """
    told = " ".join(alts)
    if not _told(told):
        pairs = zip(frames, alts, strict=True)
        drawn = [Drawn(as_svg(figure, alt, tight=False), alt) for figure, alt in pairs]
        _display(page.steps(drawn, captions, number, caption), number, caption, told)
    for figure in frames:
        _close(figure)


def drawing(name: str, number: str, caption: str) -> None:
    """Display one of the course's own drawings (``drawings/NAME.svg``)."""
    path = CONTENT / "drawings" / f"{name}.svg"
    svg = path.read_text("utf-8")
    drawn = Drawn(svg, label(svg))
    if not _told(drawn.alt):
        _display(page.figure(drawn, number, caption), number, caption, drawn.alt)


def _told(alt: str) -> bool:
    """Whether a figure's words stand in its place, as they do while grading."""
    if left_out():
        print(showable(_("(figure left out while grading: {alt})").format(alt=alt)))
    return left_out()


def _display(html: str, number: str, caption: str, alt: str) -> None:
    from IPython.display import display

    label = f"Figure {number}. " if number else ""
    display({"text/html": html, "text/plain": f"{label}{caption} {alt}"}, raw=True)


def _close(figure: Any) -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)
