"""Equations as MathML, which browsers draw without script or font from elsewhere."""

from __future__ import annotations

import html
import re

import latex2mathml.converter

_LONGEST = 2000
# What latex2mathml does not know: more space between rows, and escapes within text.
_ROW_SPACE = re.compile(r"(\\\\)\s*\[-?[\d.]+\s*[a-z]{2}\]")
_TEXT = re.compile(r"\\text\{[^}]*\}")


def equation(tex: str, display: bool = False) -> str:
    """An equation as MathML; one that cannot be read stays as it was written."""
    delimiter = "$$" if display else "$"
    plain = f"<code>{html.escape(delimiter + tex + delimiter)}</code>"
    if len(tex) > _LONGEST:
        return plain
    tex = _ROW_SPACE.sub(r"\1", tex)
    tex = _TEXT.sub(lambda text: re.sub(r"\\([&%_#$])", _escape, text[0]), tex)
    # latex2mathml knows `split`, which is the same inside an equation.
    tex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", tex.strip())
    try:
        kind = "block" if display else "inline"
        return str(latex2mathml.converter.convert(tex, display=kind))
    except Exception:  # its errors have no common class, and some are IndexError
        return plain


def _escape(match: re.Match[str]) -> str:
    return html.escape(match[1])


def latex(text: str) -> str:
    """An output of LaTeX, which may stand between one or two dollar signs."""
    stripped = text.strip()
    return equation(stripped.strip("$"), display=stripped.startswith("$$"))
