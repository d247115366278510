"""Grade a class: start and record submissions in order, then retry failures."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Never

from tqdm import tqdm

from autograder.grading.gradebook.book import GradebookError, ScoresByCell
from autograder.grading.run.outcome import Outcome
from autograder.grading.run.persist import ResultWriter
from autograder.grading.run.submission import (
    InFlightSubmission,
    is_at_capacity,
    names_of,
)
from autograder.grading.task import Task
from autograder.grading.workers.inline import Executor
from autograder.grading.workers.parallel import SetupError
from autograder.sandbox.processes import await_calm

AllScores = Mapping[tuple[str, str], ScoresByCell]  # by student and notebook


class Run:
    """One run over the submissions of a class.

    Args:
        recorded: the scores that the gradebook has.
        force: whether submissions that are up to date are graded, too.
        calm: seconds for which the second tries wait for a calmer machine, at most.
    """

    def __init__(
        self, writer: ResultWriter, executor: Executor, recorded: AllScores,
        force: bool, calm: float,
    ):  # fmt: skip
        self._writer, self._executor, self._recorded = writer, executor, recorded
        self._force, self._calm = force, calm
        self._retries: list[str] = []

    def outcomes(self, folders: Mapping[str, Path]) -> Iterator[list[Outcome]]:
        """Grade all students' folders; yield their outcomes in order, once recorded.

        Undecided submissions are graded once more at the end.

        Raises:
            GradebookError, SetupError: no submission can be graded.
        """
        begun: deque[InFlightSubmission] = deque()
        total = len(folders)
        bar = tqdm(total=total, file=sys.stderr, disable=None, unit=" submissions")
        with bar, contextlib.ExitStack() as stack:
            stack.callback(_close_all, begun)
            stack.callback(self._executor.close)  # first: it uses files of `begun`
            try:
                for student, folder in folders.items():
                    begun.append(self._begin(student, folder))
                    yield from self._settle(begun, bar, may_begin=True)
                yield from self._settle(begun, bar, may_begin=False)
            except KeyboardInterrupt:
                self._record_graded(begun)
                raise
            if self._retries:
                await_calm(self._calm)
            for student in self._retries:
                begun.append(self._begin(student, folders[student], final=True))
                yield from self._settle(begun, bar, may_begin=False)

    def _settle(
        self, begun: deque[InFlightSubmission], bar: tqdm[Never], may_begin: bool
    ) -> Iterator[list[Outcome]]:
        """Record finished submissions in the order of ``begun``; yield their outcomes.

        This waits until another one can begin or, if none ``may_begin``, for all.
        """
        executor = self._executor
        while begun and (
            not begun[0].running
            or not may_begin
            or is_at_capacity(begun, executor.slots)
        ):
            bar.set_description(names_of(executor.busy) or begun[0].student[:24])
            if not begun[0].running:
                with contextlib.closing(begun.popleft()) as submission:
                    if outcomes := self._finish(submission):
                        yield outcomes
                        bar.update()
            else:
                running = [future for waiting in begun for future in waiting.running]
                wait(running, 0.5, FIRST_COMPLETED)

    def _record_graded(self, begun: Iterable[InFlightSubmission]) -> None:
        """Record graded submissions that wait for a slower one, after an interruption.

        Otherwise, runs with a time limit might never record them.
        """
        for submission in begun:
            futures = submission.futures.values()
            with contextlib.suppress(Exception):
                if futures and all(f.done() and not f.exception() for f in futures):
                    self._writer.save(submission)

    def _begin(
        self, student: str, folder: Path, final: bool = False
    ) -> InFlightSubmission:
        """Lock a student's results, and start grading what is not up to date.

        Returns:
            The submission; its ``error`` is set if grading could not be started.

        Raises:
            SetupError: no submission can be graded.
        """
        submission = InFlightSubmission(student, final)
        with contextlib.ExitStack() as cleanup:
            try:
                published = self._writer.published(student)
                cleanup.enter_context(published.locked(partial(self._wait, student)))
                submission = self._writer.course.submission(student, folder, final)
                submission.tasks = tuple(
                    self._send(task, submission, cleanup) for task in submission.tasks
                )
            except SetupError:
                raise
            except Exception as error:
                submission.error = error
            submission.cleanup = cleanup.pop_all()
        return submission

    def _wait(self, student: str) -> None:
        """Warn that another command is grading the student."""
        self._writer.log.warning(
            f"{student} is being graded by another command, perhaps one that was "
            "stopped (Ctrl-Z): waiting for it"
        )

    def _send(
        self, task: Task, submission: InFlightSubmission, cleanup: contextlib.ExitStack
    ) -> Task:
        """Submit a task, unless it is up to date; return it without its files."""
        extra = self._writer.extra.get(task.student)
        inputs = [] if extra is None else [extra]
        digest = self._writer.course.digest(task, submission.stamp, *inputs)
        task = replace(task, digest=digest)
        earlier = self._writer.published(task.student).read_metadata(task.notebook)
        submission.earlier[task.notebook] = earlier
        scores = self._recorded.get((task.student, task.notebook))
        is_unchanged = earlier.digest == digest and earlier.scores == scores
        if not (is_unchanged and scores is not None and not self._force):
            cleanup.callback(shutil.rmtree, task.folder, ignore_errors=True)
            submission.futures[task.notebook] = self._executor.submit(task)
        return replace(task, files={}, submission=None)

    def _finish(self, submission: InFlightSubmission) -> list[Outcome]:
        """Record a submission; return its outcomes, [] if it is to be graded again.

        In that case, the student is added to those whose second try comes at the end.
        """
        try:
            return self._writer.save(submission)
        except GradebookError:
            raise
        except Exception as error:
            self._retries.append(submission.student)
            log = self._writer.log
            reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
            log.warning(
                f"{submission.student}: not decided ({reason}); it is "
                "graded again when the others are done"
            )
            log.debug("It was:", exc_info=error)
            return []


def _close_all(begun: Iterable[InFlightSubmission]) -> None:
    for submission in begun:
        submission.close()
