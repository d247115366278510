"""``nbgrader autograde`` that never loses a submission and never stops at one.

``grade`` is the unit of work: a ``Task`` (bytes) in, a ``Graded`` (the executed
notebook, with the verdict records in its metadata) out, without the gradebook, so that
it can run anywhere. ``CourseAutograde`` prepares the tasks and records what comes back,
one transaction a submission.

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
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
from sqlalchemy.exc import OperationalError, SAWarning
from sqlalchemy.orm import Session, scoped_session, sessionmaker
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm
from traitlets import Float, Integer, List
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from autograder import __version__
from autograder.errors import CourseError
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

KEY = "autograder"  # of the notebook's metadata: what is known about its grading
KEPT = ("timestamp.txt", "submission_secret.txt")  # needed to release feedback
UNSURE = "Something went wrong while grading; your teachers have been told."

# --- the unit of work ----------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """All that grading one notebook of one submission needs.

    Attributes:
        source: the instructor's notebook, as text; ``release``: the students'.
        submission: the student's notebook, as bytes; None if none was found.
        files: what lies beside it while it runs, relative path -> bytes.
        refused: why it cannot be graded, if that is known before.
        folder: where the files are laid out while it runs; removed afterwards.
        preprocessors: classes or dotted names, to be run in this order.
    """

    student: str
    assignment: str
    notebook: str
    source: str
    release: str
    submission: bytes | None
    files: Mapping[str, bytes]
    folder: str
    repairs: tuple[Repair, ...] = ()
    refused: str = ""
    preprocessors: tuple = ()
    config: Config = field(default_factory=Config)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Graded:
    """An executed notebook, what was put right, and why it is refused, if it is.

    Verdict records are where the preprocessors put them: in the notebook's
    ``metadata.autograder``.
    """

    notebook: NotebookNode
    repairs: tuple[Repair, ...] = ()
    refused: str = ""


def grade(task: Task) -> Graded:
    """Rebuild and run one notebook. Knows nothing of the gradebook.

    A preprocessor may raise ``Refused``: the submission then counts zero, with that
    reason. Any other exception is a fault of ours, or of the machine, and comes out.
    """
    source = nbformat.reads(task.source, as_version=4)
    release = nbformat.reads(task.release, as_version=4)
    resources = _resources(task)
    try:
        if task.refused:
            raise Refused(task.refused)
        notebook, repairs = rebuild(source, release, task.submission, task.limits)
        with _laid_out(task), _environment(NBGRADER_EXECUTION="autograde"):
            notebook = _run(task.preprocessors, notebook, resources, task.config)
    except Refused as reason:
        notebook, _ = rebuild(source, release, None, task.limits)
        return Graded(notebook, task.repairs, str(reason))
    return Graded(notebook, task.repairs + repairs)


def _resources(task: Task) -> dict:
    return {
        "unique_key": task.notebook,
        "output_files_dir": f"{task.notebook}_files",
        "metadata": {"name": task.notebook, "path": task.folder},
        "nbgrader": {
            "student": task.student,
            "assignment": task.assignment,
            "notebook": task.notebook,
        },
    }


def _run(
    preprocessors: Iterable, notebook: NotebookNode, resources: dict, config: Config
) -> NotebookNode:
    for kind in map(_loaded, preprocessors):
        notebook, resources = kind(config=config)(notebook, resources)
    return notebook


def _loaded(kind: type | str) -> type:
    return import_item(kind) if isinstance(kind, str) else kind


@contextlib.contextmanager
def _laid_out(task: Task) -> Iterator[None]:
    folder = Path(task.folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    try:
        for path, data in task.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


# --- the gradebook -------------------------------------------------------------------


class GradebookError(CourseError):
    """The gradebook cannot be used: without it no submission can be recorded."""


class _Session(Session):
    """A session in which nbgrader's many commits wait for ``finish``."""

    def commit(self) -> None:
        self.flush()

    def finish(self) -> None:
        super().commit()


