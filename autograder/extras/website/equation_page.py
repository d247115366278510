"""A page with the equations of the units, for reference and to check how they look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from autograder.course import Unit

# Code contains no equations. A heading begins a section.
_PART = re.compile(
    r"^\#{2,3}[ ](?P<heading>[^\n]+)|```.*?```|`[^`\n]*`|\$\$(?P<display>.+?)\$\$"
    r"|(?<![\\$])\$(?P<inline>\S|\S[^$]*?[^\s\\$])\$",
    re.DOTALL | re.MULTILINE,
)
# An inline equation is listed only if it has more than one line to lay out.
_TALL = re.compile(r"\\(?:[dt]?frac|sqrt|sum|prod|int|binom|begin)(?![A-Za-z])")
_START = "# Equations\n\nThe equations of the units, each beside its section."


def page(texts: Sequence[tuple[Unit, str, Sequence[NotebookNode]]]) -> str:
    """The text of a Markdown page with the equations of each unit, without repeats.

    Args:
        texts: each unit with its title and the cells of its release.
    """
    units = (_list(*text) for text in texts)
    return "\n\n".join([_START, *filter(None, units)]) + "\n"


def _list(unit: Unit, title: str, cells: Sequence[NotebookNode]) -> str:
    """A unit's equations, section by section, under its title; "" if it has none."""
    headings: dict[str, str] = {}  # under which each equation first appears
    for heading, equation in _equations(cells):
        headings.setdefault(equation, heading)
    sections: dict[str, list[str]] = {}
    for equation, heading in headings.items():
        sections.setdefault(heading, []).append(equation)
    parts = [_section(unit, *section) for section in sections.items()]
    return "\n\n".join([f"## [{title}]({unit.label})", *parts]) if parts else ""


def _section(unit: Unit, heading: str, equations: Sequence[str]) -> str:
    """A section's equations beside a link to it, as HTML around Markdown."""
    # MyST makes the same anchor of the heading, and leaves out equations.
    words = re.sub(r"\$.*?\$|[^\w\- ]", "", heading.lower())
    anchor = words.replace(" ", "-")
    link = f"[{heading}]({unit.label}.ipynb#{anchor})" if heading else "<p></p>"
    # A display equation is written on lines of its own.
    display = [equation for equation in equations if "\n" in equation]
    inline = [equation for equation in equations if "\n" not in equation]
    row = [link, "<div>", *display, " &emsp; ".join(inline), "</div>"]
    return "\n\n".join(filter(None, ['<div class="listed">', *row, "</div>"]))


def _equations(cells: Sequence[NotebookNode]) -> Iterator[tuple[str, str]]:
    """Yield a section's heading and the Markdown of an equation that is listed."""
    heading = ""
    for cell in (cell for cell in cells if cell.cell_type == "markdown"):
        for match in _PART.finditer(cell.source):
            heading = match["heading"] or heading
            if display := match["display"]:
                yield heading, f"$$\n{' '.join(display.split())}\n$$"
            elif _TALL.search(match["inline"] or ""):
                yield heading, f"${' '.join(match['inline'].split())}$"
