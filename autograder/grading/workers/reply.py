"""Grading by bytes: a task's in, a reply's out, with whose it is."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import traceback
from collections.abc import Iterator
from logging.handlers import BufferingHandler

import nbformat
from traitlets.log import get_logger

from autograder.course.errors import CourseError
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.grade import grade
from autograder.grading.intake import dump_repairs, load_repairs
from autograder.grading.task import Graded, Task


class GradingFaultError(RuntimeError):
    """Grading raised in another process; the text is the traceback from there."""


def answer(data: bytes) -> bytes:
    """Grade a task's bytes; the bytes of what came of it, for `opened`."""
    with _kept_log() as records:
        try:
            graded = grade(Task.from_bytes(data))
            reply = {
                "notebook": graded.notebook, "repairs": dump_repairs(graded.repairs),
                "refused": graded.refused,
            }  # fmt: skip
        except CourseError as error:
            reply = {"course": str(error)}
        except Exception:
            reply = {"fault": traceback.format_exc()}
    lines = [(record.levelno, record.getMessage()) for record in records]
    return json.dumps(reply | {"log": lines, "id": json.loads(data)["id"]}).encode()


def opened(reply: bytes, task: Task, log: logging.Logger) -> Graded:
    """What `answer` says of a task; what was logged there is logged here.

    Raises:
        CourseError, GradingFaultError: as grading did.
        GradingInfrastructureError: the reply is another task's.
    """
    found = json.loads(reply)
    if found["id"] != task.id:
        raise GradingInfrastructureError("what came back is another submission's")
    for level, line in found["log"]:
        log.log(level, line)
    if "course" in found:
        raise CourseError(found["course"])
    if "fault" in found:
        raise GradingFaultError(found["fault"])
    notebook = nbformat.from_dict(found["notebook"])
    return Graded(notebook, load_repairs(found["repairs"]), found["refused"])


@contextlib.contextmanager
def _kept_log() -> Iterator[list[logging.LogRecord]]:
    """Collect the warnings that traitlets' classes log meanwhile."""
    handler, found = BufferingHandler(sys.maxsize), get_logger()
    handler.setLevel(logging.WARNING)
    log = found.logger if isinstance(found, logging.LoggerAdapter) else found
    before, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield handler.buffer
    finally:
        log.removeHandler(handler)
        log.propagate = before
