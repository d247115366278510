"""Add a line below a notebook's title that says when it is due."""

from __future__ import annotations

import datetime

from nbformat import NotebookNode


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
