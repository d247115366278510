"""The input and the output of grading one notebook: ``grade(Task) -> Graded``.

A task can be sent as JSON to another process or machine, where students' data
are only ever read as bytes and text.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nbformat import NotebookNode
from traitlets.config import Config

from autograder.grading.intake import Repair, SizeLimits, dump_repairs, load_repairs
from autograder.grading.metadata import RUN, GradingMetadata
from autograder.grading.settings import (
    Preprocessor,
    as_plain,
    class_name,
    from_plain,
    load_class,
)


@dataclass(frozen=True)
class Task:
    """All that grading one notebook of one submission needs.

    Attributes:
        source, release: the instructor's and the students' notebook, as text.
        submission: the student's notebook; None if none was found.
        files: the files beside it while it runs, relative path -> bytes.
        folder: where the files are laid out while it runs; removed afterwards.
        repairs: what was corrected in the submission so far.
        refused: why it cannot be graded, if that is known before.
        preprocessors: classes or dotted names, to be run in this order.
        secret: the course's secret, which seeds random inputs.
        id: identifies the submission, in every reply and every verdict.
        final: whether there is no second try.
        digest: of all that the result depends on.
        keys: by exercise, data with which optional packages score some cells.
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
    preprocessors: tuple[Preprocessor, ...] = ()
    config: Config = field(default_factory=Config)
    limits: SizeLimits = field(default_factory=SizeLimits)
    secret: bytes = b""
    id: str = ""
    final: bool = True
    digest: str = ""
    keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Serialise the task, for `from_bytes` in another process.

        Raises:
            CourseError: a setting cannot leave this process.
        """
        plain = vars(self) | {
            "submission": None if self.submission is None else _text(self.submission),
            "files": {path: _text(data) for path, data in self.files.items()},
            "repairs": dump_repairs(self.repairs),
            "limits": asdict(self.limits),
            "secret": _text(self.secret),
            "preprocessors": [class_name(kind) for kind in self.preprocessors],
            "config": as_plain(self.preprocessors, self.config),
        }
        return json.dumps(plain).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Task:
        """Read what `to_bytes` wrote; CourseError if a class in it is unknown here."""
        plain = json.loads(data)
        submission = plain["submission"]
        return cls(**plain | {
            "submission": None if submission is None else _bytes(submission),
            "files": {path: _bytes(text) for path, text in plain["files"].items()},
            "repairs": load_repairs(plain["repairs"]),
            "limits": SizeLimits(**plain["limits"]),
            "secret": _bytes(plain["secret"]),
            "preprocessors": tuple(map(load_class, plain["preprocessors"])),
            "config": Config(from_plain(plain["config"])),
        })  # fmt: skip


@dataclass(frozen=True)
class Graded:
    """A graded notebook and its metadata; ``decided`` is False if grading failed."""

    notebook: NotebookNode
    metadata: GradingMetadata
    decided: bool = True


def resources_of(task: Task, metadata: GradingMetadata) -> dict[str, Any]:
    """Return the resources that preprocessors of nbgrader and of this package need.

    The task's secret, id, ``final`` and keys are in the dictionary "autograder".
    """
    return {
        RUN: metadata,
        "autograder": {
            "secret": task.secret, "id": task.id, "final": task.final,
            "keys": task.keys,
        },
        "unique_key": task.notebook,
        "output_files_dir": f"{task.notebook}_files",
        "metadata": {"name": task.notebook, "path": task.folder},
        "nbgrader": {
            "student": task.student,
            "assignment": task.assignment,
            "notebook": task.notebook,
        },
    }  # fmt: skip


def identity(resources: Mapping[str, Any]) -> str:
    """Return the id of the submission that a preprocessor's resources describe.

    If they have none, it is "STUDENT/ASSIGNMENT/NOTEBOOK".
    """
    names = resources["nbgrader"]
    plain = "/".join(names[k] for k in ("student", "assignment", "notebook"))
    return resources.get("autograder", {}).get("id") or plain


def _text(data: bytes) -> str:
    """Encode bytes as text, in base64."""
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    """Decode what `_text` returned."""
    return base64.b64decode(text)
