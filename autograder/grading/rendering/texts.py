"""Untrusted text as safe HTML: Markdown, code, ANSI colours and tracebacks."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Collection, Iterator, Mapping

import pygments
from nbconvert.filters import ansi2html, strip_ansi
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from autograder.grading.rendering.equations import equation
from autograder.grading.rendering.sanitise import clean_html

Attachments = Mapping[str, Mapping[str, str]]

# No `\s`, which takes quadratic time on many blank lines.
_FRAME = re.compile(
    r"^[ \t]*(?:Cell In\[(\d{1,9})\]|File |<ipython-input-(\d{1,9}))", re.MULTILINE
)


class _Renderer(IPythonRenderer):
    """nbconvert's Markdown renderer, with MathML equations and attached pictures."""

    def block_math(self, body: str) -> str:
        return equation(body, display=True)

    def latex_environment(self, name: str, body: str) -> str:
        return equation(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)

    def inline_math(self, body: str) -> str:
        return equation(body)

    def _embed_image_or_attachment(self, src: str) -> str:
        name = src.removeprefix("attachment:")
        for kind, data in self.attachments.get(name, {}).items():
            return f"data:{kind};base64,{data}"
        return src


def markdown(text: str, attachments: Attachments | None = None) -> str:
    """Render Markdown as HTML, with the pictures that are attached to the cell."""
    renderer = _Renderer(
        escape=False,
        exclude_anchor_links=True,
        attachments={n: dict(b) for n, b in (attachments or {}).items()},
    )
    try:
        rendered = str(MarkdownWithMath(renderer=renderer).render(text))
    except Exception:  # the parser cannot handle this text
        rendered = f"<pre>{html.escape(text)}</pre>"
    return clean_html(rendered)


def highlighted(text: str) -> str:
    """Python code of a notebook as HTML."""
    lexer = get_lexer_by_name("ipython3")
    return str(pygments.highlight(text, lexer, HtmlFormatter(wrapcode=True)))


def terminal(text: str) -> str:
    """Text with ANSI escapes as HTML."""
    return str(ansi2html(text))


def traceback(text: str, cell_numbers: Collection[str], message: str) -> str:
    """Return a traceback's frames in some cells as plain text, with ``message`` below.

    ``cell_numbers`` are the execution counts of these cells, like "3".
    """
    return "\n".join([*_frames(str(strip_ansi(text)), cell_numbers), message])


def _frames(text: str, cell_numbers: Collection[str]) -> Iterator[str]:
    """Yield the text of each frame in a cell with one of these execution counts."""
    frames = list(_FRAME.finditer(text))
    boundaries = [*(frame.start() for frame in frames), len(text)]
    for frame, (start, end) in zip(frames, itertools.pairwise(boundaries), strict=True):
        if (frame[1] or frame[2]) in cell_numbers:
            # A frame ends at its blank line; the last is followed by the message.
            yield text[start:end].strip("\n").split("\n\n")[0]
