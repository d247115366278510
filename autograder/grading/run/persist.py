"""Store the results of a submission, in the gradebook and then in ``autograded/``."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from autograder.course.access import refuse_full
from autograder.course.errors import CourseError
from autograder.course.notebooks import parse_cached
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.gradebook.book import GradebookError, GradebookHandle
from autograder.grading.gradebook.recording import Recorder
from autograder.grading.intake import rebuild
from autograder.grading.intake.common import join_names
from autograder.grading.metadata import GradingMetadata
from autograder.grading.run.assignment import Assignment
from autograder.grading.run.graded_folder import GradedFolder
from autograder.grading.run.outcome import Outcome, out_of_time, outcome_of
from autograder.grading.run.submission import InFlightSubmission, result_of
from autograder.grading.task import Graded, Task

UNSURE = "Something went wrong while grading; your teachers have been told."


@dataclass(frozen=True)
class ResultWriter:
    """Writes results to the gradebook and to ``autograded/``.

    Attributes:
        extra: the time beyond the due date that students were given, by student.
        published: returns a student's folder in ``autograded/``.
        permit: gives a student's folder the file modes that nbgrader expects.
    """

    course: Assignment
    book: GradebookHandle
    recorder: Recorder
    extra: Mapping[str, datetime.timedelta]
    published: Callable[[str], GradedFolder]
    permit: Callable[[str], None]
    log: logging.Logger

    def save(self, submission: InFlightSubmission) -> list[Outcome]:
        """Record a submission and publish it; return the outcomes of its notebooks.

        Raises:
            GradebookError: nothing can be recorded.
            Exception: whatever grading raised, if there will be a second try.
        """
        try:
            if submission.error:
                raise submission.error
            return [self._record(task, submission) for task in submission.tasks]
        except Exception as error:
            self._tell_if_final(submission, error)
            reason = "nothing new was recorded"
            return [Outcome(submission.student, "undecided", reason)]

    def _record(self, task: Task, submission: InFlightSubmission) -> Outcome:
        """Record the result of one notebook, unless it is up to date."""
        if task.notebook not in submission.futures:
            metadata = submission.earlier[task.notebook]
            return outcome_of(task.student, "up to date", metadata)
        try:
            future = submission.futures[task.notebook]
            return self._save(task, result_of(future, task, self.log), submission)
        except Exception as error:
            self._tell_if_final(submission, error)
            return self._undecided(task, submission, error)

    def _tell_if_final(self, submission: InFlightSubmission, error: Exception) -> None:
        """Log a final failure; re-raise an error that is retried or ends the run."""
        if isinstance(error, GradebookError) or not submission.final:
            raise error
        if isinstance(error, CourseError):
            self.log.error(f"{submission.student}: {error}")
        else:
            self.log.exception(f"{submission.student}: grading failed")

    def _save(
        self, task: Task, graded: Graded, submission: InFlightSubmission
    ) -> Outcome:
        """Record a graded notebook, then publish it, which marks it as up to date.

        If the judge failed on a check, the notebook is not marked, and so graded again.

        Raises:
            GradingInfrastructureError: the judge failed, and there is a second try.
        """
        stamp, extra = submission.stamp, self.extra.get(task.student)
        metadata, checks = graded.metadata, graded.metadata.checks
        lost = {n: check for n, check in checks.items() if check.decided == "person"}
        if lost and not submission.final:
            first = next(iter(lost.values()))
            failure = f"{first.exercise}: {first.fault}".removesuffix(": ")
            raise GradingInfrastructureError(f"the judge failed on {failure}")
        before = self.published(task.student).notebook(task.notebook)
        scores = self.book.use(
            lambda book: self.recorder.record(
                book, task, graded, stamp, extra, before, self.log.warning
            )
        )
        metadata.scores, metadata.handed_in = scores, str(stamp or "")
        metadata.digest = "" if lost else task.digest
        metadata.id = task.id if graded.decided else ""
        metadata.provenance = {**metadata.provenance, **self.course.version}
        metadata.store_in(graded.notebook)
        self._publish(task, graded, submission.beside)
        self.log.debug("%s/%s: recorded and published", task.student, task.notebook)
        self.permit(task.student)
        outcome = outcome_of(task.student, "graded", metadata)
        if overdue := out_of_time(graded.notebook, metadata):
            names = join_names(overdue)
            self.log.warning(f"{task.student}: did not end in time: {names}")
        if outcome.repairs and not metadata.refused:
            self.log.warning(str(outcome))
        if lost:
            reason = "; ".join(_about_lost(name, scores[name]) for name in lost)
            reason += "; the same command tries again"
            return replace(outcome, status="undecided", reason=reason)
        return outcome

    def _publish(self, task: Task, graded: Graded, beside: Mapping[str, bytes]) -> None:
        """Write a graded notebook and the files beside it to ``autograded/``.

        Raises:
            GradebookError: the disk is full.
            CourseError: the folder cannot be written for another reason.
        """
        folder = self.published(task.student)
        try:
            folder.replace(task.notebook, graded.notebook, beside)
        except CourseError:
            try:
                refuse_full(folder.path)
            except CourseError as full:
                # A full disk concerns all submissions, so this error ends the run.
                raise GradebookError(str(full)) from None
            raise

    def _undecided(
        self, task: Task, submission: InFlightSubmission, error: Exception
    ) -> Outcome:
        """Return the outcome of a notebook that ``error`` has kept from being graded.

        An earlier result stays. Without one, it is recorded as not graded yet.
        """
        metadata = submission.earlier[task.notebook]
        old = bool(metadata.digest or metadata.id)  # of a grading by this program
        if not old:
            blank, _ = rebuild(
                parse_cached(task.source), parse_cached(task.release), None
            )
            unsure = GradingMetadata(refused=UNSURE, repairs=task.repairs)
            open_ = Graded(blank, unsure, decided=False)
            # Without a digest, the next run grades it again.
            self._save(replace(task, digest=""), open_, submission)
            metadata = self.published(task.student).read_metadata(task.notebook)
        scored = any(score is not None for score in (metadata.scores or {}).values())
        reason = f"{error}; " if isinstance(error, CourseError) else ""
        reason += "the old result stays" if old or scored else "it has no score yet"
        reason += "; the same command tries again"
        return Outcome(task.student, "undecided", reason)


def _about_lost(name: str, score: float | None) -> str:
    """Say that the judge failed on a check, and what this means for its score."""
    status = "has no score yet" if score is None else f"keeps its {score:g} points"
    return f"no verdict on {name}, which {status}"
