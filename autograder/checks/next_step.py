"""Where to go on after a right answer: an exercise, or the end of the short path."""

from __future__ import annotations

import html
from dataclasses import dataclass

from autograder.checks.language import _
from autograder.checks.rows import inline


@dataclass(frozen=True)
class Link:
    """The name of a place in a notebook, and its address; "" if that is unknown."""

    text: str
    address: str = ""

    @property
    def html(self) -> str:
        if not self.address:
            return inline(self.text)
        style = "color:inherit;text-decoration:underline"
        address = html.escape(self.address, quote=True)
        return f'<a href="{address}" style="{style}">{inline(self.text)}</a>'


@dataclass(frozen=True)
class NextStep:
    """Where to go on after a right answer.

    ``is_beyond``: the short path is done, and ``place`` lies beyond it. ``on_path``:
    where the short path goes on, if that is a different exercise.
    """

    place: Link
    is_beyond: bool = False
    on_path: Link | None = None

    def __str__(self) -> str:
        return self._after(self.place.text, self.on_path.text if self.on_path else "")

    @property
    def html(self) -> str:
        return self._after(self.place.html, self.on_path.html if self.on_path else "")

    def _after(self, place: str, on_path: str) -> str:
        """Say where to go on; both places are given as text or as HTML."""
        message = _("Next: {exercise}.")
        if self.is_beyond:
            message = _("The short path is done. Beyond it: {exercise}.")
        elif on_path:
            message = _("Next: {exercise}; on the short path: {other}.")
        return message.format(exercise=place, other=on_path)
