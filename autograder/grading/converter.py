"""A version of ``nbgrader autograde`` that never loses or stops at a submission.

This module runs the command; docs/architecture.md describes its steps. The
gradebook's transaction comes first, and the notebook in ``autograded/`` last,
in one rename, so that even ``kill -9`` is harmless.
"""

from __future__ import annotations

import contextlib
import gc
import glob
import importlib.metadata
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from nbgrader.converters import Autograde, NbGraderException
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from traitlets import Float, Instance, Integer, List, Unicode
from traitlets.config import Application

from autograder.course.access import refuse_full, refuse_path, require_access
from autograder.course.errors import CourseError
from autograder.grading.collect import put_back
from autograder.grading.gradebook import changes, extensions
from autograder.grading.gradebook.book import GradebookHandle, book_files
from autograder.grading.gradebook.recording import Recorder
from autograder.grading.gradebook.register_assignment import register
from autograder.grading.limits import LimitedIntake
from autograder.grading.run import assignment
from autograder.grading.run.graded_folder import GradedFolder
from autograder.grading.run.late_penalties import recompute_late_penalties
from autograder.grading.run.outcome import Outcome, above_bar, summary
from autograder.grading.run.persist import ResultWriter
from autograder.grading.run.preflight import check_ulimits
from autograder.grading.run.rehearsal import rehearse
from autograder.grading.run.running import Run
from autograder.grading.settings import Stages, find_misspelt, load_class
from autograder.grading.warmable import warmables
from autograder.grading.workers.cluster import Cluster
from autograder.grading.workers.inline import Executor, InlineExecutor
from autograder.grading.workers.parallel import Pool, usable_cores
from autograder.sandbox import client, logs


