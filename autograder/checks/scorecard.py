"""How far a student has come: verdicts of this session, and those kept before it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from autograder.checks import attempts, contents, progress, references
from autograder.checks.aspects import by_aspect
from autograder.checks.cells import current, digest, name_of
from autograder.checks.console import showable
from autograder.checks.exercise import CheckResult
from autograder.checks.language import _, marked
from autograder.checks.panel import Link, NextStep
from autograder.checks.progress import Earlier, ProgressFileError
from autograder.checks.rows import results
from autograder.checks.words import PROGRESS, sign

SIGNS = {True: "✓", False: "✗", None: "·"}  # passed, failed, open


@dataclass(frozen=True)
class ExerciseScore:
    """One exercise: ``passed`` is None as long as there is nothing to check.

    ``cases`` says how many of its cases passed, ``remark`` what to know about it,
    ``aspects`` where points were lost, ``number`` ("4.2") and ``place`` where it is in
    the notebook.
    """

    title: str
    points: float
    max_points: float
    passed: bool | None = None
    cases: str = ""
    remark: str = marked("not checked yet")
    aspects: str = ""
    number: str = ""
    place: Link | None = None
    on_path: bool = False
    is_partial: bool = False

    @property
    def sign(self) -> str:
        """A tick, a cross, half a disc for progress, or a dot for what is open."""
        if self.passed is None:
            return SIGNS[None]
        return sign(self.passed, self.is_partial)


def row_of(verdict: CheckResult) -> ExerciseScore:
    """What is kept of a verdict: none of its tensors."""
    cases = results(verdict)
    if not cases:
        return ExerciseScore(
            verdict.title, 0.0, verdict.max_points, remark=marked("not solved yet")
        )
    remark = verdict.mistake.says if verdict.mistake else ""
    passed = _("{count} of {all}").format(
        count=sum(case.passed for case in cases), all=len(cases)
    )
    aspects = "" if verdict.passed else by_aspect(verdict.aspects)
    return ExerciseScore(
        verdict.title, verdict.points, verdict.max_points, verdict.passed, passed,
        remark, aspects, is_partial=verdict.is_partial,
    )  # fmt: skip


def next_step(rows: Mapping[str, ExerciseScore], after: str = "") -> NextStep | None:
    """The next exercise that is open, on the short path if one is open there.

    After an exercise that is not on the path it is the next one in the notebook, with
    the path's beside it. That the path is done is said in a summary and after its own
    exercises, not after every exercise beyond it.

    Args:
        rows: a unit's exercises, by name.
        after: the exercise from which to go on; "" for the first.
    """
    names = list(rows)
    start = names.index(after) + 1 if after in rows else 0
    found = [rows[n] for n in names[start:] + names[:start] if not rows[n].passed]
    on_path = next((row for row in found if row.on_path), None)
    first = next(iter(found), None)
    is_ahead = any(not rows[name].passed for name in names[start:])
    is_beyond = is_ahead and after in rows and not rows[after].on_path
    chosen = first if is_beyond else on_path or first
    if chosen is None or chosen.place is None:
        return None
    if is_beyond:
        beside = on_path if on_path is not chosen else None
        return NextStep(chosen.place, on_path=beside.place if beside else None)
    told = [rows[after]] if after in rows else rows.values()
    return NextStep(chosen.place, not chosen.on_path and any(r.on_path for r in told))


class Scorecard:
    """What is known of each exercise; a file beside the notebook remembers it."""

    def __init__(self) -> None:
        self._rows: dict[str, ExerciseScore] = {}  # the last verdict of this session
        self._kept: dict[str, Earlier] = {}  # the same, as the file has it
        self.problem = ""  # with the file, if there is one

    @property
    def unit(self) -> str:
        """The unit of the last check, else that of the notebook; "" for neither."""
        last = next(reversed(self._rows), "").partition("/")[0]
        return last or contents.this_unit()

    def note(self, verdict: CheckResult, answer: object) -> None:
        """Remember a verdict; a stub is no try, and takes nothing away."""
        if not verdict.max_points:
            return  # there is no such exercise
        if not verdict.results and not verdict.unsolved:
            return  # it was not tried to its end
        row = self._rows[verdict.exercise] = row_of(verdict)
        if verdict.unsolved:
            return
        share = verdict.points / verdict.max_points
        found = Earlier(
            share, verdict.passed, row.cases, name_of(answer), digest(answer)
        )
        self._kept[verdict.exercise] = found
        if (where := progress.folder()) is None:
            return
        self._tell(lambda: progress.keep(where, verdict.exercise, found))
        if contents.contents_of(verdict.exercise.partition("/")[0]).attempts:
            mistake = verdict.mistake.name if verdict.mistake else ""
            made = attempts.now(verdict.exercise, share, mistake)
            with contextlib.suppress(OSError):  # the progress file has said it
                attempts.keep(where, made)

    def rows(self, unit: str) -> dict[str, ExerciseScore]:
        """A unit's exercises in their order, by name; without those that are given."""
        where = progress.folder()
        return self._table(unit, progress.or_nothing(where) if where else {})

    def tables(self) -> dict[str, dict[str, ExerciseScore]]:
        """The same of all units that are here, in the order of the course."""
        where = progress.folder()
        kept = progress.read_all(where) if where else {}
        return {unit: self._table(unit, kept) for unit in contents.units()}

    def _table(
        self, unit: str, kept: Mapping[str, Earlier]
    ) -> dict[str, ExerciseScore]:
        known, here = {**kept, **self._kept}, contents.contents_of(unit)
        titles, table = references.titles(unit), {}
        for name, points in references.points(unit).items():
            if not points:  # it is given
                continue
            place = here.places.get(name)
            table[name] = replace(
                self._row(name, titles[name], points, known.get(name)),
                number=place.number if place else "",
                place=place.link if place else Link(titles[name]),
                on_path=name in here.path,
            )
        return table

    def _row(
        self, name: str, title: str, points: float, known: Earlier | None
    ) -> ExerciseScore:
        row = self._rows.get(name)
        if known is None:
            return row or ExerciseScore(title, 0.0, points)
        earned = round(known.share * points, 2)
        if _has_changed(known):
            remark = marked("changed since: run its check again")
            if row is None and known.passed:
                remark = marked("passed earlier, changed since: run its check again")
            return ExerciseScore(title, earned, points, None, known.cases, remark)
        if row:
            return row
        earlier = (marked("checked earlier"), marked("passed earlier"))
        remark = earlier[known.passed]
        return ExerciseScore(title, earned, points, known.passed, known.cases, remark)

    def reset(self) -> None:
        """Forget all verdicts, once the student has said so."""
        where = progress.folder()
        if where is not None:
            path = where / PROGRESS
            asked = _('Forget what {file} holds? Type "yes": ').format(file=path)
            if input(showable(asked)).strip() != "yes":
                print(_("Nothing was changed."))
                return
            self._tell(lambda: progress.forget(where))
            with contextlib.suppress(OSError):
                attempts.forget(where)
        self._rows.clear()
        self._kept.clear()
        print(_("All checks of this folder count as not run yet."))

    def _tell(self, use_file: Callable[[], None]) -> None:
        """Use the file; what is wrong with it is said once, and stops nothing."""
        try:
            use_file()
            self.problem = ""
        except ProgressFileError as error:
            if not self.problem:
                print(showable(f"({error})"))
            self.problem = str(error)


def _has_changed(known: Earlier) -> bool:
    """Whether the cell that defines an answer is not the one that was checked."""
    now = digest(current(known.target)) if known.source and known.target else ""
    return bool(now) and now != known.source
