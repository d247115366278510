"""Grade a task that is given as bytes; the reply is bytes, too, with the task's id."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import traceback
from collections.abc import Iterator
from logging.handlers import BufferingHandler
from typing import Any

import nbformat
from traitlets.log import get_logger

from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.grade import grade
from autograder.grading.metadata import GradingMetadata
from autograder.grading.task import Graded, Task

_LONGEST_LINE = 1000  # characters of a warning, which may quote a student's bytes


class GradingFaultError(RuntimeError):
    """Grading raised in another process; the text is the traceback from there."""


def answer(data: bytes) -> bytes:
    """Grade a task's bytes; return the reply as bytes, for `read_reply`."""
    with _collect_warnings() as records:
        try:
            graded = grade(Task.from_bytes(data))
            metadata = graded.metadata.to_json()
            reply: dict[str, Any] = {"notebook": graded.notebook, "metadata": metadata}
        except GradingInfrastructureError as error:
            reply = {"infrastructure": str(error)}
        except CourseError as error:
            reply = {"course": str(error)}
        except Exception:
            reply = {"fault": traceback.format_exc()}
    lines = [(record.levelno, record.getMessage()) for record in records]
    return json.dumps(reply | {"log": lines, "id": json.loads(data)["id"]}).encode()


def read_reply(reply: bytes, task: Task, log: logging.Logger) -> Graded:
    """Read the reply of `answer` to a task, and log its warnings here.

    Raises:
        CourseError: grading raised a CourseError, with this text.
        GradingFaultError: grading raised any other exception.
        GradingInfrastructureError: grading raised it, or the reply is to a different
            task.
    """
    content = json.loads(reply)
    if content["id"] != task.id:
        raise GradingInfrastructureError("what came back is another submission's")
    for level, line in content["log"]:
        log.log(level, printable(line[:_LONGEST_LINE]))
    if "infrastructure" in content:
        raise GradingInfrastructureError(content["infrastructure"])
    if "course" in content:
        raise CourseError(content["course"])
    if "fault" in content:
        raise GradingFaultError(content["fault"])
    notebook = nbformat.from_dict(content["notebook"])
    return Graded(notebook, GradingMetadata.from_json(content["metadata"]))


@contextlib.contextmanager
def _collect_warnings() -> Iterator[list[logging.LogRecord]]:
    """Collect the warnings that traitlets' classes log while a ``with`` block runs."""
    handler, logger = BufferingHandler(sys.maxsize), get_logger()
    handler.setLevel(logging.WARNING)
    log = logger.logger if isinstance(logger, logging.LoggerAdapter) else logger
    # The process that reads the reply prints them, so they are not printed here.
    before, log.propagate = log.propagate, False
    log.addHandler(handler)
    try:
        yield handler.buffer
    finally:
        log.removeHandler(handler)
        log.propagate = before
