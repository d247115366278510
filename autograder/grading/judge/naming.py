"""Find the mistake behind a wrong answer: optional work, once the verdict is final."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import replace
from weakref import WeakKeyDictionary

from autograder.authoring import answers
from autograder.authoring.specification import Specification
from autograder.checks.compare import compare
from autograder.checks.exercise import (
    Answers,
    Case,
    CaseResult,
    CheckResult,
    Exercise,
    Predictions,
)
from autograder.checks.interactor import Interactor
from autograder.checks.naming import PATTERN, diagnose, fits, pattern, possible
from autograder.checks.time_limit import TooLongError, limit
from autograder.checks.values import same_answer

NAMING_SECONDS = 60.0  # of CPU time


def name_mistake(
    exercise: Exercise, task: Specification, result: CheckResult
) -> CheckResult:
    """Name the mistake of a result, by the answers of mistakes to the fresh cases, too.

    A mistake that is not found within some CPU time is not named.
    """
    with contextlib.suppress(TooLongError), limit(NAMING_SECONDS):
        return _diagnose(exercise, task, result)
    return result


def _diagnose(
    exercise: Exercise, task: Specification, result: CheckResult
) -> CheckResult:
    """Name the mistake that the answers of a result show.

    Computing the answers of mistakes takes time, so only those mistakes are computed
    which fit the visible cases, for which the answers of mistakes are stored. A mistake
    that fits these, but not the fresh cases, keeps its name, as in the student's
    notebook, and is called likely. Only if all visible cases are right and hidden ones
    are wrong, all mistakes are computed that the visible cases do not contradict. A
    mistake that is a student's program is never executed here, and so is likely at
    best.
    """
    confined = {v.name for m in task.mutants for v in m.variants if v.confined}
    wrong = [r.case for r in result.results if any(f.problem for f in r.findings)]
    ordinary = [case for case in wrong if not case.says]
    if ordinary and all(case.hidden for case in ordinary):
        likely = [
            variant
            for variant in possible(exercise, result.results)
            if variant not in confined
        ]
        results = _with_answers(exercise, result, task, likely)
        mistake, sure = diagnose(exercise, results)
        return replace(result, mistake=mistake, sure=sure)
    mistake = result.mistake  # by the visible cases
    if mistake is None or not result.sure or mistake.name not in exercise.mistakes:
        return result
    if confined.intersection(mistake.variants):
        return replace(result, sure=False)
    results = _with_answers(exercise, result, task, mistake.variants)
    return replace(result, sure=fits(results, mistake, exact=True))


def _with_answers(
    exercise: Exercise, result: CheckResult, task: Specification, names: Collection[str]
) -> list[CaseResult]:
    """The results, with the answers of these variants in the fresh cases, too.

    Wrong answers are compared first: a mistake that answers one of them differently is
    excluded, and is not computed for further cases. Measured cases are left out,
    because their answers say only how good a model is, and running mistaken models
    takes long.
    """
    results = list(result.results)
    exercise = _with_variants(exercise, names)  # no other mistake is looked for
    stored = {r.case.name: r.case for r in results if r.case.mistakes}
    is_played = task.side is not Interactor
    for place in sorted(range(len(results)), key=lambda n: results[n].passed):
        case = results[place].case
        if case.mistakes or case.measure:
            continue
        visible = stored.get(case.name)
        reused, patterns = _reuse_answers(results[place], visible, names, is_played)
        missing = [name for name in names if name not in reused]
        computed = _compute_answers(task, missing, case)
        for name in patterns & computed.keys():
            computed[name] = pattern(compare(case, computed[name]))
        extended = replace(case, mistakes={**reused, **computed})
        results[place] = replace(results[place], case=extended)
        fitting = possible(exercise, [results[place]])
        names = [name for name in names if name in fitting]
    return results


def _with_variants(exercise: Exercise, names: Collection[str]) -> Exercise:
    """The exercise with these variants of its mistakes only."""
    mistakes = {
        name: replace(mistake, variants=chosen)
        for name, mistake in exercise.mistakes.items()
        if (chosen := tuple(v for v in mistake.variants if v in names))
    }
    return replace(exercise, mistakes=mistakes)


_answered = WeakKeyDictionary[Case, dict[str, Answers]]()  # by variant of a mistake


def _compute_answers(
    task: Specification, names: Collection[str], case: Case
) -> dict[str, Answers]:  # fmt: skip
    """Compute what mistakes answer to a case, once for all submissions.

    The objects are built anew for each case. An object might remember something of
    earlier cases, and which cases were earlier depends on the submissions.
    """
    cached = _answered.setdefault(case, {})
    if new := [name for name in names if name not in cached]:
        objects = answers.mistaken_objects(task, new)
        cached |= answers.mistaken_answers(task, objects, case.inputs)
    return {name: cached[name] for name in names}


def _reuse_answers(
    result: CaseResult, visible: Case | None, names: Collection[str], is_played: bool
) -> tuple[dict[str, Predictions], set[str]]:
    """Reuse, for this result, the answers of mistakes that the visible case stores.

    Returns the answers that need not be computed, and the names of mistakes that cannot
    be computed at all. A property's case stores only which answers are wrong: a mistake
    with the same pattern as this result is taken as it is. A case in which the judge
    plays a side takes long: there, a mistake that is right in the visible drawing is
    right in all of them (a test asserts this), and it is not run if this result is
    right.
    """
    mistakes = visible.mistakes if visible else {}
    stored = {name: mistakes[name] for name in names if name in mistakes}
    if result.case.says:
        stored = {n: answer for n, answer in stored.items() if PATTERN in answer}
        result_pattern = pattern(result)
        alike = {n: answer for n, answer in stored.items() if answer == result_pattern}
        return alike, set(stored)
    if visible is None or not (is_played and result.passed):
        return {}, set()
    right = (
        variant
        for variant, answers in stored.items()
        if all(
            same_answer(answers.get(name), value, visible)
            for name, value in visible.expected.items()
        )
    )
    return dict.fromkeys(right, result.case.expected), set()
