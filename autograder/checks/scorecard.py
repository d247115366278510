"""Keep the state of each exercise, from verdicts of this and of earlier sessions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from autograder.checks import attempts, contents, progress, references
from autograder.checks.aspects import by_aspect
from autograder.checks.cells import current, digest, name_of
from autograder.checks.console import showable
from autograder.checks.exercise import CheckResult
from autograder.checks.language import _, translatable
from autograder.checks.next_step import Link, NextStep
from autograder.checks.progress import ProgressFileError, StoredVerdict
from autograder.checks.rows import results
from autograder.checks.words import PROGRESS, sign


@dataclass(frozen=True)
class ExerciseScore:
    """A student's state in one exercise, as a summary shows it.

    Attributes:
        passed: None as long as there is no verdict on the present answer.
        cases: how many cases passed, like "3 of 4"; "" without a verdict.
        remark: the recognised mistake, or the state in words.
        aspects: what points were lost for, in words.
        number: the exercise's number in the notebook, like "4.2".
        on_path: whether it is on the short path, the essential exercises.
        is_partial: whether nothing is wrong, but a measured answer could earn more.
    """

    title: str
    points: float
    max_points: float
    passed: bool | None = None
    cases: str = ""
    remark: str = translatable("not checked yet")
    aspects: str = ""
    number: str = ""
    place: Link | None = None
    on_path: bool = False
    is_partial: bool = False

    @property
    def sign(self) -> str:
        """A tick, a cross, half a disc for partial credit, or a dot for no verdict."""
        if self.passed is None:
            return "·"
        return sign(self.passed, self.is_partial)


def row_of(verdict: CheckResult) -> ExerciseScore:
    """Reduce a verdict to the state that a summary shows, which holds no tensors."""
    cases = results(verdict)
    if not cases:
        remark = translatable("not solved yet")
        return ExerciseScore(verdict.title, 0.0, verdict.max_points, remark=remark)
    remark = verdict.mistake.says if verdict.mistake else ""
    count = sum(case.passed for case in cases)
    passed = _("{count} of {all}").format(count=count, all=len(cases))
    aspects = "" if verdict.passed else by_aspect(verdict.aspects)
    return ExerciseScore(
        verdict.title, verdict.points, verdict.max_points, verdict.passed, passed,
        remark, aspects, is_partial=verdict.is_partial,
    )  # fmt: skip


def next_step(rows: Mapping[str, ExerciseScore], after: str = "") -> NextStep | None:
    """Return where to go on: an exercise that has not passed; None if there is none.

    The search in ``rows``, a unit's exercises by name, begins after the exercise
    ``after`` and wraps around. Essential ones (the short path) usually come first.
    """
    names = list(rows)
    start = names.index(after) + 1 if after in rows else 0
    open_rows = [rows[n] for n in names[start:] + names[:start] if not rows[n].passed]
    on_path = next((row for row in open_rows if row.on_path), None)
    first = next(iter(open_rows), None)
    is_ahead = any(not rows[name].passed for name in names[start:])
    # After an exercise off the short path, go on in order, not back to the path.
    is_beyond = is_ahead and after in rows and not rows[after].on_path
    chosen = first if is_beyond else on_path or first
    if chosen is None or chosen.place is None:
        return None
    if is_beyond:
        beside = on_path if on_path is not chosen else None
        return NextStep(chosen.place, on_path=beside.place if beside else None)
    # The short path is said to be done right after its last exercise, or in a summary.
    considered = [rows[after]] if after in rows else rows.values()
    return NextStep(
        chosen.place, not chosen.on_path and any(r.on_path for r in considered)
    )


class Scorecard:
    """The state of each exercise, which a file beside the notebook remembers."""

    def __init__(self) -> None:
        self._rows: dict[str, ExerciseScore] = {}  # the last verdicts of this session
        self._kept: dict[str, StoredVerdict] = {}  # the same, in the form of the file
        self.problem = ""  # what is wrong with the file, if anything

    @property
    def unit(self) -> str:
        """The unit of the last check, else that of the notebook; "" for neither."""
        last = next(reversed(self._rows), "").partition("/")[0]
        return last or contents.this_unit()

    def note(self, verdict: CheckResult, answer: object) -> None:
        """Remember a verdict for this session, and in the progress file.

        In the file, a verdict on an unsolved exercise replaces no other one. The code
        of ``answer`` is recorded to notice later changes.
        """
        if not verdict.max_points:
            return  # there is no such exercise
        if not verdict.results and not verdict.unsolved:
            return  # the check did not run to its end
        row = self._rows[verdict.exercise] = row_of(verdict)
        if verdict.unsolved:
            return
        share = verdict.points / verdict.max_points
        target, source = name_of(answer), digest(answer)
        earlier = StoredVerdict(share, verdict.passed, row.cases, target, source)
        self._kept[verdict.exercise] = earlier
        if (folder := progress.find_folder()) is None:
            return
        self._try_file(lambda: progress.keep(folder, verdict.exercise, earlier))
        if contents.contents_of(verdict.exercise.partition("/")[0]).attempts:
            mistake = verdict.mistake.name if verdict.mistake else ""
            attempt = attempts.new_attempt(verdict.exercise, share, mistake)
            with contextlib.suppress(OSError):  # reported already for the progress file
                attempts.keep(folder, attempt)

    def rows(self, unit: str) -> dict[str, ExerciseScore]:
        """Map a unit's exercises to their states, in order.

        Exercises that the unit gives with their solution are left out.
        """
        folder = progress.find_folder()
        return self._table(unit, progress.or_nothing(folder) if folder else {})

    def tables(self) -> dict[str, dict[str, ExerciseScore]]:
        """Map each available unit to its `rows`, in the order of the course."""
        folder = progress.find_folder()
        stored = progress.read_all(folder) if folder else {}
        return {unit: self._table(unit, stored) for unit in contents.units()}

    def _table(
        self, unit: str, stored: Mapping[str, StoredVerdict]
    ) -> dict[str, ExerciseScore]:
        """Like `rows`; ``stored`` holds the verdicts that a progress file remembers."""
        verdicts, unit_contents = {**stored, **self._kept}, contents.contents_of(unit)
        titles, table = references.titles(unit), {}
        for name, points in references.points(unit).items():
            if not points:  # its solution is given
                continue
            place = unit_contents.places.get(name)
            table[name] = replace(
                self._row(name, titles[name], points, verdicts.get(name)),
                number=place.number if place else "",
                place=place.link if place else Link(titles[name]),
                on_path=name in unit_contents.path,
            )
        return table

    def _row(
        self, name: str, title: str, points: float, earlier: StoredVerdict | None
    ) -> ExerciseScore:
        """Return the state of one exercise; ``earlier`` is its last stored verdict.

        If the code has changed since, its points stay, but ``passed`` is None.
        """
        row = self._rows.get(name)
        if earlier is None:
            return row or ExerciseScore(title, 0.0, points)
        earned = round(earlier.share * points, 2)
        passed: bool | None = earlier.passed
        if _has_changed(earlier):
            remark = translatable("changed since: run its check again")
            if row is None and passed:
                remark = translatable(
                    "passed earlier, changed since: run its check again"
                )
            passed = None
        elif row:
            return row
        else:
            remarks = (translatable("checked earlier"), translatable("passed earlier"))
            remark = remarks[earlier.passed]
        return ExerciseScore(title, earned, points, passed, earlier.cases, remark)

    def reset(self) -> None:
        """Forget all verdicts, if the student confirms it."""
        folder = progress.find_folder()
        if folder is not None:
            path = folder / PROGRESS
            question = _('Forget what {file} holds? Type "yes": ').format(file=path)
            if input(showable(question)).strip() != "yes":
                print(_("Nothing was changed."))
                return
            self._try_file(lambda: progress.forget(folder))
            with contextlib.suppress(OSError):
                attempts.forget(folder)
        self._rows.clear()
        self._kept.clear()
        print(_("All checks of this folder count as not run yet."))

    def _try_file(self, use_file: Callable[[], None]) -> None:
        """Call ``use_file``; print a problem with the file unless it had one before."""
        try:
            use_file()
            self.problem = ""
        except ProgressFileError as error:
            if not self.problem:
                print(showable(f"({error})"))
            self.problem = str(error)


def _has_changed(earlier: StoredVerdict) -> bool:
    """Return whether the cell that defines an answer has changed since the check.

    Return False if either version is unknown.
    """
    if not (earlier.source and earlier.target):
        return False
    return digest(current(earlier.target)) not in ("", earlier.source)
