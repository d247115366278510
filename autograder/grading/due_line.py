"""When a notebook is due, in a line below its title."""

from __future__ import annotations

import datetime

from nbformat import NotebookNode


def describe(due: datetime.datetime) -> str:
    """A deadline (UTC, without zone) in this computer's time zone, which it names."""
    moment = due.replace(tzinfo=datetime.UTC).astimezone()
    return f"{moment:%A, %d %B %Y, %H:%M} {moment.tzname()}"


def add_due_line(notebook: NotebookNode, due: datetime.datetime) -> None:
    """Add when it is due below a notebook's title; without one, it stays as it is."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            title, _, text = cell.source.partition("\n")
            cell.source = f"{title}\n\n**Due {describe(due)}**\n{text}".rstrip()
            return
