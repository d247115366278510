"""Run a probe on a student's object: quietly, repeatably, and whatever it does."""

from __future__ import annotations

import contextlib
import functools
import io
import linecache
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch

from autograder.student import properties
from autograder.student.exercise import RAISED, Answers, WrongAnswer, plain
from autograder.student.probes import Report, seed
from autograder.student.switches import on_cpu

UNSOLVED = "not solved yet"
_OURS = str(Path(__file__).resolve().parent)


def observe(probe: Report, answer: object, inputs: Answers) -> Answers:
    """What the probe reports of ``answer`` on one case.

    Never raises for what the student's code does: an exception becomes the answer
    ``{"raised": message}``, and an unsolved stub ``{"raised": "not solved yet"}``.
    The inputs are copied first, and the student's random state is left as it was.
    """
    copies = {
        name: value.clone() if isinstance(value, torch.Tensor) else value
        for name, value in inputs.items()
    }
    with quiet(), on_cpu(), torch.random.fork_rng(devices=[]):
        seed(0)
        try:
            found = _asked(probe, copies)(answer, copies)
            return {name: plain(value) for name, value in found.items()}
        except WrongAnswer as error:
            return {RAISED: str(error)}
        except NotImplementedError as error:
            return {RAISED: UNSOLVED if from_stub(error) else describe_error(error)}
        except (Exception, SystemExit) as error:
            return {RAISED: describe_error(error)}


def _asked(probe: Report, inputs: Answers) -> Report:
    """The exercise's own probe, or one of a general property that makes use of it."""
    if properties.KEY not in inputs:
        return probe
    return functools.partial(properties.tried, probe)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Send stderr to stdout and drop warnings: nbgrader takes stderr for a failure."""
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    if stream.getvalue():
        print(stream.getvalue(), end="", file=sys.stdout)


def from_stub(error: NotImplementedError) -> bool:
    """Whether the error comes from an exercise's stub rather than from a library."""
    # torch raises NotImplementedError too, for a module without `forward` say.
    return not _is_library(traceback.extract_tb(error.__traceback__)[-1].filename)


def describe_error(error: BaseException) -> str:
    """The exception in one line and, below it, the student's own line that raised."""
    text = (str(error).strip() or "no message").splitlines()[0]
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()) if note)
    message = f"{type(error).__name__}: {text}{notes}"
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not _is_library(frame.filename)
    ]
    if not own:
        return message
    line = own[-1].line or linecache.getline(own[-1].filename, own[-1].lineno or 0)
    return f"{message}\nin your line {own[-1].lineno}: {line.strip()}"


def _is_library(filename: str) -> bool:
    return filename.startswith(_OURS) or any(
        part in filename for part in ("site-packages", "dist-packages", "lib/python")
    )
