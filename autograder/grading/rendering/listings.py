"""Code in colours, and the colours of a terminal."""

from __future__ import annotations

import functools

import pygments
from nbconvert.filters import ansi2html
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name


def highlighted(source: str) -> str:
    """Python code of a notebook as HTML."""
    return str(pygments.highlight(source, _lexer(), HtmlFormatter(wrapcode=True)))


def terminal(text: str) -> str:
    """Text with ANSI escapes as HTML."""
    return str(ansi2html(text))


@functools.cache
def _lexer() -> Lexer:
    return get_lexer_by_name("ipython3")
