"""Render the texts of a page within limits, cell by cell; the rest is shown as text."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autograder.grading.rendering.process import Drawing, Renderer

_DRAWER = Renderer()


@dataclass(frozen=True)
class Allowance:
    """Limits on rendering a cell and a page: processor time (seconds) and characters.

    ``cut`` is how many characters are shown of a text that is not rendered.
    """

    cell_seconds: float = 2.0
    page_seconds: float = 10.0
    cell_characters: int = 2_000_000
    page_characters: int = 20_000_000
    cut: int = 10_000  # characters shown of a text that is not rendered


ALLOWANCE = Allowance()
DrawPlot = Callable[[str, Mapping[str, object], float], Drawing]


class Page:
    """Renders the texts of one page as HTML, within limits for each cell and the page.

    A text beyond the limits is shown as it was written, and cut if it is long.
    """

    def __init__(self, allowance: Allowance = ALLOWANCE, draw: DrawPlot = _DRAWER.draw):
        self._allowance, self._draw = allowance, draw
        self._seconds, self._characters = allowance.page_seconds, 0
        self.next_cell()

    def next_cell(self) -> None:
        """Begin the allowance of the next cell."""
        self._cell_seconds, self._cell_characters = self._allowance.cell_seconds, 0

    def render(self, kind: str, text: str, **arguments: object) -> str:
        """Render a text; show it as plain text if that fails or exceeds the allowance.

        ``kind`` is a key of `drawing.DRAWINGS`: the function there gets the arguments.
        """
        markup = self._within(kind, text, **arguments)
        return self._plain(text) if markup is None else markup

    def trim_traceback(self, text: str, cell_numbers: list[str], message: str) -> str:
        """Trim a traceback to its frames in the given cells, followed by ``message``.

        The result is plain text, and only ``message`` if trimming fails.
        """
        arguments = {"cell_numbers": cell_numbers, "message": message}
        markup = self._within("traceback", text, **arguments)
        return message if markup is None else markup

    def _within(self, kind: str, text: str, **arguments: object) -> str | None:
        """Render a text within the limits; return None if that fails."""
        allowance = self._allowance
        seconds = min(self._cell_seconds, self._seconds)
        room = min(
            allowance.cell_characters - self._cell_characters,
            allowance.page_characters - self._characters,
        )
        if seconds <= 0 or len(text) > room:
            return None
        drawing = self._draw(kind, {"text": text, **arguments}, seconds)
        self._seconds -= drawing.seconds
        self._cell_seconds -= drawing.seconds
        if drawing.html is None or len(drawing.html) > 10 * room:
            return None
        size = max(len(text), len(drawing.html) // 10)  # code is mostly tags
        self._characters += size
        self._cell_characters += size
        return drawing.html

    def _plain(self, text: str) -> str:
        """HTML that shows a text as it was written, cut if it is long."""
        most = self._allowance.cut
        cut = f", and only its first {most:,} characters" if len(text) > most else ""
        return (
            f'<p style="font-style:italic">This is shown as plain text{cut}: '
            f"to draw it takes too long.</p><pre>{html.escape(text[:most])}</pre>"
        )
