"""Equations as MathML, which browsers draw without script or font from elsewhere."""

from __future__ import annotations

import html
import re

import latex2mathml.converter

_LONGEST = 2000


def equation(tex: str, display: bool = False) -> str:
    """An equation as MathML; one that cannot be read stays as it was written."""
    delimiter = "$$" if display else "$"
    plain = f"<code>{html.escape(delimiter + tex + delimiter)}</code>"
    if len(tex) > _LONGEST:
        return plain
    # latex2mathml knows `split`, which is the same inside an equation.
    tex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", tex.strip())
    try:
        kind = "block" if display else "inline"
        return str(latex2mathml.converter.convert(tex, display=kind))
    except Exception:  # its errors have no common class, and some are IndexError
        return plain


def latex(text: str) -> str:
    """An output of LaTeX, which may stand between one or two dollar signs."""
    stripped = text.strip()
    return equation(stripped.strip("$"), display=stripped.startswith("$$"))
