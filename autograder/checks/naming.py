"""Which mistake a wrong answer is: what is said was predicted, or seen."""

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
from autograder.checks.several import several
from autograder.checks.values import same_answer

# In place of a mistake's many answers to a property's case: which of them are wrong.
PATTERN = "pattern"


@dataclass(frozen=True)
class Suspect:
    """An exercise that fails, and whose code runs in another one.

    It may be ``unsolved`` still, and be ``skipped`` by the short path.
    """

    title: str
    unsolved: bool = False
    skipped: bool = False


def blame(verdict: CheckResult, failed: Sequence[Suspect]) -> CheckResult:
    """The verdict, explained by an earlier failure where no mistake explains it."""
    explained = verdict.mistake and verdict.mistake.name != SEEN
    if explained or not failed:
        return verdict
    first = failed[0]
    if first.unsolved:
        says = _("This builds on {exercise}, which is not solved yet.")
        asks = "" if first.skipped else _("Could you solve that one first?")
    else:
        says = _("This builds on {exercise}, which fails its own check.")
        asks = _("What does that check say? Mend it first, then look here again.")
    parts = [says.format(exercise=first.title)]
    if first.skipped:
        parts.append(_("The short path leaves it out."))
    parts.append(_("Grading tries this exercise once more with a right version of it."))
    says = " ".join(parts)
    # Whether it follows from a failure only shows when the earlier one is right.
    mistake = Mistake("follows", says, asks)
    return replace(verdict, mistake=mistake, sure=first.unsolved)


def diagnose(
    exercise: Exercise, results: Sequence[CaseResult]
) -> tuple[Mistake | None, bool]:
    """The named mistake whose answers these are, and whether it explains all of them.

    Cases that hold no mistakes' answers (drawn afresh for grading) say nothing here. A
    mistake is sure if it, and no other, gives every answer of every case, and fails in
    the same properties. Where only a general property is wrong, what was seen is said.
    Otherwise a mistake is likely that gives all answers and fails in the same
    properties, but not in all their details; or there are several. What is left may
    have a symptom. A call of a ready-made answer is said first. Where visible cases are
    wrong, they alone are asked: the same answer gets the same name in a notebook and
    in grading.
    """
    if called := _ready_made(results):
        return called, True
    everything, results = results, _telling(results)
    known = _known(results)
    found = {name: _fit(known, name) for name in exercise.mistakes}
    whole = [name for name, fit in found.items() if fit is _Fit.WHOLE]
    if len(whole) > 1:  # hidden cases may tell them apart
        unlike = [n for n in whole if _fit(_known(everything), n) is _Fit.WHOLE]
        whole = unlike or whole
    if len(whole) == 1:
        return exercise.mistakes[whole[0]], True
    if seen := of_a_property(results):
        return seen, True
    likely = whole or [name for name, fit in found.items() if fit is _Fit.LIKELY]
    if likely:
        return exercise.mistakes[likely[0]], False
    if named := several(exercise, known):
        return named
    return of_all(results), True


def _ready_made(results: Sequence[CaseResult]) -> Mistake | None:
    """That a ready-made answer was called, if one was."""
    findings = [finding for result in results for finding in result.findings]
    says = [finding.message for finding in findings if finding.problem == CALLED]
    asks = _("Which steps does the task describe?")
    return Mistake("ready_made", says[0], asks) if says else None


def _telling(results: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """The visible cases, if an ordinary one of them is wrong; else all."""
    shown = [result for result in results if not result.case.hidden]
    wrong = any(not (result.passed or result.case.says) for result in shown)
    return shown if wrong else results


def possible(exercise: Exercise, results: Sequence[CaseResult]) -> list[str]:
    """Names of the mistakes that no case contradicts, as far as cases hold answers."""
    known = _known(results)
    return [
        name
        for name in exercise.mistakes
        if all(_compared(result, name)[0] for result in known)
    ]


def _known(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Results with mistakes' answers; wrong ones first, which contradict most."""
    return sorted((r for r in results if r.case.mistakes), key=lambda r: r.passed)


def fits(results: Sequence[CaseResult], mistake: str, whole: bool) -> bool:
    """Whether a mistake gives all answers, or else those that are not to properties."""
    fit = _fit(_known(results), mistake)
    return fit >= (_Fit.WHOLE if whole else _Fit.LIKELY)


def pattern(result: CaseResult) -> Answers:
    """What is kept of a mistake's answers to a property's case."""
    wrong = "".join(".x"[bool(finding.problem)] for finding in result.findings)
    problems = {finding.problem for finding in result.findings}
    return {PATTERN: RAISED if RAISED in problems else wrong if any(problems) else ""}


class _Fit(IntEnum):
    """How a mistake's answers compare with those that were given."""

    NO = 0  # another answer
    LIKELY = 1  # the same answers; in other properties' cases, other details are wrong
    WHOLE = 2  # all is the same


def _fit(results: Sequence[CaseResult], mistake: str) -> _Fit:
    whole, only_errors = _Fit.WHOLE, True
    for result in results:
        fit, only = _compared(result, mistake)
        if fit is _Fit.NO:
            return fit
        whole, only_errors = min(whole, fit), only_errors and only
    # Unrelated code often fails with the same words.
    return _Fit.NO if whole is _Fit.LIKELY and only_errors else whole


def _compared(result: CaseResult, mistake: str) -> tuple[_Fit, bool]:
    """How the answers of one case compare, and whether what is wrong is errors only."""
    predicted = result.case.mistakes.get(mistake, {})
    if PATTERN in predicted:
        if result.passed == bool(predicted[PATTERN]):
            return _Fit.NO, True
        return _Fit.WHOLE if pattern(result) == predicted else _Fit.LIKELY, True
    only_errors = True
    for finding in result.findings:
        key = RAISED if finding.problem == RAISED else finding.name
        given = result.answers.get(key)
        if not same_answer(predicted.get(key), given, result.case):
            return _Fit.NO, True
        only_errors &= key == RAISED or not finding.problem
    return _Fit.WHOLE, only_errors
