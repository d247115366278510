"""Find the known mistake behind a wrong answer, once its points are final.

A known mistake is a wrong program, stored with a sentence that explains it.
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
    """Return a result with the known mistake that explains its answers, if any."""
    with contextlib.suppress(TooLongError), limit(NAMING_SECONDS):
        return _diagnose(exercise, task, result)
    return result


def _diagnose(
    exercise: Exercise, task: Specification, result: CheckResult
) -> CheckResult:
    """Name the known mistake that gives the student's answers, if there is one.

    If only hidden cases fail, known mistakes are run on these. One that the visible
    cases have named is run there as well: if it does not fit, it is no longer sure.
    """
    # Variants that students wrote: the judge does not run such code.
    confined = {v.name for m in task.mutants for v in m.variants if v.confined}
    wrong = [r.case for r in result.results if any(f.problem for f in r.findings)]
    # Not the cases of general properties, which have a text of their own.
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

    Args:
        names: the variants to try, wrong programs that make a mistake.
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
    # Wrong answers come first, as they exclude most variants.
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
    """Run variants of mistakes on a case; return each one's answers by its name."""
    cached = _answered.setdefault(case, {})
    if new := [name for name in names if name not in cached]:
        objects = answers.mistaken_objects(task, new)
        cached |= answers.mistaken_answers(task, objects, case.inputs)
    return {name: cached[name] for name in names}


def _reuse_answers(
    result: CaseResult, visible: Case | None, names: Collection[str], is_played: bool
) -> tuple[dict[str, Predictions], set[str]]:
    """Find answers of mistakes to a hidden case that are known without running them.

    Args:
        visible: the visible case with the same name, if there is one.
        names: the variants of mistakes to look for.
        is_played: whether the judge interacts with the student's code.

    Returns:
        The known answers by variant; and the variants for which only the pattern of
        right and wrong answers is stored.
    """
    mistakes = visible.mistakes if visible else {}
    stored = {name: mistakes[name] for name in names if name in mistakes}
    # A general property: other inputs, but the same answers should fail.
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
