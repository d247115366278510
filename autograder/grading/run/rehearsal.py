"""Grade the course's own solution before any hand-in; refuse a broken exercise.

A mistake of an author would otherwise cost every student points.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from nbgrader.utils import is_grade, is_solution

from autograder.course import files
from autograder.course.errors import CourseError
from autograder.grading import warmable
from autograder.grading.checks.check_cell import check_cell
from autograder.grading.checks.reference_metadata import is_measured
from autograder.grading.extra_cells import find_handler
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.intake.common import join_names
from autograder.grading.judge.verdict import Verdict
from autograder.grading.run.assignment import Assignment
from autograder.grading.run.submission import result_of
from autograder.grading.scores import unjudged_score
from autograder.grading.task import Graded, Task
from autograder.grading.workers.inline import Executor
from autograder.sandbox.processes import await_calm

_ROUNDING = 0.01  # points


def rehearse(
    course: Assignment, executor: Executor, calm: float, log: logging.Logger
) -> None:
    """Check that every exercise gives the course's own solution all of its points.

    If the machine keeps the solution from being graded, there is only a warning.

    Args:
        calm: seconds for which a second try waits for a calmer machine, at most.

    Raises:
        CourseError: an exercise does not give all points, for example.
    """
    if not warmable.stages(course.stages):
        return  # other people's preprocessors: nothing is known of their scores
    with files.changing_json_state(
        passed_digests_path(course.root, course.name)
    ) as noted:
        # The file is not kept locked while the solution is graded.
        passed = dict(noted)
    for name in course.notebooks:
        task = course.solution(name)
        task = replace(task, digest=course.digest(task))
        if passed.get(name) == task.digest:
            continue
        try:
            graded = _grade(task, executor, calm, log)
        except Exception as error:
            is_ours = isinstance(error, GradingInfrastructureError)
            if isinstance(error, CourseError) and not is_ours:
                raise  # it would affect every submission, and says what to do about it
            # This says nothing about the exercises; grading submissions may succeed.
            log.warning(f"{course.name}: its own solution was not graded ({error})")
            continue
        _refuse_broken(course.name, graded)
        with files.changing_json_state(
            passed_digests_path(course.root, course.name)
        ) as noted:
            noted[name] = task.digest


def passed_digests_path(root: Path, unit: str) -> Path:
    """The path of the file with the digests of the solutions that had all points."""
    return root / ".autograder" / "rehearsed" / f"{unit}.json"


def _grade(task: Task, executor: Executor, calm: float, log: logging.Logger) -> Graded:
    """Grade the solution, a second time if the machine caused a failure.

    Raises:
        GradingInfrastructureError: both tries failed.
    """
    try:
        return result_of(executor.submit(task), task, log)
    except GradingInfrastructureError:
        await_calm(calm)
        return result_of(executor.submit(task), task, log)


def _refuse_broken(unit: str, graded: Graded) -> None:
    """Raise a CourseError if the solution is refused or does not get all points."""
    refused = graded.metadata.refused
    reason = f"is refused: {refused}" if refused else ""
    if failures := _failures(graded):
        first = next(iter(failures.values()))
        reason = f"does not get all points for {join_names(list(failures))}: {first}"
    if reason:
        number = unit.partition("_")[0]
        raise CourseError(
            f"{unit}: no submission was graded, because the course's own solution "
            f"{reason}; run: make build UNIT={number}"
        )


def _failures(graded: Graded) -> dict[str, str]:
    """Map each broken exercise to what happened to the course's own solution."""
    verdicts = graded.metadata.checks
    reasons: dict[str, str] = {}
    for cell in graded.notebook.cells:
        if not is_grade(cell) or is_solution(cell) or find_handler(cell):
            continue
        grade_id = cell.metadata.nbgrader.grade_id
        if (check := check_cell(cell)) and grade_id in verdicts:
            reason = _reason(verdicts[grade_id])
            reasons[check.exercise] = reasons.get(check.exercise) or reason
        elif check is None:
            points, most = unjudged_score(cell), float(cell.metadata.nbgrader.points)
            is_short = points is not None and points < most
            reasons[grade_id] = f"{points:g} of {most:g} points" if is_short else ""
    return {name: reason for name, reason in reasons.items() if reason}


def _reason(verdict: Verdict) -> str:
    """Return what is wrong with a verdict on the course's own solution; "" if nothing.

    A trained model need not earn all points, as it may be worse on other machines.
    """
    if verdict.decided == "person":
        return verdict.fault or verdict.note
    enough = 0.0 if is_measured(verdict.exercise) else verdict.max_points - _ROUNDING
    if verdict.points > enough:
        return ""
    failed = (case.title for case in verdict.cases if case.problem)
    remark = verdict.note or verdict.says or next(failed, "")
    points = f"{verdict.points:g} of {verdict.max_points:g} points"
    return f"{points} ({remark})" if remark else points