class _Gradebook(api.Gradebook):
    """A gradebook in which nothing is written before ``finish``, and then all of it."""

    def __init__(self, db_url: str, course_id: str):
        super().__init__(db_url, course_id)
        self.db.remove()
        make = sessionmaker(class_=_Session, autoflush=True, bind=self.engine)
        self.db = scoped_session(make)

    def close(self) -> None:
        """Nothing: those who record close what they think is their own gradebook."""

    def finish(self) -> None:
        self.db().finish()

    def dispose(self) -> None:
        super().close()

    def scores(self, assignment: str) -> dict[tuple[str, str], dict[str, float | None]]:
        """The automatic scores: (student, notebook) -> grade id -> score."""
        rows = (
            self.db.query(
                api.SubmittedAssignment.student_id,
                api.Notebook.name,
                api.BaseCell.name,
                api.Grade.auto_score,
            )
            .select_from(api.Grade)
            .join(
                api.SubmittedNotebook, api.Grade.notebook_id == api.SubmittedNotebook.id
            )
            .join(
                api.SubmittedAssignment,
                api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id,
            )
            .join(api.Notebook, api.SubmittedNotebook.notebook_id == api.Notebook.id)
            .join(api.Assignment, api.Notebook.assignment_id == api.Assignment.id)
            .join(api.BaseCell, api.Grade.cell_id == api.BaseCell.id)
            .filter(api.Assignment.name == assignment)
        )
        found: dict = {}
        for student, notebook, cell, score in rows:
            found.setdefault((student, notebook), {})[cell] = score
        self.db.rollback()
        return found


@contextlib.contextmanager
def _sharing(gradebook: _Gradebook, preprocessors: Iterable[type]) -> Iterator[None]:
    """Let preprocessors, which open ``Gradebook`` by themselves, use this one."""
    names = {base.__module__ for kind in preprocessors for base in kind.__mro__}
    modules = [sys.modules[name] for name in names if name in sys.modules]
    users = [m for m in modules if vars(m).get("Gradebook") is api.Gradebook]
    for module in users:
        module.Gradebook = lambda *_, **__: gradebook
    try:
        yield
    finally:
        for module in users:
            module.Gradebook = api.Gradebook


def _passes(error: OperationalError) -> bool:
    """Whether waiting can help: the database is locked, or away for a moment."""
    lasting = ("no such", "readonly", "read-only", "is full", "syntax")
    return not any(word in str(error.orig).lower() for word in lasting)


# --- nbgrader's converter ------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """How a notebook fared: "graded", "up to date", "refused" or "failed"."""

    student: str
    status: str
    reason: str = ""
    repairs: tuple[Repair, ...] = ()

    @property
    def needs_person(self) -> bool:
        return self.status in ("refused", "failed")

    def __str__(self) -> str:
        parts = [f"{self.student}: {self.status}"]
        parts += [f": {self.reason}"] if self.reason else []
        parts += [f"; put right: {' '.join(r.says for r in self.repairs)}"] * bool(
            self.repairs
        )
        return "".join(parts)


