"""The bridge between a notebook and its checks."""

from __future__ import annotations

import difflib
import os
import sys
from types import CodeType

from autograder.checks import references
from autograder.checks.calls import code_of, running
from autograder.checks.compare import judge
from autograder.checks.demo import left_out
from autograder.checks.exercise import Answers, Case, CheckResult, Exercise, is_stub
from autograder.checks.global_state import pristine, reset, restored
from autograder.checks.naming import blame
from autograder.checks.observe import brief, observe
from autograder.checks.panel import Shown
from autograder.checks.probes import find
from autograder.checks.summary import ExerciseScore, Summary, row_of, summary


class Check:
    """``check("unit/exercise", answer)`` compares with the visible references.

    It remembers which exercises fail, to tell a mistake from what follows from it.
    """

    def __init__(self) -> None:
        self._failed: dict[str, set[CodeType]] = {}  # with the code that was tried
        self._rows: dict[str, ExerciseScore] = {}  # the last verdict of each exercise

    def __call__(self, name: str, answer: object) -> Shown:
        """Check an answer on the visible cases.

        Shows the verdict as a panel where the notebook can, else as text. A wrong
        answer never raises; a wrong name gives a verdict that lists the close names.
        """
        return self._show(self._verdict(name, answer, ("public",)))

    def hidden(self, name: str, answer: object) -> Shown:
        """Check on visible and hidden cases together, as grading does."""
        return self._show(self._verdict(name, answer, ("public", "hidden")))

    def summary(self) -> Summary | None:
        """Where you stand in this notebook's unit: points, what is open, what next."""
        if left_out():
            print("(summary: the top of the feedback has it)")
            return None
        unit = next(reversed(self._rows), "").partition("/")[0]
        exercises = references.load(unit).values() if unit else ()
        return summary(list(exercises), self._rows)

    def _verdict(
        self, name: str, answer: object, visibility: tuple[str, ...]
    ) -> CheckResult:
        exercises = [_find(name, kind) for kind in visibility]
        if exercises[0] is None:
            return CheckResult(str(name), "", 0, 0, note=_close_names(name))
        cases = [case for exercise in exercises if exercise for case in exercise.cases]
        probe = find(name)

        def ask(case: Case) -> Answers:
            with reset():  # each case, as in grading
                return observe(probe, answer, case.inputs)

        with restored(), brief():
            verdict = judge(exercises[0], cases, ask)
        self._failed.pop(name, None)
        verdict = without_stub(self._followed(verdict, exercises[0], answer))
        if not verdict.passed:
            self._failed[name] = code_of(answer)
        self._rows[name] = row_of(verdict)
        return verdict

    def _followed(
        self, verdict: CheckResult, exercise: Exercise, answer: object
    ) -> CheckResult:
        """The verdict, blamed on an earlier failure whose code runs in a wrong case."""
        suspects = [name for name in exercise.builds_on if name in self._failed]
        wrong = [result.case for result in verdict.results if not result.passed]
        if not suspects or not wrong:
            return verdict
        with pristine(), running() as code:
            observe(find(exercise.name), answer, wrong[0].inputs)
        called = [name for name in suspects if self._failed[name] & code]
        return blame(verdict, [self._rows[name].title for name in called])

    @staticmethod
    def _show(verdict: CheckResult) -> Shown:
        shown = Shown(**vars(verdict))
        if not verdict.passed and os.environ.get("NBGRADER_VALIDATING") == "1":
            # Validate lists what is on stderr; else it says "partial credit" of all.
            print(shown, file=sys.stderr)
        elif not _has_panels():
            print(shown)
        return shown


def without_stub(verdict: CheckResult) -> CheckResult:
    """An unsolved stub is not a mistake: one friendly line instead of the cases.

    Where it is one of several, and cases that do not reach it are right, they count.
    """
    stubs = [r for r in verdict.results if is_stub(r.answers)]
    if not stubs or any(result.passed for result in verdict.results):
        return verdict
    note = f"Not solved yet: {verdict.title}. Replace the stub, then run this again."
    return CheckResult(
        verdict.exercise, verdict.title, 0.0, verdict.max_points, note=note,
        unsolved=True,
    )  # fmt: skip


def _find(name: str, visibility: str) -> Exercise | None:
    unit = str(name).split("/")[0]
    if unit not in references.units(visibility):
        return None
    return references.load(unit, visibility, name).get(name)


def _close_names(name: str) -> str:
    names = [n for unit in references.units() for n in references.titles(unit)]
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.4)
    listed = ", ".join(f'"{n}"' for n in close or names)
    return f'There is no exercise "{name}". Did you mean {listed}?'


def _has_panels() -> bool:
    """Whether we run in a notebook's kernel, which shows a verdict's HTML by itself."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")


check = Check()
