"""Where a student stands in a unit: a table of its exercises, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.checks.aspects import by_aspect
from autograder.checks.console import showable
from autograder.checks.exercise import CheckResult, Exercise
from autograder.checks.panel import BLUE, boxed, inline, mark

_HIDDEN = (
    "Grading tries each exercise on other inputs, too, and on cases that are not shown "
    "here. Answers in words are read by your teachers."
)
# The widths: only the exercise's own column, with what to know about it, may wrap.
_COLUMNS = (
    ("", "1.5em"), ("", "1.5em"), ("exercise", ""), ("points", "6em"), ("cases", "5em"),
)  # fmt: skip
_SIGNS = {True: "✓", False: "✗", None: "·"}


@dataclass(frozen=True)
class ExerciseScore:
    """One exercise: ``passed`` is None as long as there is nothing to check.

    ``cases`` says how many of its cases passed, ``remark`` what to know about it,
    ``aspects`` where points were lost.
    """

    title: str
    points: float
    max_points: float
    passed: bool | None = None
    cases: str = ""
    remark: str = "its check did not run yet"
    aspects: str = ""


def row_of(verdict: CheckResult) -> ExerciseScore:
    """What is kept of a verdict: none of its tensors."""
    done: dict[str, bool] = {}
    for result in verdict.results:
        done[result.case.name] = done.get(result.case.name, True) and result.passed
    if not done:
        return ExerciseScore(
            verdict.title, 0.0, verdict.max_points, None, "", "not solved yet"
        )
    remark = verdict.mistake.says if verdict.mistake else ""
    cases = f"{sum(done.values())} of {len(done)}"
    aspects = "" if verdict.passed else by_aspect(verdict.aspects)
    return ExerciseScore(
        verdict.title, verdict.points, verdict.max_points, verdict.passed, cases,
        remark, aspects,
    )  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """The exercises of a unit in their order, as far as they were checked."""

    rows: tuple[ExerciseScore, ...]

    @property
    def points(self) -> float:
        return sum(row.points for row in self.rows)

    @property
    def max_points(self) -> float:
        return sum(row.max_points for row in self.rows)

    @property
    def next_step(self) -> str:
        """What to do now, in a sentence."""
        open_ones = [
            (number, row) for number, row in enumerate(self.rows, 1) if not row.passed
        ]
        if not self.rows:
            return "No check has run yet: run the cells above, then this one again."
        if not open_ones:
            return "Everything that can be checked here is right. Hand it in."
        number, row = open_ones[0]
        return f"Next: exercise {number}, {row.title}."

    def __repr__(self) -> str:
        lines = [f"{self.points:g} of {self.max_points:g} points"]
        for number, row in enumerate(self.rows, 1):
            points = f"{row.points:g}/{row.max_points:g}"
            cases = f" ({row.cases} cases)" if row.cases else ""
            remark = f": {row.remark}" if row.remark else ""
            lines.append(
                f"  {_SIGNS[row.passed]} {points:>7} {number:>2}. {row.title}{cases}"
                f"{remark}"
            )
            lines += [f"            {row.aspects}"] if row.aspects else []
        return showable("\n".join([*lines, self.next_step, _HIDDEN]))

    def _repr_html_(self) -> str:
        if not self.rows:
            return boxed(BLUE, self.next_step)
        head = (
            f"<strong>{self.points:g} of {self.max_points:g} points</strong>"
            f'<div style="margin:.3em 0">{inline(self.next_step)}</div>'
        )
        titles = "".join(_cell(title, "th", width) for title, width in _COLUMNS)
        rows = "".join(
            f"<tr>{_cells(number, row)}</tr>" for number, row in enumerate(self.rows, 1)
        )
        table = (
            '<table style="border-collapse:collapse;width:100%;font-size:14px">'
            f"<tr>{titles}</tr>{rows}</table>"
        )
        return boxed(BLUE, f'{head}{table}<div style="margin-top:.5em">{_HIDDEN}</div>')


def summary(
    exercises: Sequence[Exercise], known: Mapping[str, ExerciseScore]
) -> Summary:
    """The table of a unit's exercises, from what is known of some of them."""
    return Summary(
        tuple(
            known.get(one.name, ExerciseScore(one.title, 0.0, one.points))
            for one in exercises
            if one.points  # else it is given
        )
    )


def _cells(number: int, row: ExerciseScore) -> str:
    told = [f"<em>{inline(row.remark)}</em>"] if row.remark else []
    told += [inline(row.aspects)] if row.aspects else []
    remark = "".join(f"<br>{line}" for line in told)
    sign = mark(row.passed) if row.passed is not None else _SIGNS[None]
    cells = (sign, str(number), f"{inline(row.title)}{remark}",
             f"{row.points:g} of {row.max_points:g}", row.cases)  # fmt: skip
    return "".join(_cell(text, "td") for text in cells)


def _cell(content: str, tag: str, width: str = "") -> str:
    style = f"width:{width};white-space:nowrap;" if width else ""
    style += (
        "text-align:left;vertical-align:top;padding:.25em .6em .25em 0;"
        "border-bottom:1px solid rgba(128,128,128,.4)"
    )
    return f'<{tag} style="{style}">{content}</{tag}>'
