"""Find the smallest input on which a wrong answer fails.

With each exercise whose results people can read, the build stores about a dozen
small inputs. They earn no points and are not secret.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable
from dataclasses import replace

from autograder.checks import ready_made
from autograder.checks.compare import compare
from autograder.checks.exercise import (
    RAISED,
    Answers,
    Case,
    CheckResult,
    Exercise,
    is_stub,
)
from autograder.checks.language import template
from autograder.checks.observe import observe
from autograder.checks.probes import Report
from autograder.checks.time_limit import TooLongError, limit
from autograder.checks.values import telling_part

BRIEFLY = "try"  # the judge's kind of message that asks for the answer to a small case
_SECONDS = 1.0  # of CPU time for each small case
NO_END = template("your code does not end")


def add_smallest(
    verdict: CheckResult, exercise: Exercise, ask: Callable[[Case], Answers]
) -> CheckResult:
    """Add to a verdict the smallest case on which the student's answer fails, if any.

    ``ask`` returns the student's answers to a small case. Nothing is added for a
    stub, or if all cases end in one error, which says enough.
    """
    answers = [result.answers for result in verdict.results]
    is_wrong = bool(answers) and not (verdict.passed or verdict.is_partial)
    if not is_wrong or any(map(is_stub, answers)) or _always_raised(verdict):
        return verdict
    for case in exercise.small:
        # Small cases do not watch calls of ready-made answers: drop what is reported.
        result = compare(case, ready_made.with_listed_only(ask(case), ()))
        if not result.passed:
            return replace(verdict, smallest=result)
    return verdict


def _always_raised(verdict: CheckResult) -> bool:
    """Return whether all cases of a verdict failed with the same error."""
    wrong = [result for result in verdict.results if not result.passed]
    errors = {telling_part(str(r.answers.get(RAISED, ""))) for r in wrong}
    return len(wrong) == len(verdict.results) and len(errors) == 1 and "" not in errors


def observe_briefly(probe: Report, answer: object, inputs: Answers) -> Answers:
    """Observe a student's object on one case, for at most a second of CPU time.

    If it takes longer, the answer is an error. Windows and threads have no limit.
    """
    try:
        with limit(_SECONDS) if _can_be_limited() else contextlib.nullcontext():
            return observe(probe, answer, inputs)
    except TooLongError:
        return {RAISED: NO_END}


def _can_be_limited() -> bool:
    """Whether code that does not end can be stopped on this system, in this thread."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and hasattr(signal, "setitimer")
