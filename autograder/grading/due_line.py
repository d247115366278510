"""Add a line below a notebook's title that says when it is due."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

_LINE = re.compile(r"^\*\*Due (.{1,80})\*\*$", re.MULTILINE)


def describe(due: datetime.datetime) -> str:
    """A deadline (UTC, without zone) in this computer's zone, with the zone's name."""
    moment = due.replace(tzinfo=datetime.UTC).astimezone()
    return f"{moment:%A, %d %B %Y, %H:%M} {moment.tzname()}"


def add_due_line(notebook: NotebookNode, due: datetime.datetime) -> None:
    """Add a line with the due date below a notebook's title, if it has a title."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            title, _, text = cell.source.partition("\n")
            cell.source = f"{title}\n\n**Due {describe(due)}**\n{text}".rstrip()
            return


def read_due(path: Path) -> str:
    """The due date that a released notebook states below its title; "" if none."""
    notebook = nbformat.read(path, as_version=4)
    titles = (cell.source for cell in notebook.cells if cell.source.startswith("# "))
    match = _LINE.search(next(titles, ""))
    return match[1] if match else ""
