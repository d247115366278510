"""Find the known mistake behind a wrong answer, once its points are final.

A known mistake is a wrong program, stored in the course with a sentence that
explains it to students. Naming it changes no points, so it may fail or be cut
short.
"""

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
from autograder.checks.naming import (
    PATTERN,
    diagnose,
    fits,
    pattern,
    uncontradicted_variants,
)
from autograder.checks.time_limit import TooLongError, limit
from autograder.checks.values import same_answer

NAMING_SECONDS = 60.0  # of CPU time


def name_mistake(
    exercise: Exercise, task: Specification, result: CheckResult
) -> CheckResult:
    """Return a result with the known mistake that explains its answers, if any does.

    Answers to fresh cases are considered, too. The result is returned unchanged if this
    takes more than `NAMING_SECONDS`.
    """
    with contextlib.suppress(TooLongError), limit(NAMING_SECONDS):
        return _diagnose(exercise, task, result)
    return result


def _diagnose(
    exercise: Exercise, task: Specification, result: CheckResult
) -> CheckResult:
    """Name the known mistake that gives the student's answers, if there is one.

    Usually ``result.mistake`` is already the mistake that fits the visible cases,
    for which the answers of all mistakes are stored. Its answers to the hidden
    cases are computed here, which takes time. If these differ from the student's,
    the mistake keeps its name, because the student's notebook shows the same name,
    but it is no longer sure. If only hidden cases fail (apart from those of general
    properties), answers are computed for all mistakes that the visible cases do not
    contradict. A mistake whose code a student wrote is not run here, and is never
    sure.
    """
    confined = {v.name for m in task.mutants for v in m.variants if v.confined}
    wrong = [r.case for r in result.results if any(f.problem for f in r.findings)]
    ordinary = [case for case in wrong if not case.says]
    if ordinary and all(case.hidden for case in ordinary):
        fitting = uncontradicted_variants(exercise, result.results)
        likely = [variant for variant in fitting if variant not in confined]
        results = _with_answers(exercise, result, task, likely)
        mistake, sure = diagnose(exercise, results)
        untried = mistake and confined.intersection(mistake.variants)
        return replace(result, mistake=mistake, sure=sure and not untried)
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
    """Return the results, with the answers of mistakes stored in their hidden cases.

    Each variant, a wrong program that makes a mistake, is run on one case after the
    other, those with wrong results first. Once it does not give the student's
    answers to a case, it is not run on further cases. Measured cases are left out,
    because their answers say only how good a model is, and running mistaken models
    takes long.

    Args:
        names: the variants to try.
    """
    results = list(result.results)
    mistakes = {  # no other mistake is looked for
        name: replace(mistake, variants=chosen)
        for name, mistake in exercise.mistakes.items()
        if (chosen := tuple(v for v in mistake.variants if v in names))
    }
    exercise = replace(exercise, mistakes=mistakes)
    stored = {r.case.name: r.case for r in results if r.case.mistakes}
    is_played = task.interactor_class is not Interactor
    for index in sorted(range(len(results)), key=lambda n: results[n].passed):
        case = results[index].case
        if case.mistakes or case.measure:
            continue
        visible = stored.get(case.name)
        reused, patterns = _reuse_answers(results[index], visible, names, is_played)
        missing = [name for name in names if name not in reused]
        computed = _compute_answers(task, missing, case)
        for name in patterns & computed.keys():
            computed[name] = pattern(compare(case, computed[name]))
        extended = replace(case, mistakes={**reused, **computed})
        results[index] = replace(results[index], case=extended)
        fitting = uncontradicted_variants(exercise, [results[index]])
        names = [name for name in names if name in fitting]
    return results


_answered = WeakKeyDictionary[Case, dict[str, Answers]]()  # by variant of a mistake


def _compute_answers(
    task: Specification, names: Collection[str], case: Case
) -> dict[str, Answers]:  # fmt: skip
    """Run variants of mistakes on a case; return each one's answers by its name.

    The answers are kept as long as the case is, which other submissions may share.
    The objects are built anew for each case, because an object might remember
    something of earlier cases, and these differ between submissions.
    """
    cached = _answered.setdefault(case, {})
    if new := [name for name in names if name not in cached]:
        objects = answers.mistaken_objects(task, new)
        cached |= answers.mistaken_answers(task, objects, case.inputs)
    return {name: cached[name] for name in names}


def _reuse_answers(
    result: CaseResult, visible: Case | None, names: Collection[str], is_played: bool
) -> tuple[dict[str, Predictions], set[str]]:
    """Find answers of mistakes to a hidden case that are known without running them.

    For a case that tests a general property, the visible case stores a pattern for
    each variant, which says which of its answers are wrong. If the student's
    answers have the same pattern, it counts as the variant's answer. For other
    cases, answers are known only if the judge interacts with the student's code and
    the student is right: a variant that is right in the visible case is then right
    in all hidden ones (a test asserts this), so its answers are the correct ones.

    Args:
        result: the student's result in the hidden case.
        visible: the visible case with the same name, if there is one.
        names: the variants of mistakes to look for.
        is_played: whether the judge interacts with the code, which takes long.

    Returns:
        The known answers by variant; and the variants of which the visible case
        stores patterns.
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
