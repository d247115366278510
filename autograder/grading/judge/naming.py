"""Find the mistake behind a wrong answer: optional work, once the verdict is final."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import replace
from weakref import WeakKeyDictionary

from autograder.authoring import answers
from autograder.authoring.specification import Specification
from autograder.checks.compare import compare
from autograder.checks.exercise import Answers, Case, CaseResult, CheckResult, Exercise
from autograder.checks.interactor import Interactor
from autograder.checks.naming import PATTERN, diagnose, fits, pattern, possible
from autograder.checks.time_limit import TooLongError, limit

NAMING_SECONDS = 60.0  # of CPU time


def named(exercise: Exercise, task: Specification, result: CheckResult) -> CheckResult:
    """The result with its mistake named: the fresh cases get to know mistakes, too.

    What is not found in some CPU time is just not named.
    """
    with contextlib.suppress(TooLongError), limit(NAMING_SECONDS):
        return _diagnosed(exercise, task, result)
    return result


def _diagnosed(
    exercise: Exercise, task: Specification, result: CheckResult
) -> CheckResult:
    """The result with the mistake that its answers show.

    Computing the answers of mistakes is what costs time, so it is done for those
    mistakes only that the visible cases speak for, whose mistakes' answers are stored.
    One that does not give the answers to fresh drawings, too, keeps its name, as in the
    student's notebook, and is said to be likely only. Only if the
    visible cases are all right and hidden ones are wrong, all mistakes are tried that
    the visible cases do not contradict. A mistake that is a student's program is never
    executed here, and so is likely at best.
    """
    confined = {m.name for m in task.mutants if m.ways[0].confined}
    wrong = [r.case for r in result.results if any(f.problem for f in r.findings)]
    ordinary = [case for case in wrong if not case.says]
    if ordinary and all(case.hidden for case in ordinary):
        likely = [
            name for name in possible(exercise, result.results) if name not in confined
        ]
        results = _with_answers(exercise, result, task, likely)
        mistake, sure = diagnose(exercise, results)
        return replace(result, mistake=mistake, sure=sure)
    mistake = result.mistake  # by the visible cases
    if mistake is None or not result.sure or mistake.name not in exercise.mistakes:
        return result
    if mistake.name in confined:
        return replace(result, sure=False)
    results = _with_answers(exercise, result, task, [mistake.name])
    return replace(result, sure=fits(results, mistake.name, whole=True))


def _with_answers(
    exercise: Exercise, result: CheckResult, task: Specification, names: Collection[str]
) -> list[CaseResult]:
    """The results, with these mistakes' answers in the fresh cases, too.

    What is wrong comes first: a mistake that gives another answer somewhere is out, and
    is not tried any further. Nor is one tried in cases that are measured: how good a
    model is says the number, and to run mistaken models takes long.
    """
    results = list(result.results)
    tried = {n: m for n, m in exercise.mistakes.items() if n in names}
    exercise = replace(exercise, mistakes=tried)  # of the others nothing is asked
    stored = {r.case.name: r.case for r in results if r.case.mistakes}
    is_played = task.side is not Interactor
    for place in sorted(range(len(results)), key=lambda n: results[n].passed):
        case = results[place].case
        if case.mistakes or case.measure:
            continue
        shown = stored.get(case.name)
        known, patterns = _as_shown(results[place], shown, names, is_played)
        given = _given(task, [name for name in names if name not in known], case)
        given |= {n: pattern(compare(case, given[n])) for n in patterns & given.keys()}
        own = replace(case, mistakes={**known, **given})
        results[place] = replace(results[place], case=own)
        fitting = possible(exercise, [results[place]])
        names = [name for name in names if name in fitting]
    return results


_answered = WeakKeyDictionary[Case, dict[str, Answers]]()  # by mistake


def _given(
    task: Specification, names: Collection[str], case: Case
) -> dict[str, Answers]:  # fmt: skip
    """What mistakes answer to a case: found once for all who are asked it.

    Objects are made for it alone: what one keeps for itself from a case before, that
    depended on who was wrong where.
    """
    known = _answered.setdefault(case, {})
    if new := [name for name in names if name not in known]:
        objects = answers.mistaken_objects(task, new)
        known |= answers.mistaken_answers(task, objects, case.inputs)
    return {name: known[name] for name in names}


def _as_shown(
    result: CaseResult, shown: Case | None, names: Collection[str], is_played: bool
) -> tuple[dict[str, Answers], set[str]]:
    """What the visible drawing of a case tells of mistakes' answers to this one.

    Of a property's case it keeps patterns: mistakes whose pattern this result has are
    not run again. Where the judge plays a side, a case is long; there, a mistake that
    is right in the visible drawing is right in all of them (a test asks), and is not
    run where this result is right. Then the names of all that have patterns.
    """
    kept = {n: shown.mistakes[n] for n in names if shown and n in shown.mistakes}
    if result.case.says:
        kept = {n: known for n, known in kept.items() if PATTERN in known}
        own = pattern(result)
        return {n: known for n, known in kept.items() if known == own}, set(kept)
    if shown is None or not (is_played and result.passed):
        return {}, set()
    right = (n for n, known in kept.items() if compare(shown, known).passed)
    return dict.fromkeys(right, result.case.expected), set()
