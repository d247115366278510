"""``nbgrader autograde`` that never loses a submission and never stops at one.

A submission's way, from top to bottom: its folder becomes tasks (`assignment.py`,
`intake/`); they are graded here, in processes or on other machines (`underway.py`,
`parallel.py`, `cluster.py`), each by ``grade(Task) -> Graded`` (`grade.py`), without
the gradebook; what comes back is recorded (`recording.py`) in the order of the
students, whatever is ready first, and published (`published.py`).

The order makes ``kill -9`` harmless: the gradebook's transaction first, then, as the
last step and in one rename, the notebook in ``autograded/``. A run skips a submission
only if the digest in it is that of today's files and the gradebook still holds its
scores.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.metadata
import logging
import re
import shutil
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from pathlib import Path

import nbformat
from nbgrader.converters import Autograde, NbGraderException
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from tqdm import tqdm
from traitlets import Float, Integer, List, Unicode

from autograder.course.errors import CourseError
from autograder.grading import assignment, extensions
from autograder.grading.book import GradebookError, PatientBook, Scores
from autograder.grading.cluster import Cluster
from autograder.grading.enter import enter
from autograder.grading.faults import Undecided
from autograder.grading.intake import Limits, rebuild, say
from autograder.grading.outcome import Outcome, above_bar, changes, outcome, summary
from autograder.grading.parallel import Pool, SetupError, usable_cores
from autograder.grading.published import Published, noted
from autograder.grading.recording import record
from autograder.grading.settings import loaded
from autograder.grading.task import KEY, Graded, Task
from autograder.grading.underway import Begun, Here, Slots, Work, enough, names_of
from autograder.kernel.processes import await_calm

UNSURE = "Something went wrong while grading; your teachers have been told."
AllScores = Mapping[tuple[str, str], Scores]  # by student and notebook


class CourseAutograde(Autograde):
    """nbgrader's ``Autograde`` with our intake, and our way of recording.

    ``autograde_preprocessors`` is one list, as nbgrader has it. What stands before the
    first ``SaveAutoGrades`` or ``AssignLatePenalties`` belongs to ``grade`` and has no
    gradebook; the rest records, in one transaction.
    """

    sanitize_preprocessors = List(
        help="Run on the rebuilt notebook, before the others."
    ).tag(config=True)
    patience = Float(
        60.0, help="How long a locked or unavailable gradebook is waited for (seconds)."
    ).tag(config=True)
    largest_notebook = Integer(
        Limits.notebook, help="Larger notebooks are refused (bytes)."
    ).tag(config=True)
    largest_file = Integer(
        Limits.file, help="Larger files beside the notebook are left out (bytes)."
    ).tag(config=True)
    largest_total = Integer(
        Limits.total, help="Files beyond this sum are left out (bytes)."
    ).tag(config=True)
    most_files = Integer(Limits.files, help="Further files are left out.").tag(
        config=True
    )

    jobs = Integer(
        0,
        help="Submissions graded at once, each in a process of its own; 0: as many as "
        "there are usable cores; 1: one after the other, in this process.",
    ).tag(config=True)

    scheduler = Unicode(
        "",
        help="The address of a Dask scheduler whose workers grade instead of this "
        "machine: tcp://host:8786. See docs/scale.md.",
    ).tag(config=True)

    calm_seconds = Float(
        20.0,
        help="How long the second tries, at the end, wait for a calmer machine.",
    ).tag(config=True)

    _book: PatientBook

    # What to do

    def init_notebooks(self) -> None:
        """Find the submissions, whatever they hold.

        Raises:
            NbGraderException: there are none.
        """
        pattern = self._format_source(
            self.coursedir.assignment_id, self.coursedir.student_id
        )
        excluded = self.coursedir.student_id_exclude.split(",")
        found = sorted(glob.glob(pattern))
        for path in found:
            if not path.isprintable():
                self.log.error("Left out: %r is no name of a student's folder", path)
        folders = {self._student(path): path for path in found if path.isprintable()}
        self._folders = {s: Path(p) for s, p in folders.items() if s not in excluded}
        if not folders:
            raise self._stop(f"there are no submissions like {pattern}")

    def _student(self, folder: str) -> str:
        pattern = self._format_source("(?P<a>.*)", "(?P<student>.*)", escape=True)
        return re.match(pattern, folder)["student"]

    def _stop(self, reason: str) -> NbGraderException:
        self.log.error(reason)
        return NbGraderException(reason)

    def convert_notebooks(self) -> None:
        """Grade all submissions.

        Raises:
            NbGraderException: something needs a person; all that could be graded is.
        """
        outcomes: list[Outcome] = []
        self._book = PatientBook(
            self.coursedir.db_url, self.coursedir.course_id, self.patience, self.log
        )
        try:
            self._load_course()
            recorded = self._book.use(lambda book: book.scores(self._unit))
            with above_bar(self.log):
                for found in self._all(recorded):
                    outcomes += found
        except KeyboardInterrupt:
            self.log.error(
                "Stopped. What was graded is kept; the same command goes on from here."
            )
            raise SystemExit(130) from None
        except CourseError as error:
            raise self._stop(str(error)) from None
        finally:
            self._book.close()
        self._report(outcomes)

    def _all(self, recorded: AllScores) -> Iterator[list[Outcome]]:
        """The outcomes of all students, in their order, each when it is recorded.

        Who could not be decided is graded once more at the end, with nobody beside.
        """
        slots = self._slots()
        begun: deque[Begun] = deque()
        self._again: list[str] = []
        bar = tqdm(
            total=len(self._folders), file=sys.stderr, disable=None, unit=" submissions"
        )
        with bar, contextlib.ExitStack() as stack:
            stack.callback(lambda: [one.close() for one in begun])
            stack.callback(slots.close)  # before: their files are in use
            for student in self._folders:
                begun.append(self._begin(student, recorded, slots))
                yield from self._settled(begun, slots, bar, more=True)
            yield from self._settled(begun, slots, bar, more=False)
            if self._again:
                await_calm(self.calm_seconds)
            for student in self._again:
                begun.append(self._begin(student, recorded, slots, final=True))
                yield from self._settled(begun, slots, bar, more=False)

    def _settled(
        self, begun: deque[Begun], slots: Slots, bar: tqdm, more: bool
    ) -> Iterator[list[Outcome]]:
        """Record those that are done, from the first; wait if no more may begin."""
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

    def _slots(self) -> Slots:
        if self.scheduler:
            return Cluster(self.scheduler)
        jobs = self.jobs or usable_cores()
        return Pool(jobs) if jobs > 1 else Here()

    def _report(self, outcomes: list[Outcome]) -> None:
        if lines := changes(outcomes):
            self.log.info("\n".join(["Scores that have changed:", *lines]))
        self.log.info(f"{self._unit}: {summary(outcomes)}")
        alarming = [outcome for outcome in outcomes if outcome.needs_person]
        for one in alarming:
            self.log.error(f"Needs a person: {one}")
        if alarming:
            raise NbGraderException(f"{len(alarming)} submissions need a person")

    # The course

    @property
    def _unit(self) -> str:
        return self.coursedir.assignment_id

    def _load_course(self) -> None:
        """Read source and release, and see that the gradebook knows them.

        Raises:
            CourseError: build, release or gradebook lack something.
        """
        limits = Limits(
            self.largest_file, self.largest_total, self.most_files,
            notebook=self.largest_notebook,
        )  # fmt: skip
        self._course = assignment.load(
            self._unit, Path(self.coursedir.root),
            self._folder(self.coursedir.source_directory),
            self._folder(self.coursedir.release_directory),
            self.coursedir.notebook_id, self.exclude_overwriting.get(self._unit, []),
            tuple(map(loaded, self.sanitize_preprocessors)) + self._stages()[0],
            self.config, limits, self.coursedir.ignore,
        )  # fmt: skip
        self._extra = extensions.granted(Path(self.coursedir.root), self._unit)
        notebooks = self._course.notebooks
        self._book.use(lambda book: enter(book, self._unit, notebooks, self.config))
        self._book.use(self._course.refuse_strange)

    def _folder(self, step: str) -> Path:
        return Path(self.coursedir.format_path(step, ".", self._unit))

    # One submission

    def _begin(
        self, student: str, recorded: AllScores, slots: Slots, final: bool = False
    ) -> Begun:
        """Have a submission graded, unless it is up to date; a lock is kept on it."""
        begun = Begun(student, final)
        try:
            begun.kept.enter_context(self._published(student).locked())
            handed_in = self._course.submission(student, self._folders[student], final)
            begun.stamp, begun.texts = handed_in.stamp, handed_in.kept
            for task in handed_in.tasks:
                begun.works.append(self._work(task, begun, recorded, slots))
        except SetupError:
            begun.close()
            raise
        except Exception as error:
            begun.error = error
        except BaseException:
            begun.close()
            raise
        return begun

    def _work(
        self, task: Task, begun: Begun, recorded: AllScores, slots: Slots
    ) -> Work:
        extra = self._extra.get(task.student)
        more = [] if extra is None else [extra]
        digest = self._course.digest(task, begun.stamp, *more)
        work = Work(task, digest, self._published(task.student).known(task.notebook))
        scores = recorded.get((task.student, task.notebook))
        same = work.known.get("digest") == work.digest
        same = same and work.known.get("scores") == scores
        if not (same and scores is not None and not self.force):
            begun.kept.callback(shutil.rmtree, task.folder, ignore_errors=True)
            work.future = slots.submit(task)
            work.task = replace(task, files={}, submission=None)  # they take room
        return work

    def _finish(self, begun: Begun) -> list[Outcome]:
        """Record a submission; [] if it is to be graded again."""
        try:
            if begun.error:
                raise begun.error
            return [self._recorded(work, begun) for work in begun.works]
        except GradebookError:
            raise
        except Exception as error:
            if not begun.final:
                self._again.append(begun.student)
                self.log.warning(
                    f"{begun.student}: not decided ({_first_line(error)}); it is "
                    "graded again when the others are done"
                )
                self.log.debug("It was:", exc_info=error)
                return []
            self._tell(begun.student, error)
            return [Outcome(begun.student, "undecided", "nothing new was recorded")]

    def _recorded(self, work: Work, begun: Begun) -> Outcome:
        if work.future is None:
            return outcome(begun.student, "up to date", work.known, {})
        try:
            return self._keep(work, work.graded(self.log), begun)
        except GradebookError:
            raise
        except Exception as error:
            if not begun.final:
                raise
            self._tell(begun.student, error)
            return self._undecided(work, begun, error)

    def _tell(self, student: str, error: Exception) -> None:
        if isinstance(error, CourseError):
            self.log.error(f"{student}: {error}")
        else:
            self.log.exception(f"{student}: grading failed")

    def _keep(self, work: Work, graded: Graded, begun: Begun) -> Outcome:
        """Record a graded notebook, then publish it; only then it is done."""
        task, stamp = work.task, begun.stamp
        checks = noted(graded.notebook).get("checks", {}).values()
        lost = [check for check in checks if check["decided"] == "person"]
        if lost and not begun.final:
            raise Undecided("the judge has failed over an answer")
        scores = self._book.use(
            lambda book: record(
                book, task, graded, stamp, self._extra.get(task.student),
                self.create_student, self._stages()[1], self.config,
                self.coursedir.db_url,
            )
        )  # fmt: skip
        known = noted(graded.notebook) | {
            "digest": work.digest, "scores": scores, "refused": graded.refused,
            "repairs": say(graded.repairs), "handed_in": str(stamp or ""),
        }  # fmt: skip
        graded.notebook.metadata[KEY] = nbformat.from_dict(known)
        self._published(task.student).replace(
            task.notebook, graded.notebook, begun.texts, self._course.notebooks
        )
        self.set_permissions(task.assignment, task.student)
        found = outcome(task.student, "graded", known, work.known)
        if found.repairs and not graded.refused:
            self.log.warning(str(found))
        if lost:
            reason = f"{len(lost)} checks have no verdict"
            return replace(found, status="undecided", reason=reason)
        return found

    def _published(self, student: str) -> Published:
        return Published(Path(self._format_dest(self._unit, student)))

    def _undecided(self, work: Work, begun: Begun, error: Exception) -> Outcome:
        """After a fault of ours: the old result stays, else there is none for now."""
        task, old = work.task, bool(work.known.get("digest"))  # "": one from here
        if not old:
            source, release = (
                nbformat.reads(t, as_version=4) for t in (task.source, task.release)
            )
            blank, _ = rebuild(source, release, None)
            open_ = Graded(blank, task.repairs, UNSURE, decided=False)
            self._keep(replace(work, digest=""), open_, begun)
        reason = f"{error}; " if isinstance(error, CourseError) else ""
        reason += "the old result stays" if old else "it has no score yet"
        return Outcome(
            task.student, "undecided", f"{reason}; the same command tries again"
        )

    def _stages(self) -> tuple[tuple, tuple]:
        """The preprocessors that grade, and those that record."""
        kinds = tuple(map(loaded, self.autograde_preprocessors))
        recording = (SaveAutoGrades, AssignLatePenalties)
        writers = [n for n, kind in enumerate(kinds) if issubclass(kind, recording)]
        first = min(writers, default=len(kinds))
        return kinds[:first], kinds[first:]

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """nbgrader's, which would say at every submission that it does so."""
        level = self.log.level
        self.log.setLevel(max(level, logging.WARNING))
        try:
            super().set_permissions(assignment_id, student_id)
        finally:
            self.log.setLevel(level)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


# --- nbgrader_config.py --------------------------------------------------------------


def install() -> bool:
    """Have ``nbgrader autograde`` and the formgrader grade with ``CourseAutograde``.

    nbgrader has no setting for this: the class is looked up by name in two of its
    modules. Doing it twice is harmless. False, and a word on stderr, if this nbgrader
    is not one that it was written for: nbgrader's own converter grades then.
    """
    version = importlib.metadata.version("nbgrader")
    numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:3])
    if not (0, 9, 5) <= numbers < (0, 10):
        print(
            f"autograder: nbgrader {version} is not known (0.9.5 to 0.9.x is); grading "
            "goes on without repairs, and stops at the first broken submission",
            file=sys.stderr,
        )
        return False
    from nbgrader.apps import api as formgrader
    from nbgrader.apps import autogradeapp

    autogradeapp.Autograde = formgrader.Autograde = CourseAutograde
    return True
