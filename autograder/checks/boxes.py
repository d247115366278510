"""HTML for the parts of a panel: a coloured box, a mark, lines that unfold."""

from __future__ import annotations

import re

from autograder.checks.words import sign

BLUE, ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: distinct for colour-blind readers
DARK_ORANGE = "#B34700"  # behind white text: a contrast of at least 4.5 to 1, like BLUE
_TINT = {BLUE: "rgba(0,114,178,.10)", ORANGE: "rgba(213,94,0,.10)"}


def boxed(colour: str, content: str) -> str:
    """HTML of a box around the content, edged in `BLUE` or `ORANGE`."""
    return (
        f'<div style="border-left:5px solid {colour};background:{_TINT[colour]};'
        "padding:.7em 1em;margin:.3em 0;line-height:1.45;max-width:58em;"
        f'color:inherit;font-family:sans-serif;font-size:14px">{content}</div>'
    )


def mark(passed: bool, is_partial: bool = False) -> str:
    """HTML of a white mark on colour: a tick, a cross or (if partial) half a disc."""
    colour = BLUE if passed or is_partial else DARK_ORANGE
    return (
        f'<span style="background-color:{colour};color:#fff;border-radius:3px;'
        "font-weight:bold;display:inline-block;width:1.5em;text-align:center;"
        f'margin-right:.5em">{sign(passed, is_partial)}</span>'
    )


def unfolding(head: str, inside: str, is_open: bool = False) -> str:
    """HTML of a line that the reader can unfold, and of what then appears below it."""
    return (
        f'<details style="margin:.2em 0"{" open" if is_open else ""}>'
        f'<summary style="cursor:pointer">{head}</summary>'
        f'<div style="margin-left:1.6em">{inside}</div></details>'
    )


def visible_words(panel: str) -> int:
    """Count the words of a panel that are visible before anything is unfolded."""
    words, hidden, is_closed = 0, 0, list[bool]()
    panel = re.sub(r"</?(?:span|b)\b[^>]*>", "", panel)  # not between words
    for part in re.split(r"(<[^>]*>)", panel):
        if part.startswith("<details"):
            is_closed.append(" open" not in part)
        elif part == "</summary>":
            hidden += is_closed[-1]
        elif part == "</details>":
            hidden -= is_closed.pop()
        elif part.startswith(("<svg", "</svg")):
            hidden += -1 if part.startswith("</") else 1
        elif not part.startswith("<") and not hidden:
            words += len(part.split())
    return words
