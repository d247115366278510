"""The unit of work of grading: ``grade(Task) -> Graded``, without any gradebook.

Both can be written as JSON, so that grading can happen in another process or on another
machine. What comes from students is bytes and text there, and is only ever read as
such; of ``nbgrader_config.py`` the names of classes and plain values are sent.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import os
import secrets
import shutil
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config
from traitlets.config.loader import DeferredConfigList, DeferredConfigString
from traitlets.log import get_logger
from traitlets.utils.importstring import import_item

from autograder.errors import CourseError
from autograder.grading.faults import Undecided
from autograder.grading.intake import Limits, Refused, Repair, rebuild, said, say

KEY = "autograder"  # of the notebook's metadata: what is known about its grading


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
        secret: the course's; what is drawn while grading depends on it.
        id: whose submission it is; every reply and every verdict says so.
        final: whether there is no second try, when the machine is calmer.
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
    secret: bytes = b""
    id: str = ""
    final: bool = True

    def to_bytes(self) -> bytes:
        """For `from_bytes` in a process of ours.

        Raises:
            CourseError: a setting cannot leave this process.
        """
        plain = {name: getattr(self, name) for name in _PLAIN} | {
            "submission": None if self.submission is None else _text(self.submission),
            "files": {path: _text(data) for path, data in self.files.items()},
            "repairs": say(self.repairs),
            "limits": asdict(self.limits),
            "secret": _text(self.secret),
            "preprocessors": [_class_name(kind) for kind in self.preprocessors],
            "config": _settings(self.preprocessors, self.config),
        }
        return json.dumps(plain).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Task:
        """What `to_bytes` wrote; CourseError if it names a class not known here."""
        given = json.loads(data)
        submission = given["submission"]
        return cls(**given | {
            "submission": None if submission is None else _bytes(submission),
            "files": {path: _bytes(text) for path, text in given["files"].items()},
            "repairs": said(given["repairs"]),
            "limits": Limits(**given["limits"]),
            "secret": _bytes(given["secret"]),
            "preprocessors": tuple(map(loaded, given["preprocessors"])),
            "config": Config(_config(given["config"])),
        })  # fmt: skip


@dataclass(frozen=True)
class Graded:
    """An executed notebook, what was put right, and why it is refused, if it is.

    Verdict records are where the preprocessors put them: in the notebook's
    ``metadata.autograder``. What is not ``decided`` has no score.
    """

    notebook: NotebookNode
    repairs: tuple[Repair, ...] = ()
    refused: str = ""
    decided: bool = True


def grade(task: Task) -> Graded:
    """Rebuild and run one notebook. Knows nothing of the gradebook.

    A preprocessor may raise ``Refused``: the submission then counts zero, with that
    reason. Any other exception is a fault of ours, or of the machine, and comes out.
    The seconds that it took are noted in the notebook.
    """
    started = time.monotonic()
    graded = _grade(task)
    seconds = round(time.monotonic() - started, 3)
    graded.notebook.metadata.setdefault(KEY, {})["seconds"] = seconds
    return graded


def _grade(task: Task) -> Graded:
    source = nbformat.reads(task.source, as_version=4)
    release = nbformat.reads(task.release, as_version=4)
    resources = resources_of(task)
    try:
        if task.refused:
            raise Refused(task.refused)
        notebook, repairs = rebuild(source, release, task.submission, task.limits)
        with _laid_out(task), environment(NBGRADER_EXECUTION="autograde"):
            notebook = run_all(task.preprocessors, notebook, resources, task.config)
    except Refused as reason:
        notebook, _ = rebuild(source, release, None, task.limits)
        return Graded(notebook, task.repairs, str(reason))
    return Graded(notebook, task.repairs + repairs)


def resources_of(task: Task) -> dict:
    """What nbgrader's preprocessors want to know, and the course's secret."""
    return {
        "autograder": {"secret": task.secret, "id": task.id, "final": task.final},
        "unique_key": task.notebook,
        "output_files_dir": f"{task.notebook}_files",
        "metadata": {"name": task.notebook, "path": task.folder},
        "nbgrader": {
            "student": task.student,
            "assignment": task.assignment,
            "notebook": task.notebook,
        },
    }


def identity(resources: Mapping) -> str:
    """Whose submission it is; under nbgrader's own converter, by its names."""
    names = resources["nbgrader"]
    plain = "/".join(names[k] for k in ("student", "assignment", "notebook"))
    return resources.get("autograder", {}).get("id") or plain


def run_all(
    preprocessors: Iterable, notebook: NotebookNode, resources: dict, config: Config
) -> NotebookNode:
    """The notebook, as these preprocessors leave it one after the other."""
    for kind in map(loaded, preprocessors):
        notebook, resources = kind(config=config)(notebook, resources)
    return notebook