class CourseAutograde(Autograde):
    """nbgrader's ``Autograde`` with our intake, and our way of recording.

    ``autograde_preprocessors`` is one list, as nbgrader has it. What stands before the
    first ``SaveAutoGrades`` or ``AssignLatePenalties`` belongs to ``grade`` and has no
    gradebook; the rest records, in one transaction.
    """

    sanitize_preprocessors = List(
        [CheckCellMetadata], help="Run on the rebuilt notebook, before the others."
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

    _gradebook: _Gradebook | None = None

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
        try:
            self._load_course()
            recorded = self._patiently(lambda book: book.scores(self._unit))
            with _above_bar(self.log):
                for student in self._progress(self._folders):
                    outcomes += self._one(student, recorded)
        except KeyboardInterrupt:
            self.log.error(
                "Stopped. What was graded is kept; the same command goes on from here."
            )
            raise SystemExit(130) from None
        except CourseError as error:
            raise self._stop(str(error)) from None
        finally:
            self._close()
        self._report(outcomes)

    def _progress(self, students: Iterable[str]) -> Iterator[str]:
        bar = tqdm(list(students), file=sys.stderr, disable=None, unit=" submissions")
        for student in bar:
            bar.set_description(student[:24])
            yield student

    def _report(self, outcomes: list[Outcome]) -> None:
        counts = {status: 0 for status in ("graded", "up to date", "refused", "failed")}
        for outcome in outcomes:
            counts[outcome.status] += 1
        listed = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
        self.log.info(f"{self._unit}: {listed or 'nothing to do'}")
        alarming = [outcome for outcome in outcomes if outcome.needs_person]
        for outcome in alarming:
            self.log.error(f"Needs a person: {outcome}")
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
            rebuild(*(nbformat.reads(text, as_version=4) for text in pair), None)
        self._beside = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix != ".ipynb"
        }
        for name in self._exempt():
            self._beside.pop(name, None)
        self._patiently(self._refuse_strange)

    def _released(self, source: Path) -> Path:
        folder = self.coursedir.format_path(
            self.coursedir.release_directory, ".", self._unit
        )
        return Path(folder) / source.name

    def _exempt(self) -> Iterable[str]:
        return self.exclude_overwriting.get(self._unit, [])

    def _refuse_strange(self, book: _Gradebook) -> None:
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

    def _one(self, student: str, recorded: Mapping) -> list[Outcome]:
        try:
            with _locked(Path(self._format_dest(self._unit, student))):
                stamp, tasks = self._tasks(student)
                return [self._grade(task, stamp, recorded) for task in tasks]
        except GradebookError:
            raise
        except Exception as error:
            self._tell(student, error)
            return [Outcome(student, "failed", "nothing new was recorded")]

    def _tasks(self, student: str) -> tuple[Any, list[Task]]:
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
        self._texts = {name: files[name].data for name in KEPT if name in files}
        tasks = [
            self._task(student, name, files, repairs, reason, limits)
            for name in self._course
        ]
        return stamp, tasks

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
        scratch = Path(self.coursedir.root) / ".autograder" / "work"
        return Task(
            student, self._unit, name, source, release, data, beside | self._beside,
            str(scratch / f"{student}+{self._unit}+{name}"), repairs, reason,
            tuple(self.sanitize_preprocessors) + self._stages()[0], self.config, limits,
        )  # fmt: skip

    def _stages(self) -> tuple[tuple, tuple]:
        """The preprocessors that grade, and those that record."""
        kinds = tuple(map(_loaded, self.autograde_preprocessors))
        recording = (SaveAutoGrades, AssignLatePenalties)
        writers = [n for n, kind in enumerate(kinds) if issubclass(kind, recording)]
        first = min(writers, default=len(kinds))
        return kinds[:first], kinds[first:]

    def _grade(self, task: Task, stamp: Any, recorded: Mapping) -> Outcome:
        digest = _digest(task, stamp)
        known = self._known(task)
        scores = recorded.get((task.student, task.notebook))
        same = known.get("digest") == digest and known.get("scores") == scores
        if same and scores is not None and not self.force:
            return _outcome(task, known, "up to date")
        try:
            return self._keep(task, grade(task), stamp, digest)
        except GradebookError:
            raise
        except Exception as error:
            self._tell(task.student, error)
            return self._failed(task, stamp, known)

    def _tell(self, student: str, error: Exception) -> None:
        if isinstance(error, CourseError):
            self.log.error(f"{student}: {error}")
        else:
            self.log.exception(f"{student}: grading failed")

    def _keep(self, task: Task, graded: Graded, stamp: Any, digest: str) -> Outcome:
        """Record a graded notebook, then publish it; only then it is done."""
        scores = self._patiently(lambda book: self._record(book, task, graded, stamp))
        known = dict(graded.notebook.metadata.get(KEY, {})) | {
            "digest": digest, "scores": scores, "refused": graded.refused,
            "repairs": say(graded.repairs), "handed_in": str(stamp or ""),
        }  # fmt: skip
        graded.notebook.metadata[KEY] = nbformat.from_dict(known)
        self._publish(task, graded.notebook)
        outcome = _outcome(task, known, "graded")
        if outcome.repairs and not graded.refused:
            self.log.warning(str(outcome))
        return outcome

    def _failed(self, task: Task, stamp: Any, known: Mapping) -> Outcome:
        """After a fault of ours: the old result stays, else it is zero for now."""
        old = bool(known.get("digest"))  # "" marks a placeholder from here
        if not old:
            source, release = (
                nbformat.reads(t, as_version=4) for t in (task.source, task.release)
            )
            blank, _ = rebuild(source, release, None)
            self._keep(task, Graded(blank, task.repairs, UNSURE), stamp, "")
        kept = "the old result stays" if old else "zero points for now"
        return Outcome(task.student, "failed", f"{kept}; the same command tries again")

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
        self, book: _Gradebook, task: Task, graded: Graded, stamp: Any
    ) -> dict[str, float | None]:
        """Write one submission as a whole; the scores as they are then."""
        self._enrol(book, task, stamp)
        if graded.refused:
            _record_zero(book, task, graded.refused)
        else:
            stages = self._stages()[1]
            resources = _resources(task)
            resources["nbgrader"]["db_url"] = self.coursedir.db_url
            with _sharing(book, stages):
                _run(stages, graded.notebook, resources, self.config)
        notebook = book.find_submission_notebook(
            task.notebook, task.assignment, task.student
        )
        scores = {grade.name: grade.auto_score for grade in notebook.grades}
        book.finish()
        return scores

    def _enrol(self, book: _Gradebook, task: Task, stamp: Any) -> None:
        """Have rows for the student and the submission."""
        if self.create_student:
            book.update_or_create_student(task.student)
        else:
            book.find_student(task.student)
        with warnings.catch_warnings():
            # nbgrader's own way of adding rows; SQLAlchemy finds it odd, harmlessly.
            warnings.simplefilter("ignore", SAWarning)
            book.update_or_create_submission(
                task.assignment, task.student, timestamp=stamp
            )

    def _patiently(self, action: Callable[[_Gradebook], Any]) -> Any:
        """Do something with the gradebook, waiting while others hold it.

        Raises:
            GradebookError: it stayed locked, or cannot be used at all.
        """
        deadline, told = time.monotonic() + self.patience, False
        while True:
            try:
                return action(self._open())
            except (OperationalError, api.InvalidEntry) as error:
                self._close()
                lasting = isinstance(error, OperationalError) and not _passes(error)
                if lasting or time.monotonic() > deadline:
                    raise GradebookError(_about_gradebook(error)) from None
            except BaseException:
                self._close()
                raise
            if not told:
                self.log.warning("The gradebook is in use; waiting for it.")
            told = True
            time.sleep(0.25)

    def _open(self) -> _Gradebook:
        if self._gradebook is None:
            url, course = self.coursedir.db_url, self.coursedir.course_id
            self._gradebook = _Gradebook(url, course)
        return self._gradebook

    def _close(self) -> None:
        """Give up whatever was not finished."""
        if self._gradebook is not None:
            self._gradebook.dispose()
            self._gradebook = None

    # Publishing

    def _publish(self, task: Task, notebook: NotebookNode) -> None:
        """Replace the published notebook in one step, after all that goes with it."""
        path = self._published(task)
        for name in KEPT:
            if name in self._texts:
                _replace(path.with_name(name), self._texts[name])
            else:
                path.with_name(name).unlink(missing_ok=True)
        self._clear(path.parent)
        _replace(path, nbformat.writes(notebook, version=nbformat.NO_CONVERT).encode())
        self.set_permissions(task.assignment, task.student)

    def _clear(self, folder: Path) -> None:
        """Remove what another grader, or a run that was cut off, left behind."""
        expected = {*KEPT, *(f"{name}.ipynb" for name in self._course)}
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in expected and path.suffix != ".ipynb":
                path.unlink()