class CourseAutograde(Autograde, LimitedIntake):  # type: ignore[misc]
    """nbgrader's ``Autograde``, with its own way to read hand-ins and store results.

    Of the ``autograde_preprocessors``, those before the first ``SaveAutoGrades`` or
    ``AssignLatePenalties`` grade a notebook. The others record its results.
    """

    sanitize_preprocessors = List(
        Instance(object), help="Run on the rebuilt notebook, before the others."
    ).tag(config=True)
    patience = Float(
        60.0, help="How long a locked or unavailable gradebook is waited for (seconds)."
    ).tag(config=True)
    waiting = List(Unicode(), help="Students left out of this run.").tag(config=True)

    jobs = Integer(
        0,
        help="Submissions graded at once, each in a process of its own; 0: as many as "
        "there are usable cores; 1, or 0 with one submission: one after the other, in "
        "this process.",
    ).tag(config=True)

    scheduler = Unicode(
        "",
        help="The address of a Dask scheduler whose workers grade instead of this "
        "machine: tcp://host:8786. See docs/scale.md.",
    ).tag(config=True)

    calm_seconds = Float(
        20.0, help="How long the second tries, at the end, wait for a calmer machine."
    ).tag(config=True)

    _book: GradebookHandle

    def init_notebooks(self) -> None:
        """Find the folders of all submissions to grade, without looking into them.

        Raises:
            NbGraderException: there are none, or the course's folder is not usable.
        """
        try:
            refuse_path(Path(self.coursedir.root))
        except CourseError as error:
            raise self._stop(str(error)) from None
        pattern = self._format_source(
            self.coursedir.assignment_id, self.coursedir.student_id
        )
        for folder in put_back(pattern):
            self.log.warning(
                "%s: restored, because its collection was interrupted", folder
            )
        excluded = {*self.coursedir.student_id_exclude.split(","), *self.waiting}
        paths = sorted(glob.glob(pattern))
        folders = {self._student(path): path for path in paths}
        # nbgrader would take names with one of *?[ for a pattern when it makes a page.
        self._odd = [s for s in folders if not s.isprintable() or {*s} & {*"*?["}]
        self._folders = {
            student: Path(path)
            for student, path in folders.items()
            if student not in excluded and student not in self._odd
        }
        if not folders:
            raise self._stop(f"no submission matches {pattern}")

    def _student(self, folder: str) -> str:  # the name in the folder's path
        pattern = self._format_source("(?P<a>.*)", "(?P<student>.*)", escape=True)
        match = re.match(pattern, folder, re.DOTALL)
        assert match  # it was found by this pattern
        return match["student"]

    def _stop(self, reason: str) -> NbGraderException:  # to be raised by the caller
        self.log.error(reason)
        return NbGraderException(reason)

    def convert_notebooks(self) -> None:
        """Grade the submissions that `init_notebooks` has found, and report outcomes.

        The course's own solution is graded first; scores are compared before and after.

        Raises:
            NbGraderException: grading cannot go on, or something needs a person.
        """
        logs.follow(self.parent)
        outcomes: list[Outcome] = []
        self._book = GradebookHandle(
            self.coursedir.db_url, self.coursedir.course_id, self.patience, self.log
        )
        if not gc.get_freeze_count():  # only once in a server
            # Imported modules stay, so the collector need not go through them again,
            # for a tenth of a second each time, twice at the end of the process.
            gc.freeze()
        try:
            self._refuse_disks()
            executor = self._executor()
            if not self.scheduler:
                check_ulimits(executor.slots)
            with contextlib.ExitStack() as stack:
                stack.callback(executor.close)
                if self._is_anybody_new():
                    executor.preload()
                self._load_course()
                for line in find_misspelt(self.config):  # by now, all is imported
                    self.log.warning(line)
                root = Path(self.coursedir.root)
                rehearse(self._course, executor, self.calm_seconds, self.log)
                self._book.use(lambda book: changes.begin(root, self._unit, book))
                recorded = self._book.use(lambda book: book.scores(self._unit))
                writer = self._writer()
                run = Run(writer, executor, recorded, self.force, self.calm_seconds)
                stack.pop_all()  # from here on, the run closes the executor
            with above_bar(self.log):
                for batch in run.outcomes(self._folders):
                    outcomes += batch
            outcomes = recompute_late_penalties(writer, outcomes)
            ids = {outcome.student: outcome.id for outcome in outcomes if outcome.id}
            changed = self._book.use(
                lambda book: changes.end(root, self._unit, book, ids)
            )
        except KeyboardInterrupt:
            self.log.error(
                "Stopped. Everything graded is kept; run the same command to continue."
            )
            raise SystemExit(130) from None
        except CourseError as error:
            raise self._stop(str(error)) from None
        finally:
            self._book.close()
        self._report(outcomes, changed)

    def _refuse_disks(self) -> None:
        """Check that grading can write its results, before anything is graded.

        Raises:
            CourseError: a disk is full or read-only, or another account's.
        """
        root = Path(self.coursedir.root)
        results = Path(self.coursedir.format_path(self._output_directory, ".", "."))
        book = book_files(self.coursedir.db_url)
        refuse_full(root, results, client.scratch(), *book)
        require_access(root / ".autograder", results, *book)

    def _executor(self) -> Executor:  # where this run grades
        """Choose whether to grade on a cluster, in several processes or in this one."""
        if self.scheduler:
            return Cluster(self.scheduler)
        jobs = self.jobs or usable_cores()
        if not self.jobs and isinstance(self.parent, Application):
            # Starting a pool takes a tenth of the time of one submission. A server has
            # a pool in any case: a judge that stays would some day be out of date.
            jobs = min(jobs, len(self._folders))
        shared = warmables(self._stages()[0], self.config)
        return Pool(jobs, shared) if jobs > 1 else InlineExecutor(shared)

    def _is_anybody_new(self) -> bool:
        """Whether any submission has no results yet, or all are to be graded again."""
        results = (Path(self._format_dest(self._unit, s)) for s in self._folders)
        return self.force or not all(any(result.glob("*.ipynb")) for result in results)

    def _report(
        self, outcomes: list[Outcome], changed: Sequence[changes.Change]
    ) -> None:
        """Log changed scores and a summary; fail if a submission needs a person."""
        reason = "no name that a student can have; rename that folder"
        outcomes += [Outcome(ascii(odd), "undecided", reason) for odd in self._odd]
        if changed:
            table = "\n".join(changes.lines(changed))
            path = changes.table(Path(self.coursedir.root), self._unit)
            self.log.info(f"Scores that have changed (kept in {path}):\n{table}")
        self.log.info(f"{self._unit}: {summary(outcomes)}")
        alarming = [outcome for outcome in outcomes if outcome.needs_person]
        for outcome in alarming:
            self.log.error(f"Needs a person: {outcome}")
        if alarming:
            raise NbGraderException(f"{len(alarming)} submissions need a person")

    # The course

    @property
    def _unit(self) -> str:
        return str(self.coursedir.assignment_id)

    def _load_course(self) -> None:
        """Read the assignment, and add it to the gradebook if that lacks it.

        Raises:
            CourseError: a notebook is missing, or source, release and gradebook differ.
        """
        self._course = self.read_course()
        notebooks = self._course.notebooks
        self._book.use(lambda book: register(book, self._unit, notebooks, self.config))
        self._book.use(self._course.refuse_mismatch)

    def read_course(self) -> assignment.Assignment:
        """Read the assignment's source and release notebooks.

        Raises:
            CourseError: a notebook is missing, or source and release differ.
        """
        return assignment.load(
            name=self._unit,
            root=Path(self.coursedir.root),
            source=self._folder(self.coursedir.source_directory),
            release=self._folder(self.coursedir.release_directory),
            pattern=self.coursedir.notebook_id,
            exempt=self.exclude_overwriting.get(self._unit, []),
            stages=self._stages()[0],
            config=self.config,
            limits=self.limits,
            ignored=self.coursedir.ignore,
        )

    def _folder(self, step: str) -> Path:
        return Path(self.coursedir.format_path(step, ".", self._unit))

    # Where results go

    def _writer(self) -> ResultWriter:
        """The object that records results in the gradebook, and then publishes them."""
        unit, format_dest = self._unit, self._format_dest
        return ResultWriter(
            course=self._course,
            book=self._book,
            recorder=Recorder(
                self._stages()[1], self.config, self.coursedir.db_url,
                create=self.create_student,
            ),
            extra=extensions.granted(Path(self.coursedir.root), unit),
            published=lambda student: GradedFolder(Path(format_dest(unit, student))),
            permit=lambda student: self.set_permissions(unit, student),
            log=self.log,
        )  # fmt: skip

    def _stages(self) -> tuple[Stages, Stages]:
        """Two tuples of preprocessors: those that grade, and those that record.

        The first one that writes to the gradebook, and all after it, record.
        """
        kinds = tuple(map(load_class, self.autograde_preprocessors))
        recording = (SaveAutoGrades, AssignLatePenalties)
        writers = [n for n, kind in enumerate(kinds) if issubclass(kind, recording)]
        first = min(writers, default=len(kinds))
        sanitizing = tuple(map(load_class, self.sanitize_preprocessors))
        return sanitizing + kinds[:first], kinds[first:]

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """Set the file modes that nbgrader wants; skip files of a different grader."""
        folder = Path(self._format_dest(assignment_id, student_id))
        modes = {path: int(str(self.permissions), 8) for path in folder.iterdir()}
        if self.coursedir.groupshared:
            results = Path(self.coursedir.format_path(self._output_directory, ".", "."))
            # With the set-group-id bit, new files in them belong to the same group.
            for shared in (folder, results):
                modes[shared] = (shared.stat().st_mode | 0o2770) & 0o2777
        for path, mode in modes.items():
            with contextlib.suppress(PermissionError):
                path.chmod(mode)


# --- nbgrader_config.py --------------------------------------------------------------


def install() -> bool:
    """Make ``nbgrader autograde`` and the formgrader use ``CourseAutograde``.

    Returns False if this version of nbgrader is not supported. nbgrader then grades
    with its own converter.
    """
    version = importlib.metadata.version("nbgrader")
    numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:3])
    if not (0, 9, 5) <= numbers < (0, 10):
        print(
            f"autograder: nbgrader {version} is not supported (0.9.5 to 0.9.x is); "
            "grading goes on without repairs and stops at the first broken submission",
            file=sys.stderr,
        )
        return False
    from nbgrader.apps import api as formgrader
    from nbgrader.apps import autogradeapp

    autogradeapp.Autograde = formgrader.Autograde = CourseAutograde
    return True
