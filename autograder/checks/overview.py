"""All units in one picture: a row for each, with a field for each exercise."""

from __future__ import annotations

import html
from dataclasses import dataclass

from autograder.checks import contents
from autograder.checks.aspects import describe_points
from autograder.checks.boxes import BLUE, DARK_ORANGE, boxed
from autograder.checks.console import showable
from autograder.checks.language import _, translatable
from autograder.checks.rows import inline
from autograder.checks.scorecard import ExerciseScore, Scorecard

# How a field is filled and framed: states differ by more than their colour.
_LOOKS = {
    True: f"background-color:{BLUE};color:#fff;border:2px solid {BLUE}",
    False: f"border:2px dashed {DARK_ORANGE}",
    None: "border:2px solid rgba(128,128,128,.45)",
}
_LEGEND = (
    (True, translatable("all visible cases pass")),
    (False, translatable("tried, and not all pass")),
    (None, translatable("open, or changed since its check")),
)


@dataclass(frozen=True)
class UnitScore:
    """A unit's title and its exercises, in order."""

    title: str
    rows: tuple[ExerciseScore, ...]

    @property
    def points(self) -> str:
        most = sum(row.max_points for row in self.rows)
        return describe_points(sum(row.points for row in self.rows), most)


@dataclass(frozen=True)
class CourseOverview:
    """What `check.overview()` shows: how far a student has come in each unit."""

    units: tuple[UnitScore, ...]

    def __repr__(self) -> str:
        width = max((len(unit.title) for unit in self.units), default=0)
        most = max((len(unit.rows) for unit in self.units), default=0)
        lines = [
            f"{unit.title:<{width}}  "
            f"{''.join(row.sign for row in unit.rows):<{most}}  {unit.points}"
            for unit in self.units
        ]
        return showable("\n".join(lines))

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<div style="margin:.5em 0">'
            '<div style="display:flex;justify-content:space-between;gap:1em">'
            f"<strong>{inline(unit.title)}</strong><span>{unit.points}</span></div>"
            f"<div>{''.join(map(_field, unit.rows))}</div></div>"
            for unit in self.units
        )
        legend = " ".join(
            f'<span style="white-space:nowrap;margin-right:1em">'
            f"{_square(_LOOKS[passed], '')} {_(meaning)}</span>"
            for passed, meaning in _LEGEND
        )
        return boxed(BLUE, f'{rows}<div style="font-size:13px">{legend}</div>')


def overview(scorecard: Scorecard) -> CourseOverview:
    """Build the overview of all units that are available here."""
    return CourseOverview(
        tuple(
            UnitScore(contents.contents_of(unit).title or unit, tuple(rows.values()))
            for unit, rows in scorecard.tables().items()
            if rows
        )
    )


def _field(row: ExerciseScore) -> str:
    """Draw the square of an exercise, with its points and remark as a tooltip."""
    points = describe_points(row.points, row.max_points)
    description = f"{row.number} {_(row.title)}: {points}"
    if row.remark:
        description += f", {_(row.remark)}"
    number = row.number.partition(".")[2] or row.sign
    return _square(_LOOKS[row.passed], number, html.escape(description, quote=True))


def _square(look: str, content: str, tooltip: str = "") -> str:
    """Return a square as HTML, filled and bordered by the CSS in ``look``.

    ``content`` is HTML, and ``tooltip`` is escaped text.
    """
    label = f' title="{tooltip}"' if tooltip else ""
    return (
        f'<span{label} style="display:inline-block;box-sizing:border-box;width:2em;'
        "height:2em;line-height:1.6em;text-align:center;border-radius:4px;font-size:12px;"
        f'margin:2px 4px 2px 0;vertical-align:middle;{look}">{content}</span>'
    )
