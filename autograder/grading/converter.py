"""``nbgrader autograde`` that never loses a submission and never stops at one.

The unit of work is ``grade(Task) -> Graded``, without the gradebook, so that it can run
anywhere (`work.py`). ``CourseAutograde`` prepares tasks, has several graded at once,
and records what comes back: one transaction a submission, in the order of the students,
whatever is ready first.

The order makes ``kill -9`` harmless: the gradebook's transaction first, then, as the
last step and in one rename, the notebook in ``autograded/``. It carries a digest of all
that it was made of and the scores that were recorded; a run skips a submission only if
the digest is that of today's files and the gradebook still holds those scores.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import importlib.metadata
import logging
import os
import re
import shutil
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import api
from nbgrader.converters import Autograde, NbGraderException
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    SaveAutoGrades,
)
from nbgrader.utils import is_grade
from tqdm import tqdm
from traitlets import Float, Integer, List, Unicode

from autograder import __version__
from autograder.errors import CourseError
from autograder.grading import extensions
from autograder.grading.book import Gradebook, GradebookError, PatientBook, sharing
from autograder.grading.cluster import Cluster
from autograder.grading.enter import enter
from autograder.grading.intake import (
    File,
    Limits,
    Refused,
    Repair,
    find_notebook,
    handed_in,
    rebuild,
    say,
    take,
)
from autograder.grading.outcome import Outcome, above_bar, changes, outcome, summary
from autograder.grading.parallel import Pool, SetupError, usable_cores
from autograder.grading.queue import Begun, Here, Slots, Work, enough, names_of
from autograder.grading.work import (
    KEY,
    Graded,
    Task,
    course_secret,
    loaded,
    resources_of,
    run_all,
)
from autograder.kernel.processes import await_calm

KEPT = ("timestamp.txt", "submission_secret.txt")  # needed to release feedback
UNSURE = "Something went wrong while grading; your teachers have been told."


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
        folders = {self._student(path): path for path in sorted(glob.glob(pattern))}
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

    def _all(self, recorded: Mapping) -> Iterator[list[Outcome]]:
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
        folder = Path(self.coursedir.format_path(
            self.coursedir.source_directory, ".", self._unit))  # fmt: skip
        paths = sorted(folder.glob(f"{self.coursedir.notebook_id}.ipynb"))
        if not paths:
            raise CourseError(f"there is no notebook {folder}/*.ipynb")
        self._course = {p.stem: (_text(p), _text(self._released(p))) for p in paths}
        for pair in self._course.values():
            both = (nbformat.reads(text, as_version=4) for text in pair)
            # Here once: what is rebuilt later has the same metadata.
            CheckCellMetadata(config=self.config)(rebuild(*both, None)[0], {})
        self._beside = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix != ".ipynb"
        }
        for name in self._exempt():
            self._beside.pop(name, None)
        self._secret = course_secret(Path(self.coursedir.root))
        self._extra = extensions.granted(Path(self.coursedir.root), self._unit)
        # Read once a run: a server that runs this again must see what has changed.
        self._depends = [
            kind.depends_on(self._unit)
            for kind in self._stages()[0]
            if hasattr(kind, "depends_on")
        ]
        self._book.use(lambda book: enter(book, self._unit, self._course, self.config))
        self._book.use(self._refuse_strange)

    def _released(self, source: Path) -> Path:
        folder = self.coursedir.format_path(
            self.coursedir.release_directory, ".", self._unit
        )
        return Path(folder) / source.name

    def _exempt(self) -> Iterable[str]:
        return self.exclude_overwriting.get(self._unit, [])

    def _refuse_strange(self, book: Gradebook) -> None:
        """See that the gradebook has the notebooks with their cells and points."""
        for name, (source, _) in self._course.items():
            cells = nbformat.reads(source, as_version=4).cells
            graded = {_nbgrader(c)["grade_id"]: c for c in cells if is_grade(c)}
            points = {k: float(_nbgrader(c)["points"]) for k, c in graded.items()}
            try:
                notebook = book.find_notebook(name, self._unit)
                known = {cell.name: cell.max_score for cell in notebook.grade_cells}
            except api.MissingEntry:
                known = None
            if known != points:
                raise CourseError(
                    f'the gradebook does not have "{name}" as the source has it; run: '
                    f'nbgrader generate_assignment "{self._unit}" --force'
                )

    # One submission

    def _begin(
        self, student: str, recorded: Mapping, slots: Slots, final: bool = False
    ) -> Begun:
        """Have a submission graded, unless it is up to date; a lock is kept on it."""
        begun = Begun(student, final)
        try:
            folder = Path(self._format_dest(self._unit, student))
            begun.kept.enter_context(_locked(folder))
            begun.stamp, begun.texts, tasks = self._tasks(student)
            for task in tasks:
                task = replace(task, final=final)
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

    def _work(self, task: Task, begun: Begun, recorded: Mapping, slots: Slots) -> Work:
        extra = self._extra.get(task.student)
        depends = [*self._depends, *([] if extra is None else [extra])]
        digest = _digest(task, begun.stamp, depends)
        work = Work(task, digest, self._known(task))
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

    def _tasks(self, student: str) -> tuple[Any, dict[str, bytes], list[Task]]:
        folder, files, reason = self._folders[student], {}, ""
        stamp, repairs = None, ()
        limits = Limits(
            self.largest_file, self.largest_total, self.most_files,
            notebook=self.largest_notebook,
        )  # fmt: skip
        try:
            taken = take(folder, limits, self.coursedir.ignore)
            files, repairs = taken.files, taken.repairs
            stamp, odd = handed_in(folder)
            repairs += odd
        except Refused as refusal:
            reason = str(refusal)
        texts = {name: files[name].data for name in KEPT if name in files}
        tasks = [
            self._task(student, name, files, repairs, reason, limits)
            for name in self._course
        ]
        return stamp, texts, tasks

    def _task(
        self, student: str, name: str, files: Mapping[str, File],
        repairs: tuple[Repair, ...], reason: str, limits: Limits,
    ) -> Task:  # fmt: skip
        source, release = self._course[name]
        data = None
        try:
            if reason:
                raise Refused(reason)
            parsed = nbformat.reads(release, as_version=4)
            path, chosen = find_notebook(files, f"{name}.ipynb", parsed, limits)
            data, repairs = files[path].data, repairs + chosen
        except Refused as refusal:
            reason = str(refusal)
        beside = {path: file.data for path, file in files.items() if path not in KEPT}
        # A folder for each account: what a killed run left, only its owner can remove.
        scratch = Path(self.coursedir.root) / ".autograder" / f"work-{os.getuid()}"
        return Task(
            student, self._unit, name, source, release, data, beside | self._beside,
            str(scratch / f"{student}+{self._unit}+{name}"), repairs, reason,
            tuple(self.sanitize_preprocessors) + self._stages()[0], self.config, limits,
            self._secret, _identity(student, self._unit, name, data),
        )  # fmt: skip

    def _stages(self) -> tuple[tuple, tuple]:
        """The preprocessors that grade, and those that record."""
        kinds = tuple(map(loaded, self.autograde_preprocessors))
        recording = (SaveAutoGrades, AssignLatePenalties)
        writers = [n for n, kind in enumerate(kinds) if issubclass(kind, recording)]
        first = min(writers, default=len(kinds))
        return kinds[:first], kinds[first:]

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
        scores = self._book.use(lambda book: self._record(book, task, graded, stamp))
        known = dict(graded.notebook.metadata.get(KEY, {})) | {
            "digest": work.digest, "scores": scores, "refused": graded.refused,
            "repairs": say(graded.repairs), "handed_in": str(stamp or ""),
        }  # fmt: skip
        graded.notebook.metadata[KEY] = nbformat.from_dict(known)
        self._publish(task, graded.notebook, begun.texts)
        found = outcome(task.student, "graded", known, work.known)
        if found.repairs and not graded.refused:
            self.log.warning(str(found))
        return found

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

    def _known(self, task: Task) -> dict:
        """What an earlier run noted in the published notebook; {} if there is none."""
        try:
            text = _text(self._published(task))
            return dict(nbformat.reads(text, as_version=4).metadata.get(KEY, {}))
        except (OSError, ValueError, CourseError):
            return {}

    def _published(self, task: Task) -> Path:
        folder = Path(self._format_dest(task.assignment, task.student))
        return folder / f"{task.notebook}.ipynb"

    # Recording

    def _record(
        self, book: Gradebook, task: Task, graded: Graded, stamp: Any
    ) -> dict[str, float | None]:
        """Write one submission as a whole; the scores as they are then."""
        names = task.student, task.assignment
        book.enrol(*names, stamp, self.create_student)
        extensions.record(book, names[1], names[0], self._extra.get(task.student))
        if not graded.decided:
            book.record_open(*names, task.notebook, graded.refused)
        elif graded.refused:
            book.record_zero(*names, task.notebook, graded.refused)
        else:
            stages = self._stages()[1]
            resources = resources_of(task)
            resources["nbgrader"]["db_url"] = self.coursedir.db_url
            with sharing(book, stages):
                run_all(stages, graded.notebook, resources, self.config)
        notebook = book.find_submission_notebook(
            task.notebook, task.assignment, task.student
        )
        scores = {grade.name: grade.auto_score for grade in notebook.grades}
        book.finish()
        return scores

    # Publishing

    def _publish(
        self, task: Task, notebook: NotebookNode, texts: Mapping[str, bytes]
    ) -> None:
        """Replace the published notebook in one step, after all that goes with it."""
        path = self._published(task)
        for name in KEPT:
            if name in texts:
                _replace(path.with_name(name), texts[name])
            else:
                path.with_name(name).unlink(missing_ok=True)
        self._clear(path.parent)
        _replace(path, nbformat.writes(notebook, version=nbformat.NO_CONVERT).encode())
        self.set_permissions(task.assignment, task.student)

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """nbgrader's, which would say at every submission that it does so."""
        level = self.log.level
        self.log.setLevel(max(level, logging.WARNING))
        try:
            super().set_permissions(assignment_id, student_id)
        finally:
            self.log.setLevel(level)

    def _clear(self, folder: Path) -> None:
        """Remove what another grader, or a run that was cut off, left behind."""
        expected = {*KEPT, *(f"{name}.ipynb" for name in self._course)}
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in expected and path.suffix != ".ipynb":
                path.unlink()


def _identity(student: str, assignment: str, notebook: str, data: bytes | None) -> str:
    """Whose submission it is, so that no other one's verdict is taken for its own."""
    parts = (student, assignment, notebook, hashlib.sha256(data or b"").hexdigest())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


def _nbgrader(cell: NotebookNode) -> Mapping[str, Any]:
    return cell.metadata["nbgrader"]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}") from None


def _digest(task: Task, stamp: Any, depends: Iterable[str]) -> str:
    """What a result depends on, as far as files tell."""
    digest = hashlib.sha256()
    parts: list[object] = [__version__, task.source, task.release, stamp, task.refused]
    parts += [*depends, task.submission, *say(task.repairs)]
    parts += [part for item in sorted(task.files.items()) for part in item]
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other runs from grading the same submission; they wait."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, data: bytes) -> None:
    """Write a file as a whole, durably."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


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
