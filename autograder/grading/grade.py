"""Grade one notebook: put the answers into the course's own notebook and run it."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from traitlets.config import Config

from autograder.course.errors import CourseError
from autograder.course.notebooks import parse_cached
from autograder.grading.intake import RefusedError, rebuild
from autograder.grading.metadata import GradingMetadata
from autograder.grading.provenance import machine_version, now
from autograder.grading.settings import Preprocessor, load_class
from autograder.grading.task import Graded, Task, resources_of
from autograder.sandbox import logs

log = logging.getLogger(__name__)


def grade(task: Task) -> Graded:
    """Grade one notebook, without using the gradebook.

    A refused submission counts zero, for the reason in its metadata. Exceptions are
    faults of the grader, the course or the machine.
    """
    started = time.monotonic()
    with logs.about(f"{task.student}/{task.assignment}"):
        log.debug("submission %s, in %s", task.id, task.folder)
        graded = _grade(task)
        graded.metadata.seconds = seconds = round(time.monotonic() - started, 3)
        graded.metadata.provenance = {"time": now(), **machine_version()}
        log.debug("%s in %s s", graded.metadata.refused or "graded", seconds)
    return graded


def _grade(task: Task) -> Graded:
    """Rebuild and run a notebook; if it is refused, return what could be read of it."""
    source, release = parse_cached(task.source), parse_cached(task.release)
    metadata = GradingMetadata(repairs=task.repairs)
    resources = resources_of(task, metadata)
    notebook = None
    try:
        if task.refused:
            raise RefusedError(task.refused)
        notebook, repairs = rebuild(source, release, task.submission, task.limits)
        with laid_out(task), environment(NBGRADER_EXECUTION="autograde"):
            notebook = run_all(task.preprocessors, notebook, resources, task.config)
    except RefusedError as reason:  # the student sees what could be read
        notebook = notebook or rebuild(source, release, None, task.limits)[0]
        metadata.refused = str(reason)
    else:
        metadata.repairs += repairs
    return Graded(notebook, metadata)


def run_all(
    preprocessors: Iterable[Preprocessor],
    notebook: NotebookNode,
    resources: dict[str, Any],
    config: Config,
) -> NotebookNode:
    """Run preprocessors on a notebook, one after the other; return the result."""
    for kind in map(load_class, preprocessors):
        notebook, resources = kind(config=config)(notebook, resources)
    return notebook


@contextlib.contextmanager
def laid_out(task: Task) -> Iterator[None]:
    """Write a submission's files into its folder, which is removed afterwards."""
    folder = Path(task.folder)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _lay_out(task.files, folder)
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lay_out(files: Mapping[str, bytes], folder: Path) -> None:
    """Write a submission's files. Raises CourseError: the folder cannot be written."""
    try:
        folder.mkdir(parents=True, mode=0o700)
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
    except OSError as error:
        unwritable = error.filename or folder
        raise CourseError(f"{unwritable} cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def environment(**values: str) -> Iterator[None]:
    """Set environment variables in this context, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
