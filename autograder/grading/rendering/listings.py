"""Code in colours, and the colours of a terminal."""

from __future__ import annotations

import pygments
from nbconvert.filters import ansi2html
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name


def highlighted(source: str) -> str:
    """Python code of a notebook as HTML."""
    lexer = get_lexer_by_name("ipython3")
    return str(pygments.highlight(source, lexer, HtmlFormatter(wrapcode=True)))


def terminal(text: str) -> str:
    """Text with ANSI escapes as HTML."""
    return str(ansi2html(text))
