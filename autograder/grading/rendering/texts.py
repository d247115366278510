"""Anyone's text as harmless HTML: Markdown, code, terminal colours."""

from __future__ import annotations

import html
from collections.abc import Mapping

import pygments
from nbconvert.filters import ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from autograder.grading.rendering.equations import equation
from autograder.grading.rendering.sanitise import clean_html

Attachments = Mapping[str, Mapping[str, str]]


class _Renderer(IPythonRenderer):
    """nbconvert's markdown with equations as MathML and no anchors."""

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
    """Markdown as HTML; pictures that were dropped into the cell are part of it."""
    renderer = _Renderer(
        escape=False,
        exclude_anchor_links=True,
        attachments={n: dict(b) for n, b in (attachments or {}).items()},
    )
    try:
        rendered = str(MarkdownWithMath(renderer=renderer).render(text))
    except Exception:  # text that a parser of anybody's text cannot bear
        rendered = f"<pre>{html.escape(text)}</pre>"
    return clean_html(rendered)


def highlighted(text: str) -> str:
    """Python code of a notebook as HTML."""
    lexer = get_lexer_by_name("ipython3")
    return str(pygments.highlight(text, lexer, HtmlFormatter(wrapcode=True)))


def terminal(text: str) -> str:
    """Text with ANSI escapes as HTML."""
    return str(ansi2html(text))
