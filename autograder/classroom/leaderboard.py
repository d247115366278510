"""The class's leaderboard of recovered texts: BLEU and recall by ability, opt-in names.

Grading measures every model on sentences of its own drawing and keeps the scores in the
verdict's record. Only who writes a name into LEADERBOARD_NAME appears, under that name.
"""

from __future__ import annotations

import ast
import csv
import html
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course import Unit

MODEL = "text_recovery/model"
ABILITIES = ("case", "punctuation", "function words", "inflection")
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Entry:
    """A model on the board: the name that its author chose, and its scores."""

    name: str
    bleu: float
    recall: dict[str, float] = field(default_factory=dict)


def read(unit: Unit, root: Path) -> list[Entry]:
    """The entries of all graded submissions of a unit, the best first."""
    paths = sorted((root / "autograded").glob(f"*/{unit.label}/{unit.label}.ipynb"))
    found = (_entry(json.loads(path.read_text(encoding="utf-8"))) for path in paths)
    return ranked(entry for entry in found if entry)


def ranked(entries: Iterable[Entry]) -> list[Entry]:
    """By BLEU, the best first; equal ones by name."""
    return sorted(entries, key=lambda entry: (-entry.bleu, entry.name))


def _entry(notebook: dict) -> Entry | None:
    name = chosen_name(notebook)
    checks = notebook["metadata"].get("autograder", {}).get("checks", {})
    records = [r for r in checks.values() if r["exercise"] == MODEL]
    scores = records[0].get("scores") if records else None
    if not name or not scores or "bleu" not in scores:
        return None
    recall = {a: scores[a] for a in ABILITIES if a in scores}
    return Entry(name, scores["bleu"], recall)


def chosen_name(notebook: dict) -> str:
    """The text that a notebook assigns to LEADERBOARD_NAME; "" for none.

    The cell is read, never run; only a plain text counts.
    """
    for cell in reversed(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or "LEADERBOARD_NAME" not in source:
            continue
        try:
            body = ast.parse(source).body
        except SyntaxError:
            continue
        for node in body:
            match node:
                case ast.Assign(
                    [ast.Name("LEADERBOARD_NAME")], ast.Constant(str(name))
                ):
                    return " ".join(name.split())[:_LONGEST_NAME]
    return ""


def as_csv(entries: Sequence[Entry]) -> str:
    """The board as CSV, shares between 0 and 1."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["rank", "name", "BLEU", *ABILITIES])
    for rank, entry in enumerate(entries, 1):
        shares = (_number(entry.recall.get(ability), 4) for ability in ABILITIES)
        writer.writerow([rank, _harmless(entry.name), f"{entry.bleu:.2f}", *shares])
    return out.getvalue()


def _harmless(name: str) -> str:
    """A spreadsheet takes a text that begins like a formula for one."""
    return f"'{name}" if name[:1] in "=+-@" else name


def _number(value: float | None, digits: int) -> str:
    return "" if value is None or value != value else f"{value:.{digits}f}"


def as_html(entries: Sequence[Entry], title: str = "Text recovery") -> str:
    """The board as one page without scripts; bars are drawn beside their numbers."""
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("#", "name", "BLEU",
                                                              *ABILITIES))  # fmt: skip
    rows = "".join(_row(rank, entry) for rank, entry in enumerate(entries, 1))
    empty = "" if entries else "<p>Nobody is on the board yet.</p>"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>"
        f"<h1>{html.escape(title)}</h1>"
        "<p>1,000 fresh sentences for each model. BLEU: sacrebleu, 13a, case counts. "
        "Abilities: the share of what was lost that came back.</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{empty}</html>"
    )


_STYLE = (
    "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;"
    "color-scheme:light dark}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.4em .8em;border-bottom:1px solid #8886}"
    "meter{width:5em;vertical-align:middle;margin-right:.5em}"
)


def _row(rank: int, entry: Entry) -> str:
    cells = [
        str(rank),
        html.escape(entry.name),
        _bar(entry.bleu / 100, f"{entry.bleu:.1f}"),
    ]
    for ability in ABILITIES:
        share = entry.recall.get(ability)
        cells.append(
            "–" if share is None or share != share else _bar(share, f"{share:.0%}")
        )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _bar(share: float, text: str) -> str:
    return f'<meter min="0" max="1" value="{share:.3f}">{text}</meter>{text}'


def write(unit: Unit, root: Path, folder: Path) -> list[Path]:
    """Write leaderboard.html and leaderboard.csv; their paths."""
    entries = read(unit, root)
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"leaderboard.html": as_html(entries), "leaderboard.csv": as_csv(entries)}
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in pages]
