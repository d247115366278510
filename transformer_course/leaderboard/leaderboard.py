"""The class's leaderboards of models that recover texts, by corpus and level.

The level says how much was removed from the texts. The scores are those that
grading has stored; only students who set LEADERBOARD_NAME appear.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.classroom import page
from autograder.course import graded_notebooks, notebooks, sheet
from autograder.course.errors import CourseError
from autograder.grading import metadata
from autograder.grading.metadata import GradingMetadata
from transformer_course.leaderboard import TEMPLATES

ABILITIES = ("case", "punctuation", "function words", "inflection")
_LONGEST_NAME = 40
_NAME = "LEADERBOARD_NAME"  # the variable that a student sets in order to take part
_EMBEDDED = 0  # the number of the course's own corpus; those of others are hashes


@dataclass(frozen=True)
class Entry:
    """A model on a leaderboard: the name that its author chose, and its scores.

    Args:
        bleu, low, high: the model's BLEU and the ends of its 95% interval.
        recall: for each ability that was tested, the share of the words requiring
            it that the model recovered, from 0 to 1.
        level: how much was removed from the sources, from 1 to 3.
        corpus, corpus_name: the number of the corpus, and its author's name for it.
        rule, inserter: BLEU of the baselines on this corpus and level.
    """

    name: str
    bleu: float
    recall: dict[str, float] = field(default_factory=dict)
    low: float = 0.0
    high: float = 100.0
    level: int = 2
    corpus: int = _EMBEDDED
    corpus_name: str = ""
    rule: float = 0.0
    inserter: float = 0.0


def require_leaderboard(unit: str, root: Path) -> None:
    """Raise CourseError if no cell of the unit's source notebook contains `_NAME`.

    `_NAME` is the variable that students set in order to be listed.
    """
    paths = (root / "source" / unit).glob("*.ipynb")
    if not any(_NAME in cell.source for p in paths for cell in notebooks.read(p).cells):
        raise CourseError(f"{unit} has no leaderboard: no cell sets {_NAME}")


def read(unit: str, root: Path) -> list[Entry]:
    """The leaderboard entries of an assignment's graded submissions."""
    paths = graded_notebooks(unit, root).values()
    entries = (_make_entry(metadata.read(path)) for path in paths)
    return [entry for entry in entries if entry]


def boards(entries: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
    """List (title, ranked entries) for each corpus and level, the best entry first.

    The course's own corpus comes first; ties in BLEU are sorted by name.
    """

    def group(entry: Entry) -> tuple[bool, int, int]:
        """The key of an entry's board; a student's own corpus has no level."""
        is_own_corpus = entry.corpus != _EMBEDDED
        return is_own_corpus, entry.corpus, 0 if is_own_corpus else entry.level

    ranked = sorted(entries, key=lambda e: (group(e), -e.bleu, e.name))
    groups = (list(members) for _, members in groupby(ranked, key=group))
    return [(_write_title(members[0]), members) for members in groups]


def _write_title(first: Entry) -> str:
    """The title of the leaderboard that this entry is on."""
    if first.corpus == _EMBEDDED:
        return f"The embedded corpus, level {first.level}"
    name = first.corpus_name or "without a name"
    return f"A corpus of one's own: {name} (no. {first.corpus % 10_000:04d})"


def _make_entry(notebook: dict[str, Any]) -> Entry | None:
    """Make the leaderboard entry of a graded notebook, given as nbformat's dict.

    Return None if it has no chosen name or no BLEU score.
    """
    name = read_variable(notebook, _NAME)
    records = GradingMetadata.of(notebook).checks.values()
    measured = (record.scores for record in records)
    scores = next((scores for scores in measured if "bleu" in scores), None)
    if not name or not scores:
        return None
    bleu = scores["bleu"]
    return Entry(
        name, bleu, {a: scores[a] for a in ABILITIES if a in scores},
        scores.get("bleu low", bleu), scores.get("bleu high", bleu),
        int(scores.get("level", 2)), int(scores.get("corpus", _EMBEDDED)),
        PurePosixPath(read_variable(notebook, "CORPUS")).name,
        scores.get("rule", 0.0), scores.get("inserter", 0.0),
    )  # fmt: skip


def read_variable(notebook: dict[str, Any], variable: str) -> str:
    """Read the text that a notebook assigns to a variable; "" for none.

    Only a string literal counts, since no cell is run; of several cells, the last.
    The text is made printable.
    """
    for cell in reversed(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or variable not in source:
            continue
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # if too deep
            continue
        for node in body:
            match node:
                case ast.Assign([ast.Name(name)], ast.Constant(str(text))):
                    if name == variable:
                        line = " ".join(text.split())
                        return "".join(filter(str.isprintable, line))[:_LONGEST_NAME]
    return ""


def as_csv(entries: Sequence[Entry]) -> str:
    """The boards as CSV, with the recall of each ability from 0 to 1.

    The recall is left empty if no sentence tested the ability.
    """
    rows: list[list[object]] = [
        ["board", "rank", "name", "BLEU", "low", "high", *ABILITIES]
    ]
    for title, ranked in boards(entries):
        for rank, entry in enumerate(ranked, 1):
            recalls = map(entry.recall.get, ABILITIES)
            scores = (f"{n:.2f}" for n in (entry.bleu, entry.low, entry.high))
            rows.append([title, rank, entry.name, *scores, *recalls])
    return sheet.as_harmless_text(rows)


def as_html(unit: str, entries: Sequence[Entry]) -> str:
    """The leaderboards as one HTML page without scripts, with bars beside numbers."""
    return page.render(
        "leaderboard.html.j2",
        unit,
        folder=TEMPLATES,
        boards=boards(entries),
        abilities=ABILITIES,
    )  # fmt: skip


def write(unit: str, root: Path) -> list[Path]:
    """Write an assignment's leaderboards to the course's reports; return the paths."""
    entries, path = read(unit, root), root / "reports" / f"{unit}-leaderboard.html"
    return page.write_both(path, as_html(unit, entries), as_csv(entries))
