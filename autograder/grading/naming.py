"""Find the mistake behind a wrong answer: optional work, once the verdict is final."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from types import FrameType

from autograder.oracle import answers
from autograder.oracle.specification import Specification
from autograder.student.compare import compare
from autograder.student.exercise import CaseResult, Exercise, Verdict
from autograder.student.naming import PATTERN, diagnose, fits, pattern, possible

NAMING_SECONDS = 60.0  # of CPU time


def named(exercise: Exercise, task: Specification, verdict: Verdict) -> Verdict:
    """The verdict with its mistake named: the fresh cases get to know mistakes, too.

    What is not found in some CPU time is just not named.
    """
    with _at_most(NAMING_SECONDS):
        return _diagnosed(exercise, task, verdict)
    return verdict


class _Spent(BaseException):
    """The budget is used up; nothing that runs an answer takes this for its own."""


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Leave the block when it has used so many seconds of CPU time."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _Spent

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except _Spent:
        return
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _diagnosed(exercise: Exercise, task: Specification, verdict: Verdict) -> Verdict:
    """The verdict with the mistake that its answers show.

    Computing the answers of mistakes is what costs time, so it is done for those
    mistakes only that the visible cases speak for, whose mistakes' answers are stored.
    One that does not give the answers to fresh drawings, too, is no name. Only if the
    visible cases are all right and hidden ones are wrong, all mistakes are tried that
    the visible cases do not contradict.
    """
    wrong = [r.case for r in verdict.results if any(f.problem for f in r.findings)]
    ordinary = [case for case in wrong if not case.says]
    results: Sequence[CaseResult] = verdict.results
    if ordinary and all(case.hidden for case in ordinary):
        likely = possible(exercise, results)
        results = _with_answers(verdict, task, likely)
    while True:
        mistake, sure = diagnose(exercise, results)
        if mistake is None or mistake.name not in exercise.mistakes:
            break
        if fits(_with_answers(verdict, task, [mistake.name]), mistake.name, sure):
            break
        others = {n: m for n, m in exercise.mistakes.items() if n != mistake.name}
        exercise = replace(exercise, mistakes=others)
    return replace(verdict, mistake=mistake, sure=sure)


def _with_answers(
    verdict: Verdict, task: Specification, names: Collection[str]
) -> list[CaseResult]:
    """The results, with these mistakes' answers in the fresh cases, too.

    Not in those that are measured: how good a model is says the number, and to run
    mistaken models takes long.
    """
    objects = answers.mistaken_objects(task, names)
    shown = {r.case.name: r.case for r in verdict.results if r.case.mistakes}

    def answered(result: CaseResult) -> CaseResult:
        case = result.case
        if case.mistakes or case.measure:
            return result
        given = answers.mistaken_answers(task, objects, case.inputs)
        if case.says and case.name in shown:  # as the visible one keeps them
            given = {
                name: pattern(compare(case, own))
                if PATTERN in shown[case.name].mistakes.get(name, {})
                else own
                for name, own in given.items()
            }
        return replace(result, case=replace(case, mistakes=given))

    return [answered(result) for result in verdict.results]