def loaded(kind: type | str) -> type:
    """A preprocessor's class, which settings may give by its name.

    Raises:
        CourseError: there is no such class.
    """
    if not isinstance(kind, str):
        return kind
    try:
        return import_item(kind)
    except ImportError as error:
        raise CourseError(f"a setting names {kind}, not known here: {error}") from None


def warm_up(task: Task) -> None:
    """Start what several processes that grade such tasks can share, if anything.

    Raises:
        CourseError: it cannot be started on this machine.
    """
    for kind in map(loaded, task.preprocessors):
        if hasattr(kind, "warm_up"):
            kind.warm_up(task.config)


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
def environment(**values: str) -> Iterator[None]:
    """Set environment variables for a while: in a server, for these kernels only."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


# --- the course's secret -------------------------------------------------------------


def course_secret(root: Path) -> bytes:
    """The course's secret, made at its first use; students never get it."""
    path = root / ".autograder" / "secret"
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=path.parent)  # for us alone to read
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
        with contextlib.suppress(FileExistsError):  # another run was quicker
            os.link(part, path)
        os.unlink(part)
    return path.read_bytes()


# --- between processes ---------------------------------------------------------------

_PLAIN = (
    "student", "assignment", "notebook", "source", "release", "folder", "refused",
    "id", "final",
)  # fmt: skip


# Marks what the command line gave: text, until a trait says what it should be.
_FLAG = "given on the command line"


class GradingFault(RuntimeError):
    """Grading raised in another process; the text is the traceback from there."""


def answer(data: bytes) -> bytes:
    """Grade a task's bytes; the bytes of what came of it, for `opened`."""
    with _kept_log() as lines:
        try:
            graded = grade(Task.from_bytes(data))
            reply = {
                "notebook": graded.notebook, "repairs": say(graded.repairs),
                "refused": graded.refused,
            }  # fmt: skip
        except CourseError as error:
            reply = {"course": str(error)}
        except Exception:
            reply = {"fault": traceback.format_exc()}
    return json.dumps(reply | {"log": lines, "id": json.loads(data)["id"]}).encode()


def opened(reply: bytes, task: Task, log: logging.Logger) -> Graded:
    """What `answer` says of a task; what was logged there is logged here.

    Raises:
        CourseError, GradingFault: as grading did.
        Undecided: the reply is another task's.
    """
    found = json.loads(reply)
    if found["id"] != task.id:
        raise Undecided("what came back is another submission's")
    for level, line in found["log"]:
        log.log(level, line)
    if "course" in found:
        raise CourseError(found["course"])
    if "fault" in found:
        raise GradingFault(found["fault"])
    notebook = nbformat.from_dict(found["notebook"])
    return Graded(notebook, said(found["repairs"]), found["refused"])


def _settings(preprocessors: tuple, config: Config) -> dict:
    """The sections of a configuration as plain values.

    Sections of others than these preprocessors are left out if they are not plain.

    Raises:
        CourseError: a setting of theirs is not plain.
    """
    wanted = {base.__name__ for kind in preprocessors for base in loaded(kind).__mro__}
    plain = {}
    for name, section in config.items():
        try:
            plain[name] = _plain(section)
        except (TypeError, ValueError, CourseError) as error:
            if name in wanted:
                raise CourseError(
                    f"a setting of c.{name} cannot be sent to another process "
                    f"({error}): write it as a plain value, or grade with "
                    "c.Autograde.jobs = 1"
                ) from None
    return plain


def _plain(value: object) -> object:
    """JSON for what is no JSON, but can be told by plain values; see `_config`."""
    if isinstance(value, DeferredConfigString):
        return {_FLAG: str(value)}
    if isinstance(value, DeferredConfigList):
        return {_FLAG: [str(item) for item in value]}
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, type):
        return _class_name(value)
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} is not plain")


def _config(plain: object) -> object:
    """The configuration that `_plain` has told."""
    if not isinstance(plain, dict):
        return plain
    if _FLAG in plain:
        given = plain[_FLAG]
        deferred = (
            DeferredConfigString if isinstance(given, str) else DeferredConfigList
        )
        return deferred(given)
    return {name: _config(item) for name, item in plain.items()}


def _class_name(kind: type | str) -> str:
    """The name that `loaded` finds a class by, wherever it runs.

    Raises:
        CourseError: the class is known in this process only.
    """
    if isinstance(kind, str):
        return kind
    if kind.__module__ == "__main__" or "." in kind.__qualname__:
        raise CourseError(
            f"the class {kind.__qualname__} cannot be found by another process: put it "
            "into a module, or grade with c.Autograde.jobs = 1"
        )
    return f"{kind.__module__}.{kind.__name__}"


@contextlib.contextmanager
def _kept_log() -> Iterator[list[tuple[int, str]]]:
    """Collect the warnings that traitlets' classes log meanwhile."""
    lines: list[tuple[int, str]] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda r: lines.append((r.levelno, r.getMessage()))
    log = get_logger()
    before, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield lines
    finally:
        log.removeHandler(handler)
        log.propagate = before


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