def _nbgrader(cell: NotebookNode) -> Mapping[str, Any]:
    return cell.metadata["nbgrader"]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}") from None


def _outcome(task: Task, known: Mapping, status: str) -> Outcome:
    """The outcome of a notebook that was graded now or by an earlier run."""
    repairs = tuple(Repair(**repair) for repair in known["repairs"])
    if known["refused"]:
        return Outcome(task.student, "refused", known["refused"], repairs)
    return Outcome(task.student, status, repairs=repairs)


def _digest(task: Task, stamp: Any) -> str:
    """What a result depends on, as far as files tell."""
    digest = hashlib.sha256()
    parts: list[object] = [__version__, task.source, task.release, stamp, task.refused]
    parts += [task.submission, *say(task.repairs)]
    parts += [part for item in sorted(task.files.items()) for part in item]
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _record_zero(book: _Gradebook, task: Task, reason: str) -> None:
    notebook = book.find_submission_notebook(
        task.notebook, task.assignment, task.student
    )
    notebook.late_submission_penalty = None
    for grade_ in notebook.grades:
        grade_.auto_score = 0.0
        grade_.needs_manual_grade = grade_.manual_score is not None
    for comment in notebook.comments:
        comment.auto_comment = f"Not graded: {reason}"


def _about_gradebook(error: Exception) -> str:
    first = str(getattr(error, "orig", None) or error).splitlines()[0]
    return (
        f"the gradebook cannot be used ({first}); close what else uses it, or see to "
        "its file and folder, and run the same command again"
    )


@contextlib.contextmanager
def _above_bar(log: logging.Logger) -> Iterator[None]:
    """Print log lines above the progress bar, no more of them than before."""
    before = list(log.handlers)
    level = max((handler.level for handler in before), default=logging.NOTSET)
    with logging_redirect_tqdm([log]):
        for handler in log.handlers:
            if handler not in before:
                handler.setLevel(level)
        yield


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
