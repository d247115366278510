"""The class's leaderboard of recovered texts: BLEU and recall by ability, opt-in names.

Grading measures every model on sentences of its own drawing and keeps the scores in the
verdict's record. Only who writes a name into LEADERBOARD_NAME appears, under that name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.classroom import page
from autograder.course import graded_notebooks, sheet
from autograder.course.files import write as write_whole
from autograder.grading import metadata
from autograder.grading.metadata import GradingMetadata

ABILITIES = ("case", "punctuation", "function words", "inflection")
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Entry:
    """A model on the board: the name that its author chose, and its scores."""

    name: str
    bleu: float
    recall: dict[str, float] = field(default_factory=dict)


def read(unit: str, root: Path) -> list[Entry]:
    """The entries of all graded submissions of an assignment, the best first."""
    paths = graded_notebooks(unit, root)
    found = (_entry(metadata.read(path)) for path in paths)
    return ranked(entry for entry in found if entry)


def ranked(entries: Iterable[Entry]) -> list[Entry]:
    """By BLEU, the best first; equal ones by name."""
    return sorted(entries, key=lambda entry: (-entry.bleu, entry.name))


def _entry(notebook: dict[str, Any]) -> Entry | None:
    name = chosen_name(notebook)
    records = GradingMetadata.of(notebook).checks.values()
    measured = (record.scores for record in records)
    scores = next((found for found in measured if "bleu" in found), None)
    if not name or not scores:
        return None
    recall = {a: scores[a] for a in ABILITIES if a in scores}
    return Entry(name, scores["bleu"], recall)


def chosen_name(notebook: dict[str, Any]) -> str:
    """The text that a notebook assigns to LEADERBOARD_NAME; "" for none.

    The cell is read, never run; only a plain text counts.
    """
    for cell in reversed(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or "LEADERBOARD_NAME" not in source:
            continue
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # of its depth
            continue
        for node in body:
            match node:
                case ast.Assign(
                    [ast.Name("LEADERBOARD_NAME")], ast.Constant(str(name))
                ):
                    return _shown(name)
    return ""


def _shown(name: str) -> str:
    """A name without what no file can hold, or what turns the text around it."""
    line = " ".join(name.split())
    return "".join(letter for letter in line if letter.isprintable())[:_LONGEST_NAME]


def as_csv(entries: Sequence[Entry]) -> str:
    """The board as CSV; shares are between 0 and 1, "" if nothing asked for one."""
    rows: list[list[object]] = [["rank", "name", "BLEU", *ABILITIES]]
    for rank, entry in enumerate(entries, 1):
        shares = (sheet.number(entry.recall.get(ability)) for ability in ABILITIES)
        rows.append([rank, sheet.harmless(entry.name), f"{entry.bleu:.2f}", *shares])
    return sheet.as_text(rows)


def as_html(unit: str, entries: Sequence[Entry]) -> str:
    """The board as one page without scripts; bars are drawn beside their numbers."""
    return page.render(
        "leaderboard.html.j2", unit, entries=entries, abilities=ABILITIES
    )


def write(unit: str, root: Path) -> list[Path]:
    """Write the board of an assignment into the course's reports; the paths."""
    entries, base = read(unit, root), root / "reports" / f"{unit}-leaderboard"
    pages = {".html": as_html(unit, entries), ".csv": as_csv(entries)}
    for suffix, text in pages.items():
        write_whole(base.with_suffix(suffix), text.encode())
    return [base.with_suffix(suffix) for suffix in pages]
