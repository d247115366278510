"""Name the mistake behind a wrong answer: a known mistake, or else a symptom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from autograder.checks.diagnostics.symptoms import SEEN, of_a_property, of_all
from autograder.checks.exercise import (
    CALLED,
    RAISED,
    Answers,
    CaseResult,
    CheckResult,
    Exercise,
    Mistake,
)
from autograder.checks.language import _
from autograder.checks.layers import name_layers
from autograder.checks.several import find_combined_mistakes
from autograder.checks.values import is_predicted

# Of a mistake's many answers to a property's case, only which are wrong is stored.
PATTERN = "pattern"


@dataclass(frozen=True)
class Suspect:
    """A failing exercise whose code is called by a later one.

    ``unsolved``: it is still a stub. ``skipped``: it is not on the short path,
    which consists of a unit's essential exercises.
    """

    title: str
    unsolved: bool = False
    skipped: bool = False


def blame(verdict: CheckResult, failed: Sequence[Suspect]) -> CheckResult:
    """Blame a failure on an earlier exercise, unless a known mistake explains it.

    ``failed`` holds earlier exercises that fail and whose code this one calls; the
    first is blamed.
    """
    explained = verdict.mistake and verdict.mistake.name != SEEN
    if explained or not failed:
        return verdict
    first = failed[0]
    if first.unsolved:
        message = _("This builds on {exercise}, which is not solved yet.")
        asks = "" if first.skipped else _("Could you solve that one first?")
    else:
        message = _("This builds on {exercise}, which fails its own check.")
        asks = _("What does that check say? Fix it first, then come back.")
    parts = [message.format(exercise=first.title)]
    if first.skipped:
        parts.append(_("The short path leaves it out."))
    parts.append(_("Grading tries this exercise once more with a right version of it."))
    message = " ".join(parts)
    # The cause is certain only if the earlier exercise is a stub: a wrong one may have
    # nothing to do with this failure.
    mistake = Mistake("follows", message, asks)
    return replace(verdict, mistake=mistake, sure=first.unsolved)


def diagnose(
    exercise: Exercise, results: Sequence[CaseResult]
) -> tuple[Mistake | None, bool]:
    """Find the mistake or mistakes behind these answers, and whether that is sure."""
    mistake, sure = _diagnose_one(exercise, results)
    if mistake and sure and mistake.name != SEEN:
        return mistake, sure
    telling = _telling(results)
    # Measured answers are neither right nor wrong: layers cannot be compared.
    if any(r.case.measure for r in telling):
        return mistake, sure
    return name_layers(exercise, telling, _find_exact) or (mistake, sure)


def _find_exact(exercise: Exercise, results: Sequence[CaseResult]) -> Mistake | None:
    """The only mistake that predicts all these results; None for none or several."""
    comparable = _select_comparable(results)
    mistakes = exercise.mistakes.values()
    exact = [m for m in mistakes if _fit(comparable, m) is _Fit.WHOLE]
    some_wrong = not all(result.passed for result in comparable)
    return exact[0] if len(exact) == 1 and some_wrong else None


def _diagnose_one(
    exercise: Exercise, results: Sequence[CaseResult]
) -> tuple[Mistake | None, bool]:
    """Find the mistake that gives these answers, and whether it explains all of them.

    Known mistakes usually come before symptoms, which only describe what is wrong.
    Visible cases come before hidden ones, so that a notebook and grading agree.
    """
    if called := _ready_made(results):
        return called, True
    everything, results = results, _telling(results)
    comparable = _select_comparable(results)
    fit_by_name = {
        name: _fit(comparable, mistake) for name, mistake in exercise.mistakes.items()
    }
    exact = [name for name, fit in fit_by_name.items() if fit is _Fit.WHOLE]
    if len(exact) > 1:  # hidden cases may tell them apart
        mistakes = [exercise.mistakes[name] for name in exact]
        exact = [m.name for m in mistakes if fits(everything, m, exact=True)] or exact
    if len(exact) == 1:
        return exercise.mistakes[exact[0]], True
    if symptom := of_a_property(results):
        return symptom, True
    likely = exact or [name for name, fit in fit_by_name.items() if fit is _Fit.LIKELY]
    if likely:
        return exercise.mistakes[likely[0]], False
    if named := find_combined_mistakes(exercise, comparable):
        return named
    return of_all(results), True


def _ready_made(results: Sequence[CaseResult]) -> Mistake | None:
    """Return the mistake of calling a function that does the whole task, if one was."""
    findings = [finding for result in results for finding in result.findings]
    messages = [finding.message for finding in findings if finding.problem == CALLED]
    asks = _("Which steps does the task describe?")
    return Mistake("ready_made", messages[0], asks) if messages else None


def _telling(results: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """Select the cases to diagnose: the visible ones if one of them is wrong, else all.

    Cases of general properties do not decide this.
    """
    visible = [result for result in results if not result.case.hidden]
    wrong = any(not (result.passed or result.case.says) for result in visible)
    return visible if wrong else results


def uncontradicted_variants(
    exercise: Exercise, results: Sequence[CaseResult]
) -> list[str]:
    """List the variants of known mistakes that no case with stored answers excludes.

    Grading runs only these variants on further cases, to save time.
    """
    comparable = _select_comparable(results)
    return [
        variant
        for mistake in exercise.mistakes.values()
        for variant in mistake.variants
        if all(_compare(result, variant)[0] for result in comparable)
    ]


def _select_comparable(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Select the cases that store the answers of known mistakes, the wrong ones first.

    A wrong answer excludes most mistakes, so comparing the others can stop early.
    """
    return sorted((r for r in results if r.case.mistakes), key=lambda r: r.passed)


