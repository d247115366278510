"""Show figures in a notebook; grading prints their text alternatives instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.checks.console import showable
from autograder.checks.frontend import is_grading
from autograder.checks.language import _
from autograder.figures import page
from autograder.figures.page import Drawn
from autograder.figures.svg import as_svg, label
from autograder.root import CONTENT


def show(figure: Any, alt: str, number: str = "", caption: str = "") -> None:
    """Display a matplotlib figure with a text alternative, and close it.

    Args:
        alt: describes the figure to those who cannot see it.
        number: the figure's number, like "2.3".
        caption: a sentence below the figure.
    """
    if not _print_instead(alt):
        picture = Drawn(as_svg(figure, alt), alt)
        _display(page.figure(picture, number, caption), number, caption, alt)
    _close(figure)


def show_steps(
    frames: Sequence[Any],
    captions: Mapping[str, str],
    alts: Sequence[str],
    number: str = "",
    caption: str = "",
    *,
    opened: int = 0,
    areas: Sequence[page.Area] = (),
) -> None:
    """Display figures of one size, of which the reader selects one with a button.

    Args:
        frames: matplotlib figures, which are closed.
        captions: a sentence for each frame, by the label of its button.
        alts: a text alternative for each frame.
        opened: the index of the frame that is shown first.
        areas: for each frame, the area that shows it when the mouse is over it.
    """
    text = " ".join(alts)
    if not _print_instead(text):
        pairs = zip(frames, alts, strict=True)
        drawn = [Drawn(as_svg(figure, alt, tight=False), alt) for figure, alt in pairs]
        html = page.steps(drawn, captions, number, caption, opened=opened, areas=areas)
        _display(html, number, caption, text)
    for figure in frames:
        _close(figure)


def drawing(name: str, number: str, caption: str) -> None:
    """Display one of the course's own drawings (``drawings/NAME.svg``)."""
    picture = _read_drawing(CONTENT, name)
    if not _print_instead(picture.alt):
        _display(page.figure(picture, number, caption), number, caption, picture.alt)


def drawing_output(
    content: Path, name: str, number: str, caption: str
) -> dict[str, str]:
    """What `drawing` displays, by MIME type; ``content`` is the course's package."""
    picture = _read_drawing(content, name)
    html = page.figure(picture, number, caption)
    return _bundle(html, number, caption, picture.alt)


def _read_drawing(content: Path, name: str) -> Drawn:
    svg = (content / "drawings" / f"{name}.svg").read_text("utf-8")
    return Drawn(svg, label(svg))


def _print_instead(alt: str) -> bool:
    """Print a figure's text alternative if this is grading; return whether it is."""
    if is_grading():
        print(showable(_("(figure left out while grading: {alt})").format(alt=alt)))
    return is_grading()


def _display(html: str, number: str, caption: str, alt: str) -> None:
    from IPython.display import display

    display(_bundle(html, number, caption, alt), raw=True)


def _bundle(html: str, number: str, caption: str, alt: str) -> dict[str, str]:
    """A figure as a cell's output: HTML and a text alternative, by MIME type."""
    label = f"Figure {number}. " if number else ""
    return {"text/html": html, "text/plain": f"{label}{caption} {alt}"}


def _close(figure: Any) -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)
