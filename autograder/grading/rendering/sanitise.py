"""Sanitise untrusted HTML: no script, no request, no form, no frame.

nh3 does this: it parses as browsers do, while bleach is no longer developed.
"""

from __future__ import annotations

import re

import nh3


def _words(text: str) -> set[str]:
    return set(text.split())


_MATH = _words(
    """math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder
    mover munderover mtable mtr mtd mstyle mpadded mphantom"""
)
_LENGTHS = _words("width height depth lspace rspace minsize maxsize linethickness")
_MATH_ATTRIBUTES = _LENGTHS | _words(
    """display mathvariant stretchy fence separator form accent accentunder columnalign
    rowspacing columnspacing displaystyle scriptlevel movablelimits largeop symmetric"""
)
_ATTRIBUTES = {
    "*": {"style", "title", "dir", "lang", "hidden"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "details": {"open"},
    "ol": {"start"},
    **{cell: {"colspan", "rowspan", "align"} for cell in ("td", "th")},
    **{tag: _MATH_ATTRIBUTES for tag in _MATH},
}
_STYLES = _words(
    """color background-color font-size font-style font-weight font-family text-align
    text-decoration white-space width height max-width max-height min-width min-height
    margin margin-left margin-right margin-top margin-bottom padding padding-left
    padding-right padding-top padding-bottom border border-left border-right border-top
    border-bottom border-color border-radius border-collapse display vertical-align
    line-height opacity"""
)
_PICTURE = re.compile(
    r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+"
)
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_NUMBER = re.compile(r"(-?)\.?(\d+)(?:\.\d+)?([a-z%]*)")
# The largest number by unit; one without any is a font weight, or part of a colour.
_MOST = {"": 1000, "px": 2000, "pt": 1500, "em": 100, "rem": 100, "ex": 200, "ch": 200,
         "%": 100}  # fmt: skip
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}\b")


def _attribute(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute if it is harmless, else None."""
    if name == "src":
        return value if _PICTURE.fullmatch(value) else None
    if name == "href":
        return value if _LINK.match(value) else None
    if name == "style":
        return _style(value)
    if name in _LENGTHS:
        return value if is_moderate(value) else None
    return value


def _style(value: str) -> str | None:
    """Return the harmless declarations of a style; None if there are none.

    A style that contains a backslash, "@", "<" or "!" is dropped as a whole.
    """
    if re.search(r"[\\@<!]", value):
        return None
    harmless = [part for part in value.split(";") if _is_harmless(part)]
    return ";".join(harmless) or None


def _is_harmless(declaration: str) -> bool:
    """Return whether a declaration like "width: 80px" is harmless."""
    name, _, value = declaration.partition(":")
    if name.strip().lower() not in _STYLES or "(" in re.sub(r"rgba?\(", "", value):
        return False
    # A colour may hold any number: it moves nothing.
    return "color" in name or is_moderate(value)


def is_moderate(value: str) -> bool:
    """Return whether all numbers in a style or length are small enough.

    Large or negative numbers could hide other content.
    """
    return all(
        not sign and len(digits) <= 4 and int(digits) <= _MOST.get(unit, -1)
        for sign, digits, unit in _NUMBER.findall(_COLOUR.sub("", value).lower())
    )


_CLEANER = nh3.Cleaner(
    tags=(nh3.ALLOWED_TAGS - {"area", "map", "nav"}) | _MATH,
    clean_content_tags={"script", "style", "iframe", "object", "template", "noscript"},
    attributes=_ATTRIBUTES,
    attribute_filter=_attribute,
    filter_style_properties=_STYLES,
    url_schemes={"http", "https", "mailto", "data"},
)


def clean_html(text: str) -> str:
    """Return untrusted HTML with only the allowed tags, attributes and styles."""
    return _CLEANER.clean(text)
