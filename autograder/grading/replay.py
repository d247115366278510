"""Decide one check of a submission again, and keep the evidence for its verdict.

The judge asks the same questions as at grading. Nothing is recorded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from autograder.course import grade_ids
from autograder.course.errors import CourseError
from autograder.course.notebooks import parse_cached
from autograder.grading.execute import JudgedExecute
from autograder.grading.grade import environment, laid_out
from autograder.grading.gradebook.book import cell_name
from autograder.grading.intake import RefusedError, rebuild
from autograder.grading.judge.verdict import CaseEvidence, Verdict
from autograder.grading.metadata import GradingMetadata
from autograder.grading.provenance import machine_version
from autograder.grading.run.assignment import Assignment
from autograder.grading.settings import load_class
from autograder.grading.task import Task, resources_of


@dataclass(frozen=True)
class Replay:
    """A check whose verdict was reached a second time.

    Attributes:
        evidence: the inputs and answers of the check's first try.
        isolation: the level of the sandbox.
        provenance: the versions of the course, the programs and the machine.
    """

    id: str
    verdict: Verdict
    evidence: tuple[CaseEvidence, ...]
    code: str
    isolation: str
    provenance: Mapping[str, str]


def replay(course: Assignment, student: str, folder: Path, check: str) -> Replay:
    """Decide a check again from the files in a student's folder.

    Args:
        check: its name in the class's results.

    Raises:
        CourseError: the submission cannot be graded, or the check is not judged.
    """
    for task in course.submission(student, folder, final=True).tasks:
        for cell in parse_cached(task.source).cells:
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if cell_name(task.assignment, task.notebook, grade_id) == check:
                version = {**machine_version(), **course.version}
                return _replay(task, grade_id, version)
    raise CourseError(f"{course.name} has no check {check}")


def _replay(task: Task, grade_id: str, version: Mapping[str, str]) -> Replay:
    """Decide one check of a notebook again; raises the errors of `replay`."""
    if task.refused:
        raise CourseError(f"{task.student}: nothing to replay: {task.refused}")
    # A separate folder, as a run may be grading the same submission meanwhile.
    task = replace(task, folder=f"{task.folder}-replay-{os.getpid()}")
    source, release = parse_cached(task.source), parse_cached(task.release)
    metadata = GradingMetadata()
    try:
        notebook, _ = rebuild(source, release, task.submission, task.limits)
        code = _answer(notebook, grade_id)
        with laid_out(task), environment(NBGRADER_EXECUTION="autograde"):
            evidence = _run(task, notebook, metadata, grade_id)
    except RefusedError as refusal:
        raise CourseError(f"{task.student}: nothing to replay: {refusal}") from None
    if grade_id not in metadata.checks:
        raise CourseError(
            f"{grade_id} is no check of the judge's: a person grades it, or its own "
            "test decides inside the sandbox"
        )
    verdict = metadata.checks[grade_id]
    return Replay(task.id, verdict, evidence, code, metadata.isolation, version)


def _run(
    task: Task, notebook: NotebookNode, metadata: GradingMetadata, grade_id: str
) -> tuple[CaseEvidence, ...]:
    """Run the notebook up to a check; return the evidence for the check's verdict.

    The verdict itself is stored in ``metadata``.
    """
    resources = resources_of(task, metadata)
    for kind in map(load_class, task.preprocessors):
        stage = kind(config=task.config)
        if isinstance(stage, JudgedExecute):
            # It then stops after this check, and keeps the check's evidence.
            stage.explained = grade_id
            stage(notebook, resources)
            return stage.evidence
        notebook, resources = stage(notebook, resources)
    return ()


def _answer(notebook: NotebookNode, check: str) -> str:
    """The code of the cells that answer a check."""
    marks = [(cell, cell.metadata.get("nbgrader", {})) for cell in notebook.cells]
    return "\n\n".join(
        cell.source
        for cell, mark in marks
        if mark.get("solution") and grade_ids.check_of(mark["grade_id"]) == check
    )
