"""The object ``check``, which a notebook calls to check the student's answers."""

from __future__ import annotations

import difflib
import sys
from types import CodeType

from autograder.checks import references
from autograder.checks.calls import code_of, running
from autograder.checks.cells import Undefined, cells, current, name_of
from autograder.checks.compare import judge
from autograder.checks.console import replace_unprintable
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
    """The object ``check``: ``check("unit/exercise", answer)`` checks an answer.

    For an exercise that asks for several functions, pass all of them. The verdict
    may blame an earlier answer that failed. A file records what has been solved.
    """

    def __init__(self) -> None:
        self._failed: dict[str, set[CodeType]] = {}  # by exercise: the code that failed
        self._scorecard = Scorecard()

    def __call__(self, name: str, answer: object, *further_answers: object) -> Shown:
        """Check an answer on the visible cases, and return the verdict for display.

        A wrong answer or an unknown exercise gives a verdict, never an exception.
        """
        answer = (answer, *further_answers) if further_answers else answer
        verdict = self._verdict(name, answer, ("public",))
        self._scorecard.note(verdict, answer)
        after = None
        if verdict.passed:
            after = next_step(self._scorecard.rows(name.partition("/")[0]), name)
        return _show(Shown(**vars(verdict), notice=_notice(answer), next_step=after))

    def hidden(self, name: str, answer: object, *further_answers: object) -> Shown:
        """Check an answer on visible and hidden cases together, as grading does.

        Where no hidden references are installed, only the visible cases are used.
        """
        answer = (answer, *further_answers) if further_answers else answer
        verdict = self._verdict(name, answer, ("public", "hidden"))
        return _show(Shown(**vars(verdict)))

    def summary(self) -> Summary | None:
        """Summarise this notebook's unit: its points, its exercises and the next step.

        While grading, print a line instead, and return None.
        """
        if is_grading():
            print(_("(summary: the top of the feedback has it)"))
            return None
        return summary(self._scorecard)

    def overview(self) -> CourseOverview | None:
        """Return an overview of what is solved in each unit, for display.

        While grading, print a line instead, and return None.
        """
        if is_grading():
            print(_("(overview: left out while grading)"))
            return None
        return overview(self._scorecard)

    def reset(self) -> None:
        """Forget all progress, also in the progress file, if the student agrees."""
        self._scorecard.reset()

    def _verdict(
        self, name: str, answer: object, visibility: tuple[str, ...]
    ) -> CheckResult:
        """Judge an answer on the "public" cases, the "hidden" ones, or both.

        If it cannot be judged (its cell has not run, say), a note says why. Code that
        fails is remembered, since it may make later exercises fail.
        """
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
            with reset():  # before each case, as in grading
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
        """Blame an earlier exercise, if the first wrong case runs its code.

        Only exercises that fail their own check or are not solved yet are blamed.
        """
        wrong = [result.case for result in verdict.results if not result.passed]
        if not wrong:
            return verdict
        # By earlier exercise, the code that failed its check or is not written yet.
        suspects = {name: self._suspicious(name) for name in exercise.builds_on}
        if not any(suspects.values()):
            return verdict
        with pristine(), running() as code:
            observe(find(exercise.name), answer, wrong[0].inputs)
        called = [name for name, its_code in suspects.items() if its_code & code]
        return blame(verdict, [_suspect(name, suspects[name]) for name in called])

    def _suspicious(self, name: str) -> set[CodeType]:
        """Return the code of an exercise that may cause a later exercise to fail.

        This is an answer that has failed its check, or an unsolved stub.
        """
        if name in self._failed:
            return self._failed[name]
        place = contents_of(name.partition("/")[0]).places.get(name)
        code = code_of(tuple(map(current, place.defines if place else ())))
        return set(filter(is_stub_code, code))


def _show(verdict: Shown) -> Shown:
    """Print a verdict unless the notebook will display it, and return it."""
    if not verdict.passed and is_validating():
        # Validate lists what is on stderr; without that, it just says "partial credit".
        print(verdict, file=sys.stderr)
    elif find_shell() is None:
        print(verdict)
    return verdict


def _empty(exercise: Exercise, note: str) -> CheckResult:
    """A verdict without cases, because none was completed; ``note`` says why."""
    return CheckResult(exercise.name, exercise.title, 0.0, exercise.points, note=note)


def _not_run(name: str) -> str:
    """Say that the cell which defines a name has not run, or has failed."""
    message = _("Run the cell above first: `{name}` is not defined yet.")
    if reason := cells.why_stopped(name):
        message = _("`{name}` is not defined: its cell ended with {why}.")
    return message.format(name=name, why=reason)


def _stopped(status: Running, stop: KeyboardInterrupt) -> str:
    """Say at which case and in which line of the answer a check was interrupted."""
    message = _("Stopped after {seconds:.0f} s, at {case}")
    message = message.format(seconds=status.seconds, case=status)
    # The second line of an error is like "in your line 3: x = y", if there is one.
    line = describe_error(stop).partition("\n")[2].partition("\n")[0]
    lead, _colon, code = line.partition(": ")
    return f"{message}, {translate(lead)}: `{code}`" if code else f"{message}."


def _notice(answer: object) -> str:
    """Return a warning if the newest cell that should define the answer has failed.

    The check is then of an earlier version. Return "" if the cell did not fail.
    """
    for name in name_of(answer).split(", "):
        if reason := cells.why_stopped(name):
            message = _("The cell of `{name}` did not run: it ended with {why}.")
            return message.format(name=name, why=reason)
    return ""


def _suspect(name: str, code: set[CodeType]) -> Suspect:
    """Describe an earlier exercise that may be the cause of a failure.

    Args:
        code: the code objects of its answer that failed or are stubs.
    """
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
    """Replace the case results of an unsolved stub by one friendly note.

    Args:
        skipped: whether the note says that the short path omits the exercise.
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
    """Load an exercise from the references; None if they do not contain it."""
    unit = str(name).split("/")[0]
    if unit not in references.units(visibility):
        return None
    return references.load(unit, visibility, name).get(name)


def _close_names(name: str) -> str:
    """Return the message that no exercise has this name, with the most similar names.

    If no name is similar, the message lists all exercises.
    """
    names = [n for unit in references.units() for n in references.titles(unit)]
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.4)
    listed = ", ".join(f'"{n}"' for n in close or names)
    message = _('There is no exercise "{name}". Did you mean {names}?')
    return message.format(name=name, names=listed)


replace_unprintable()
cells.follow()
check = Check()
