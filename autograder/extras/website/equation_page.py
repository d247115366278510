"""A page with all equations of the units, for reference and to check how they look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from autograder.course import Unit

_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_EQUATION = re.compile(
    r"\$\$(?P<display>.+?)\$\$|(?<![\\$])\$(?P<inline>\S|\S[^$]*?[^\s\\$])\$", re.DOTALL
)
_START = "# Equations\n\nEvery equation of the units, in the order of the text."


def page(texts: Sequence[tuple[Unit, str, Sequence[NotebookNode]]]) -> str:
    """The text of a Markdown page with the equations of each unit, without repeats.

    Args:
        texts: each unit with its title and the cells of its release.
    """
    return "\n\n".join([_START, *(_section(*text) for text in texts)]) + "\n"


def _section(unit: Unit, title: str, cells: Sequence[NotebookNode]) -> str:
    """A unit's equations under a heading; "" if it has none."""
    equations = list(dict.fromkeys(_equations(cells)))
    display = [f"$$\n{tex}\n$$" for is_display, tex in equations if is_display]
    inline = [f"${tex}$" for is_display, tex in equations if not is_display]
    parts = [f"## [{title}]({unit.label})", *display, " &emsp; ".join(inline)]
    return "\n\n".join(filter(None, parts)) if equations else ""


def _equations(cells: Sequence[NotebookNode]) -> Iterator[tuple[bool, str]]:
    """Yield each equation as a pair: whether it is a display equation, and its TeX."""
    for cell in cells:
        if cell.cell_type == "markdown":
            for match in _EQUATION.finditer(_CODE.sub("", cell.source)):
                tex = match["display"] or match["inline"]
                yield match["display"] is not None, " ".join(tex.split())