def fits(results: Sequence[CaseResult], mistake: Mistake, exact: bool) -> bool:
    """Return whether a mistake gives the answers of all these cases.

    With ``exact``, general properties must also fail in the same details.
    """
    fit = _fit(_select_comparable(results), mistake)
    return fit >= (_Fit.WHOLE if exact else _Fit.LIKELY)


def pattern(result: CaseResult) -> Answers:
    """Encode which answers to a case are wrong: ``{"pattern": ".x."}``.

    The text has an "x" for each wrong answer, and a dot for each right one. It is
    "raised" if an answer is an error, and "" if none is wrong.
    """
    wrong = "".join(".x"[bool(finding.problem)] for finding in result.findings)
    problems = {finding.problem for finding in result.findings}
    return {PATTERN: RAISED if RAISED in problems else wrong if any(problems) else ""}


class _Fit(IntEnum):
    """How well a mistake's answers match those that were given."""

    NO = 0  # some answer is different
    LIKELY = 1  # the same answers, and the same properties fail, in different details
    WHOLE = 2  # everything is the same


def _fit(results: Sequence[CaseResult], mistake: Mistake) -> _Fit:
    """Rate how well the best of a mistake's variants matches the results."""
    return max(_fit_variant(results, variant) for variant in mistake.variants)


def _fit_variant(results: Sequence[CaseResult], variant: str) -> _Fit:
    """Rate how well a mistake's variant matches the results, by its worst case."""
    lowest, only_errors = _Fit.WHOLE, True
    for result in results:
        fit, only_error = _compare(result, variant)
        if fit is _Fit.NO:
            return fit
        lowest, only_errors = min(lowest, fit), only_errors and only_error
    # Unrelated code often raises the same error.
    return _Fit.NO if lowest is _Fit.LIKELY and only_errors else lowest


def _compare(result: CaseResult, variant: str) -> tuple[_Fit, bool]:
    """Rate how well a variant's answers match those of one case.

    The second value says whether a match is weak evidence. Errors are weak, because
    unrelated code often raises the same ones.
    """
    predicted = result.case.mistakes.get(variant, {})
    if PATTERN in predicted:
        if result.passed == bool(predicted[PATTERN]):
            return _Fit.NO, True
        return _Fit.WHOLE if pattern(result) == predicted else _Fit.LIKELY, True
    only_errors = True
    for finding in result.findings:
        if not is_predicted(result, finding, variant):
            return _Fit.NO, True
        only_errors &= not finding.problem or finding.problem == RAISED
    return _Fit.WHOLE, only_errors
