"""The bridge between a notebook and its checks."""

from __future__ import annotations

import difflib
import sys
from types import CodeType

from autograder.checks import references
from autograder.checks.calls import code_of, running
from autograder.checks.cells import Undefined, cells, current, name_of
from autograder.checks.compare import judge
from autograder.checks.console import forgive
from autograder.checks.contents import contents_of
from autograder.checks.exercise import Answers, Case, CheckResult, Exercise, is_stub
from autograder.checks.frontend import find_shell, is_grading, is_validating
from autograder.checks.global_state import pristine, reset, restored
from autograder.checks.language import _, translate
from autograder.checks.naming import Suspect, blame
from autograder.checks.observe import brief, describe_error, is_stub_code, observe
from autograder.checks.overview import CourseOverview, overview
from autograder.checks.panel import Shown
from autograder.checks.patience import Running, report_status
from autograder.checks.probes import find
from autograder.checks.scorecard import Scorecard, next_step
from autograder.checks.smallest import add_smallest, observe_briefly
from autograder.checks.summary import Summary, summary


class Check:
    """``check("unit/exercise", answer)`` compares with the visible references.

    An exercise that asks for several functions is given all of them.
    It remembers which exercises fail, to tell a mistake from what follows from it, and
    keeps in a file beside the notebook what has been solved.
    """

    def __init__(self) -> None:
        self._failed: dict[str, set[CodeType]] = {}  # with the code that was tried
        self._scorecard = Scorecard()

    def __call__(self, name: str, answer: object, *further_answers: object) -> Shown:
        """Check an answer on the visible cases.

        Shows the verdict as a panel where the notebook can, else as text. A wrong
        answer never raises; a wrong name gives a verdict that lists the close names.
        """
        answer = (answer, *further_answers) if further_answers else answer
        verdict = self._verdict(name, answer, ("public",))
        self._scorecard.note(verdict, answer)
        after = None
        if verdict.passed:
            after = next_step(self._scorecard.rows(name.partition("/")[0]), name)
        return _show(Shown(**vars(verdict), notice=_notice(answer), next_step=after))

    def hidden(self, name: str, answer: object, *further_answers: object) -> Shown:
        """Check on visible and hidden cases together, as grading does."""
        answer = (answer, *further_answers) if further_answers else answer
        verdict = self._verdict(name, answer, ("public", "hidden"))
        return _show(Shown(**vars(verdict)))

    def summary(self) -> Summary | None:
        """Where you stand in this notebook's unit: points, what is open, what next."""
        if is_grading():
            print(_("(summary: the top of the feedback has it)"))
            return None
        return summary(self._scorecard)

    def overview(self) -> CourseOverview | None:
        """All units that are here in one picture: what is solved, and how far."""
        if is_grading():
            print(_("(overview: left out while grading)"))
            return None
        return overview(self._scorecard)

    def reset(self) -> None:
        """Forget what was solved, in this session and in the file; asks first."""
        self._scorecard.reset()

    def _verdict(
        self, name: str, answer: object, visibility: tuple[str, ...]
    ) -> CheckResult:
        exercises = [_find(name, kind) for kind in visibility]
        exercise = exercises[0]
        if exercise is None:
            return CheckResult(str(name), "", 0, 0, note=_close_names(name))
        cases = [case for version in exercises if version for case in version.cases]
        for part in answer if isinstance(answer, tuple) else (answer,):
            if isinstance(part, Undefined):
                return _empty(exercise, _not_run(part.name))
        probe, status = find(name), Running(len(cases))

        def ask(case: Case) -> Answers:
            status.begin(_(case.title))
            with reset():  # each case, as in grading
                return observe(probe, answer, case.inputs)

        def ask_briefly(case: Case) -> Answers:
            with reset():
                return observe_briefly(probe, answer, case.inputs)

        try:
            with report_status(status), restored(), brief():
                verdict = judge(exercise, cases, ask)
                verdict = add_smallest(verdict, exercise, ask_briefly)
        except KeyboardInterrupt as stop:
            return _empty(exercise, _stopped(status, stop))
        self._failed.pop(name, None)
        verdict = without_stub(
            self._blame_earlier(verdict, exercise, answer),
            skipped=contents_of(name.partition("/")[0]).skips(name),
        )
        if not verdict.passed:
            self._failed[name] = code_of(answer)
        return verdict

    def _blame_earlier(
        self, verdict: CheckResult, exercise: Exercise, answer: object
    ) -> CheckResult:
        """Blame the verdict on a failed exercise whose code runs in a wrong case."""
        wrong = [result.case for result in verdict.results if not result.passed]
        if not wrong:
            return verdict
        suspects = {name: self._suspicious(name) for name in exercise.builds_on}
        if not any(suspects.values()):
            return verdict
        with pristine(), running() as code:
            observe(find(exercise.name), answer, wrong[0].inputs)
        called = [
            name for name, suspect_code in suspects.items() if suspect_code & code
        ]
        return blame(verdict, [_suspect(name, suspects[name]) for name in called])

    def _suspicious(self, name: str) -> set[CodeType]:
        """The code of an exercise that fails, or of one that is still a stub."""
        if name in self._failed:
            return self._failed[name]
        place = contents_of(name.partition("/")[0]).places.get(name)
        defined = place.defines if place else ()
        code = {
            code for defined_name in defined for code in code_of(current(defined_name))
        }
        return set(filter(is_stub_code, code))


