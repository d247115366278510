"""Write a matplotlib figure as SVG that is readable on light and dark pages.

The background is transparent. Text, axes and black curves take the colour of
the page's text, but whatever is drawn onto a heat map or a filled shape keeps
its colour.
"""

from __future__ import annotations

import html
import io
import itertools
import re
from collections.abc import Iterator
from typing import Any

from autograder.figures.style import INK, PALETTE

_BLACK = (0.0, 0.0, 0.0)
# The font is JupyterLab's in JupyterLab, and the system's elsewhere. It may be wider
# than matplotlib's, so text may overflow the edge.
_STYLE = (
    "max-width:100%;height:auto;overflow:visible;stroke-linejoin:round;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif)"
)


# Attributes to remove: matplotlib's font, in place of which the page's is used, and
# those without an effect.
_NEEDLESS = (
    r"font-family: [^;\"]*;? ?|; stroke-linejoin: miter"
    r"| transform=\"rotate\(-?0 [^\"]*\""
)
# The style's colours suit lines; as words, they have too little contrast.
_COLOUR = re.compile(f"(?<=fill: )(?:{'|'.join(PALETTE)})", re.IGNORECASE)
_FOR_WORDS = r"color-mix(in srgb, \g<0> 78%, currentColor)"


def as_svg(figure: Any, alt: str, tight: bool = True) -> str:
    """Convert a figure to an SVG element, with the text alternative ``alt``.

    Args:
        tight: whether to cut off empty margins; frames shown in turn keep theirs.
    """
    import matplotlib
    from matplotlib.colors import to_rgba

    for part in _around(figure):
        _paint(part, to_rgba)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": alt}):  # for ids that do not change
        figure.savefig(
            buffer, format="svg", transparent=True, metadata={"Date": None},
            bbox_inches="tight" if tight else None,
        )  # fmt: skip
    text = buffer.getvalue()
    text = _short(text[text.index("<svg") :].replace(INK, "currentColor"))
    label = html.escape(alt, quote=True)
    opened = f'<svg role="img" aria-label="{label}" style="{_STYLE}"'
    return text.replace("<svg", opened, 1)


def label(svg: str) -> str:
    """The text alternative of an SVG element that `as_svg` made."""
    match = re.search(r'aria-label="([^"]*)"', svg)
    return html.unescape(match[1]) if match else ""


def _short(text: str) -> str:
    """Shorten SVG, because each copy of a notebook contains it."""
    # The style sheet would also affect the rest of the page.
    text = re.sub(r"<(style|metadata)\b.*?</\1>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    return re.sub(r"\n\s*", "\n", re.sub(r"<[^>]*>", _short_tag, text))


def _short_tag(match: re.Match[str]) -> str:
    """Shorten a tag: round to hundredths of a point, and leave the font to the page."""
    tag = re.sub(r'^<g id="[^"]*"(/?)>', r"<g\1>", match[0])
    tag = re.sub(r"(\.\d\d)\d+", r"\1", tag)
    tag = re.sub(r"(?<=\d) ?\n(?=[A-Zz] ?)", "", tag)  # of paths
    if re.match("<tspan", tag):  # in powers such as 10², the group has these as well
        tag = re.sub(r"; (?:fill|opacity): [^;\"]*", "", tag)
    if re.match("<text", tag):
        tag = _COLOUR.sub(_FOR_WORDS, tag)
    return "" if tag == "<g/>" else re.sub(_NEEDLESS, "", tag)


def _around(figure: Any) -> Iterator[Any]:
    """Yield the parts of a figure that are drawn on the page's background.

    The frames of legends are made transparent.
    """
    yield from figure.texts
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            yield axis.label
            yield axis.offsetText
            for tick in itertools.chain(axis.get_major_ticks(), axis.get_minor_ticks()):
                yield from (tick.label1, tick.label2, tick.tick1line, tick.tick2line)
        titles = {t for t in axes.get_children() if hasattr(t, "get_text")}
        yield from titles - set(axes.texts)
        yield from axes.spines.values()
        if legend := axes.get_legend():
            legend.get_frame().set_alpha(0.0)
            yield from (*legend.get_texts(), *legend.legend_handles)
        shapes = [patch for patch in axes.patches if patch.get_fill()]
        # With an image or a filled shape, lines keep their colour, and texts on it too.
        if not axes.images:
            yield from () if shapes else axes.lines
            yield from (text for text in axes.texts if not _stands_on(text, shapes))


def _stands_on(text: Any, shapes: list[Any]) -> bool:
    """Whether the middle of a text is on one of the shapes."""
    box = text.get_window_extent()
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    return any(shape.get_window_extent().contains(x, y) for shape in shapes)


def _paint(part: Any, to_rgba: Any) -> None:
    """Replace visible black by the colour of the page's text; keep any other colour.

    It is replaced by `INK` here, which `as_svg` then replaces by that colour.
    """
    for kind in ("color", "edgecolor", "markeredgecolor", "markerfacecolor"):
        if not hasattr(part, f"set_{kind}") or not hasattr(part, f"get_{kind}"):
            continue
        painted = getattr(part, f"get_{kind}")()
        try:
            *colour, opacity = to_rgba(painted)
        except (TypeError, ValueError):  # several colours, or none
            continue
        if tuple(colour) == _BLACK and opacity > 0:  # an invisible frame stays so
            getattr(part, f"set_{kind}")(INK)
