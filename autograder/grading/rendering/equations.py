"""Convert equations to MathML, which browsers render without scripts or downloads."""

from __future__ import annotations

import base64
import functools
import html
import itertools
import re
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import latex2mathml.converter

FONT = Path(__file__).parents[1] / "templates" / "course_math.woff2"  # its license too
_MAX_LENGTH = 2000  # characters
# What latex2mathml does not know: more space between rows, and escapes within text.
_ROW_SPACE = re.compile(r"(\\\\)\s*\[-?[\d.]+\s*[a-z]{2}\]")
_TEXT = re.compile(r"\\text\{[^}]*\}")
_FUNCTION = re.compile(r"[A-Za-z]{2,}")  # one letter is a variable
_SPACES = {"|": "0", ":": "0.222em"}  # around these signs
_CLOSING = ")]}|⊤"
_NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'


def equation(tex: str, display: bool = False) -> str:
    """Convert an equation to MathML; if this fails, show its source."""
    delimiter = "$$" if display else "$"
    plain = f"<code>{html.escape(delimiter + tex + delimiter)}</code>"
    if len(tex) > _MAX_LENGTH:
        return plain
    tex = _ROW_SPACE.sub(r"\1", tex)
    tex = _TEXT.sub(lambda text: re.sub(r"\\([&%_#$])", _escape, text[0]), tex)
    # latex2mathml knows `split`, which is the same inside an equation.
    tex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", tex.strip())
    try:
        kind = "block" if display else "inline"
        return _adjust(str(latex2mathml.converter.convert(tex, display=kind)))
    except Exception:  # its errors have no common class, and some are IndexError
        return plain


@functools.cache
def font_rules() -> str:
    """CSS with an embedded font for equations, in which parentheses can stretch."""
    data = base64.b64encode(FONT.read_bytes()).decode()
    source = f"url(data:font/woff2;base64,{data})"
    family = '"Course Math"'
    return (
        f"@font-face {{ font-family: {family}; src: {source}; }}\n"
        f"math {{ font-family: {family}, math; }}\n"
    )


def _escape(match: re.Match[str]) -> str:
    return html.escape(match[1])


def _adjust(markup: str) -> str:
    """Give MathML the spaces and the alignment of columns that TeX would use."""
    root = ElementTree.fromstring(markup.replace(_NAMESPACE, ""))
    for node in root.iter():
        if node.tag == "mo" and _FUNCTION.fullmatch(node.text or ""):
            node.tag = "mi"  # browsers put the spaces of a relation around operators
        if node.text == ":":
            node.tag = "mo"
        if node.tag == "mo" and (space := _SPACES.get(node.text or "")):
            node.attrib |= {"lspace": space, "rspace": space}
        if node.tag == "mtd" and (side := node.get("columnalign")):
            node.set("style", f"text-align:{side}")
    for row in [*root.iter("mrow"), *root.iter("mtd")]:
        _space_functions(row)
        _join_signs(row)
    text = ElementTree.tostring(root, encoding="unicode")
    return text.replace("<math", f"<math{_NAMESPACE}", 1)


def _space_functions(row: Element) -> None:
    """Put a thin space between a function's name and the operands beside it."""
    for left, right in itertools.pairwise(list(row)):
        beside = [part for part in (left, right) if not _is_function(part)]
        # One of the two, or both, must be a function.
        if len(beside) < 2 and all(map(_is_operand, beside)):
            space = Element("mspace", width="0.167em")
            row.insert(list(row).index(right), space)


def _join_signs(row: Element) -> None:
    """Mark each minus after an operator as unary, so that no space follows it.

    The row is changed in place. After a closing bracket, a minus stays binary.
    """
    for left, right in itertools.pairwise(row):
        is_open = left.tag == "mo" and (left.text or "") not in _CLOSING
        if is_open and right.tag == "mo" and right.text == "−":
            right.set("form", "prefix")


def _is_function(part: Element) -> bool:
    """Whether an element is a name like log, also with an index or a range below it."""
    name = part[0] if part.tag in ("msub", "msup", "munder", "munderover") else part
    return name.tag == "mi" and bool(_FUNCTION.fullmatch(name.text or ""))


def _is_operand(part: Element) -> bool:
    """Whether a function's name is separated from this part by a space."""
    is_bar = part.tag == "mo" and part.text == "|"
    # A group that begins with an operator, such as a parenthesis.
    is_fenced = part.tag == "mrow" and len(part) > 0 and part[0].tag == "mo"
    return is_bar or not (is_fenced or part.tag in ("mo", "mspace", "mtext"))


def latex(text: str) -> str:
    """Convert LaTeX to MathML; it may be enclosed in one or two dollar signs."""
    stripped = text.strip()
    return equation(stripped.strip("$"), display=stripped.startswith("$$"))
