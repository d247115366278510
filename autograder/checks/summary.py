"""Summarise a unit for a student: a table of its exercises, and what to do next."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from autograder.checks import attempts, progress
from autograder.checks.attempts import RecordedAttempt
from autograder.checks.boxes import BLUE, boxed, mark
from autograder.checks.console import showable
from autograder.checks.contents import contents_of
from autograder.checks.language import _, plural, translatable
from autograder.checks.next_step import Link, NextStep
from autograder.checks.rows import inline
from autograder.checks.scorecard import ExerciseScore, Scorecard, next_step
from autograder.checks.words import ATTEMPTS_DATA, PROGRESS

_HIDDEN = translatable(
    "Grading also uses other inputs, and cases that are not shown here."
)
_PATH = translatable("the short path")
# Sign, number, title, points, cases: only the title wraps.
_HEADS = (translatable("exercise"), translatable("points"), translatable("cases"))
_WIDTHS = ("2.2em", "2.8em", "", "7em", "6em")


@dataclass(frozen=True)
class Summary:
    """What `check.summary()` shows.

    Attributes:
        written: the points of each written question.
        follows: the exercise to do next, if any.
        location: where progress is kept, or what is wrong with the file.
        attempts: recorded checks, which are handed in with the notebook's output.
    """

    rows: tuple[ExerciseScore, ...]
    written: tuple[float, ...] = ()
    follows: NextStep | None = None
    location: str = ""
    attempts: tuple[RecordedAttempt, ...] = ()

    @property
    def points(self) -> float:
        return sum(row.points for row in self.rows)

    @property
    def max_points(self) -> float:
        return sum(row.max_points for row in self.rows)

    @property
    def next_step(self) -> str:
        """What to do now, in a sentence."""
        return self._next_step(str(self.follows or ""))

    def _next_step(self, follows: str) -> str:
        """Return what to do now, in a sentence.

        ``follows`` is the sentence on the next exercise, as text or HTML, or "".
        """
        if not self.rows:
            return _("No check has run yet: run the cells above, then this one again.")
        if not follows:
            return _("Everything that can be checked here is right. Hand it in.")
        return follows

    @property
    def _by_checks(self) -> str:
        message = _("{points:g} of {most:g} points by checks")
        return message.format(points=self.points, most=self.max_points)

    @property
    def _by_people(self) -> str:
        """The points that teachers give, in words; "" without written questions."""
        if not self.written:
            return ""
        return plural(
            "{points:g} more for the written question, which your teachers read.",
            "{points:g} more for the written questions, which your teachers read.",
            len(self.written),
        ).format(points=sum(self.written))

    @property
    def _notes(self) -> list[str]:
        return [note for note in (_(_HIDDEN), self.location) if note]

    def __repr__(self) -> str:
        lines = [self._by_checks, *([self._by_people] if self._by_people else [])]
        lines += [line for row in self.rows for line in _lines(row)]
        lines += [f"* {_(_PATH)}"] if any(row.on_path for row in self.rows) else []
        return showable("\n".join([*lines, self.next_step, *self._notes]))

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        records = [asdict(attempt) for attempt in self.attempts]
        return {ATTEMPTS_DATA: records} if records else {}

    def _repr_html_(self) -> str:
        """The summary as a panel: what comes next, a table of exercises, and notes."""
        if not self.rows:
            return boxed(BLUE, self.next_step)
        follows = self._next_step(self.follows.html if self.follows else "")
        head = (
            f"<strong>{self._by_checks}</strong>"
            f"<div>{self._by_people}</div>"
            f'<div style="margin:.3em 0"><strong>{follows}</strong></div>'
        )
        titles = "".join(_cell(title, "th") for title in ("", "", *map(_, _HEADS)))
        rows = "".join(_tr(_cells(row)) for row in self.rows)
        columns = "".join(f'<col style="width:{width}">' for width in _WIDTHS)
        # JupyterLab gives a table columns of one width unless it says otherwise.
        table = (
            '<table style="border-collapse:collapse;width:100%;table-layout:fixed;'
            f'font-size:14px"><colgroup>{columns}</colgroup>'
            f"<thead>{_tr(titles)}</thead><tbody>{rows}</tbody></table>"
        )
        on_path = any(row.on_path for row in self.rows)
        notes = [_("Bold: {what}.").format(what=_(_PATH))] if on_path else []
        below = "".join(f"<div>{inline(note)}</div>" for note in notes + self._notes)
        small = '<div style="margin-top:.5em;font-size:13px">'
        return boxed(BLUE, f"{head}{table}{small}{below}</div>")


def summary(scorecard: Scorecard) -> Summary:
    """Summarise the current unit from the scorecard."""
    unit = scorecard.unit
    if not unit:
        return Summary(())
    rows, contents = scorecard.rows(unit), contents_of(unit)
    folder = progress.find_folder()
    recorded = attempts.read(folder) if contents.attempts and folder else ()
    recorded = [a for a in recorded if a.exercise.startswith(f"{unit}/")]
    location = scorecard.problem or _describe_location()
    return Summary(
        tuple(rows.values()), contents.written, next_step(rows), location,
        tuple(recorded),
    )  # fmt: skip


def _describe_location() -> str:
    """Say where progress is kept, and for how long; "" if it is not kept."""
    folder = progress.find_folder()
    if folder is None:
        return ""
    message = _(
        "Your progress is kept in `{file}` until this Colab session ends. To keep it "
        "longer, mount your Drive (folder symbol at the left)."
    )
    if progress.lasts(folder):
        message = _(
            "Your progress is kept in `{file}`. `check.overview()` shows all units, "
            "`check.reset()` deletes it."
        )
    return message.format(file=folder / PROGRESS)


def _lines(row: ExerciseScore) -> list[str]:
    """An exercise as text: one line, and one on points lost by aspect."""
    points = f"{row.points:g}/{row.max_points:g}"
    cases = " " + _("({count} cases)").format(count=row.cases) if row.cases else ""
    remark = f": {_(row.remark)}" if row.remark else ""
    place = f"{row.number}{'*' if row.on_path else ''} " if row.number else ""
    line = f"  {row.sign} {points:>7} {place}{_(row.title)}{cases}{remark}"
    return [line, *([f"            {row.aspects}"] if row.aspects else [])]


def _cells(row: ExerciseScore) -> str:
    """An exercise as the cells of a table's row, in HTML."""
    remarks = [f"<em>{inline(_(row.remark))}</em>"] if row.remark else []
    remarks += [inline(row.aspects)] if row.aspects else []
    # A mistake is a sentence; a state is a word or two, and fits beside the title.
    between = "<br>" if row.passed is False else " · "
    remark = "".join(between + line for line in remarks)
    sign = row.sign if row.passed is None else mark(row.passed, row.is_partial)
    number = Link(row.number, row.place.address).html if row.place else ""
    cells = (
        sign,
        f"<strong>{number}</strong>" if row.on_path else number,
        f"{inline(_(row.title))}{remark}",
        _("{points:g} of {most:g}").format(points=row.points, most=row.max_points),
        row.cases,
    )
    return "".join(_cell(text, "td") for text in cells)


def _tr(cells: str) -> str:
    # JupyterLab stripes rows, which hides the panel's tint.
    return f'<tr style="background:none">{cells}</tr>'


def _cell(content: str, tag: str) -> str:
    """A cell of the table: ``tag`` is "th" in the head, else "td"."""
    style = (
        "text-align:left;vertical-align:top;padding:.25em .6em .25em 0;white-space:"
        "normal;overflow-wrap:break-word;border-bottom:1px solid rgba(128,128,128,.4)"
    )
    return f'<{tag} style="{style}">{content}</{tag}>'
