"""Find the mistake behind a wrong answer: optional work, once the verdict is final."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Collection, Iterator
from dataclasses import replace
from types import FrameType

from autograder.oracle import answers
from autograder.oracle.specification import Specification
from autograder.student.compare import diagnose, gives_all
from autograder.student.exercise import CaseResult, Exercise, Verdict

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
    mistakes only that give all answers to the visible cases. If none of them proves
    right, the visible cases, whose mistakes' answers are stored, say what is likely;
    and only if these are all right and hidden ones are wrong, all mistakes are tried.
    """
    names = [n for n in exercise.mistakes if gives_all(verdict.results, n)]
    found = diagnose(exercise, _with_answers(verdict, task, names))
    if not found[1]:
        wrong = [r.case for r in verdict.results if any(f.problem for f in r.findings)]
        ordinary = [case for case in wrong if not case.says]
        if not ordinary:
            found = diagnose(exercise, verdict.results)
        elif all(case.hidden for case in ordinary):
            found = diagnose(exercise, _with_answers(verdict, task, exercise.mistakes))
        else:
            found = diagnose(exercise, verdict.results)[0], False
    return replace(verdict, mistake=found[0], sure=found[1])


def _with_answers(
    verdict: Verdict, task: Specification, names: Collection[str]
) -> list[CaseResult]:
    """The results, with these mistakes' answers in the fresh cases, too.

    Not in those that are measured: how good a model is says the number, and to run
    mistaken models takes long. Cases of properties say themselves what was seen.
    """
    objects = answers.mistaken_objects(task, names)
    return [
        r if r.case.mistakes or r.case.measure or r.case.says else replace(
            r, case=replace(
                r.case,
                mistakes=answers.mistaken_answers(task, objects, r.case.inputs),
            ),
        )
        for r in verdict.results
    ]  # fmt: skip
