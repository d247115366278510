"""Drawings in a notebook: by path in notebooks/, by value in what is built from it.

`![alt](../assets/figures/name.png)` becomes a data URI. Neither an SVG nor an
attachment would do: Colab shows none of them in a text cell.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

from autograder.course.errors import CourseError

_FOLDER = "assets/figures"
_LINK = re.compile(rf"!\[([^\]]*)\]\(\.\./({_FOLDER}/[\w-]+\.png)\)")
_PREFIX = "data:image/png;base64,"
_VALUE = re.compile(rf"!\[([^\]]*)\]\({_PREFIX}([A-Za-z0-9+/=]+)\)")


def embed(text: str, root: Path, where: str) -> str:
    """The text of a cell with its drawings in it.

    Raises:
        CourseError: a drawing is not there, or has no text for who cannot see it.
    """

    def value(found: re.Match[str]) -> str:
        alt, path = found.groups()
        if not alt.strip() or not (root / path).is_file():
            problem = (
                "there is no such drawing" if alt.strip() else "its [alt] is empty"
            )
            raise CourseError(f"{where}: {path}: {problem}")
        return f"![{alt}]({_PREFIX}{_encoded(root / path)})"

    return _LINK.sub(value, text)


def name(text: str, root: Path) -> str:
    """The text of a cell with its drawings by path again; other pictures stay."""
    if not _VALUE.search(text):
        return text
    paths = {_encoded(path): path.name for path in (root / _FOLDER).glob("*.png")}

    def link(found: re.Match[str]) -> str:
        alt, data = found.groups()
        known = paths.get(data)
        return f"![{alt}](../{_FOLDER}/{known})" if known else found[0]

    return _VALUE.sub(link, text)


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