def _show(verdict: Shown) -> Shown:
    if not verdict.passed and is_validating():
        # Validate lists what is on stderr; else it says "partial credit" of all.
        print(verdict, file=sys.stderr)
    elif find_shell() is None:
        print(verdict)
    return verdict


def _empty(exercise: Exercise, note: str) -> CheckResult:
    """A verdict without cases, because none was tried to its end."""
    return CheckResult(exercise.name, exercise.title, 0.0, exercise.points, note=note)


def _not_run(name: str) -> str:
    message = _("Run the cell above first: `{name}` is not defined yet.")
    if reason := cells.why_stopped(name):
        message = _("`{name}` is not defined: its cell ended with {why}.")
    return message.format(name=name, why=reason)


def _stopped(status: Running, stop: KeyboardInterrupt) -> str:
    """Say at which case and in which line of the answer a check was interrupted."""
    message = _("Stopped after {seconds:.0f} s, at {case}").format(
        seconds=status.seconds, case=status
    )
    line = describe_error(stop).partition("\n")[2].partition("\n")[0]
    lead, _colon, code = line.partition(": ")
    return f"{message}, {translate(lead)}: `{code}`" if code else f"{message}."


def _notice(answer: object) -> str:
    """Warn that an answer's newest version did not run, so an older one is checked."""
    for name in name_of(answer).split(", "):
        if reason := cells.why_stopped(name):
            message = _("The cell of `{name}` did not run: it ended with {why}.")
            return message.format(name=name, why=reason)
    return ""


def _suspect(name: str, code: set[CodeType]) -> Suspect:
    unit = name.partition("/")[0]
    contents = contents_of(unit)
    place = contents.places.get(name)
    title = f"*{_(references.titles(unit)[name])}*"
    return Suspect(
        f"{place.label} ({title})" if place else title,
        unsolved=any(map(is_stub_code, code)),
        skipped=contents.skips(name),
    )


def without_stub(verdict: CheckResult, skipped: bool = False) -> CheckResult:
    """Replace the cases of an unsolved stub by one friendly line.

    If some cases are right because they do not reach the stub, they count.

    Args:
        skipped: whether the short path leaves the exercise out, which is then said.
    """
    stubs = [r for r in verdict.results if is_stub(r.answers)]
    if not stubs or any(result.passed for result in verdict.results):
        return verdict
    note = _(
        "Not solved yet: {exercise}. Replace `raise NotImplementedError` with your "
        "code, run that cell, then this one."
    )
    if skipped:
        note = _(
            "Not solved yet: {exercise} (not on the short path). To solve it, replace "
            "`raise NotImplementedError` with your code, run that cell, then this one."
        )
    note = note.format(exercise=_(verdict.title))
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
    message = _('There is no exercise "{name}". Did you mean {names}?')
    return message.format(name=name, names=listed)


forgive()
cells.follow()
check = Check()
