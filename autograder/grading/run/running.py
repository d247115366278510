"""A class on its way: begun and recorded in order, tried again at the end."""

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
from autograder.grading.run.persist import Keeper
from autograder.grading.task import Task
from autograder.grading.workers.parallel import SetupError
from autograder.grading.workers.pipeline import Begun, Slots, Work, enough, names_of
from autograder.sandbox.processes import await_calm

AllScores = Mapping[tuple[str, str], ScoresByCell]  # by student and notebook


class Run:
    """One run over the submissions of a class.

    Args:
        recorded: the scores that the gradebook has.
        force: whether what is up to date is graded, too.
        calm: seconds for which the second tries wait for a calmer machine, at most.
    """

    def __init__(
        self,
        keeper: Keeper,
        slots: Slots,
        recorded: AllScores,
        force: bool,
        calm: float,
    ):
        self._keeper, self._slots, self._recorded = keeper, slots, recorded
        self._force, self._calm = force, calm
        self._again: list[str] = []

    def outcomes(self, folders: Mapping[str, Path]) -> Iterator[list[Outcome]]:
        """The outcomes of all students, in their order, each when it is recorded.

        Who could not be decided is graded once more at the end, with nobody beside.

        Args:
            folders: what each student has handed in.

        Raises:
            GradebookError, SetupError: nobody can be graded.
        """
        slots = self._slots
        begun: deque[Begun] = deque()
        total = len(folders)
        bar = tqdm(total=total, file=sys.stderr, disable=None, unit=" submissions")
        with bar, contextlib.ExitStack() as stack:
            stack.callback(_close_all, begun)
            stack.callback(slots.close)  # before: their files are in use
            for student, folder in folders.items():
                begun.append(self._begin(student, folder))
                yield from self._settled(begun, bar, more=True)
            yield from self._settled(begun, bar, more=False)
            if self._again:
                await_calm(self._calm)
            for student in self._again:
                begun.append(self._begin(student, folders[student], final=True))
                yield from self._settled(begun, bar, more=False)

    def _settled(
        self, begun: deque[Begun], bar: tqdm[Never], more: bool
    ) -> Iterator[list[Outcome]]:
        """Record those that are done, from the first; wait if no more may begin."""
        slots = self._slots
        while begun and (begun[0].done or not more or enough(begun, slots)):
            bar.set_description(names_of(slots.busy) or begun[0].student[:24])
            if begun[0].done:
                with contextlib.closing(begun.popleft()) as one:
                    if found := self._finish(one):
                        yield found
                        bar.update()
            else:
                running = [f for one in begun for f in one.futures if not f.done()]
                wait(running, 0.5, FIRST_COMPLETED)

    def _begin(self, student: str, folder: Path, final: bool = False) -> Begun:
        """Have a submission graded, unless it is up to date; a lock is kept on it."""
        course, begun = self._keeper.course, Begun(student, final)
        try:
            kept = self._keeper.published(student)
            begun.kept.enter_context(kept.locked(partial(self._wait, student)))
            handed_in = course.submission(student, folder, final)
            begun.stamp, begun.texts = handed_in.stamp, handed_in.kept
            for task in handed_in.tasks:
                begun.works.append(self._work(task, begun))
        except SetupError:
            begun.close()
            raise
        except Exception as error:
            begun.error = error
        except BaseException:
            begun.close()
            raise
        return begun

    def _wait(self, student: str) -> None:
        self._keeper.log.warning(
            f"{student} is being graded by another command, perhaps one that was "
            "stopped (Ctrl-Z): waiting for it"
        )

    def _work(self, task: Task, begun: Begun) -> Work:
        extra = self._keeper.extra.get(task.student)
        more = [] if extra is None else [extra]
        digest = self._keeper.course.digest(task, begun.stamp, *more)
        known = self._keeper.published(task.student).known(task.notebook)
        work = Work(task, digest, known)
        scores = self._recorded.get((task.student, task.notebook))
        same = known.digest == digest and known.scores == scores
        if not (same and scores is not None and not self._force):
            begun.kept.callback(shutil.rmtree, task.folder, ignore_errors=True)
            work.future = self._slots.submit(task)
            work.task = replace(task, files={}, submission=None)  # they take room
        return work

    def _finish(self, begun: Begun) -> list[Outcome]:
        """Record a submission; [] if it is to be graded again."""
        try:
            return self._keeper.keep(begun)
        except GradebookError:
            raise
        except Exception as error:
            self._again.append(begun.student)
            log = self._keeper.log
            log.warning(
                f"{begun.student}: not decided ({_first_line(error)}); it is "
                "graded again when the others are done"
            )
            log.debug("It was:", exc_info=error)
            return []


def _close_all(begun: Iterable[Begun]) -> None:
    for one in begun:
        one.close()


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]
