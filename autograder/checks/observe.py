"""Run a probe on a student's object: quietly, reproducibly, and whatever it raises."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import linecache
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import CodeType
from typing import TextIO

import torch

from autograder.checks import properties, ready_made, renamed
from autograder.checks.calls import code_of
from autograder.checks.console import showable
from autograder.checks.exercise import RAISED, STUB, Answers, WrongAnswerError, plain
from autograder.checks.global_state import on_cpu
from autograder.checks.language import _, template, translatable
from autograder.checks.probes import Report, seed
from autograder.checks.properties.fake_dropout import dropout_by_rand
from autograder.root import CONTENT, ENGINE

UNSOLVED = translatable("not solved yet")  # said of a stub
# Code that is not the student's: ours, Python's own (partly frozen), what is installed.
_LIBRARIES = (
    f"{ENGINE}{os.sep}",
    f"{CONTENT}{os.sep}",
    f"{Path(traceback.__file__).parent}{os.sep}",
    "<frozen ",
)
_INSTALLED = {"site-packages", "dist-packages"}


def observe(probe: Report, answer: object, inputs: Answers) -> Answers:
    """Run a probe on a student's object with one case's inputs, and return its report.

    An exception in the student's code becomes ``{"raised": message}``. The key
    ``"stub"`` is added if the exercise is still unsolved. Special inputs ask to watch
    for ready-made answers, to pass arguments by position, or to test a property.
    """
    inputs, names = ready_made.split(inputs)
    if names:
        with ready_made.noting_calls(names) as called:
            answers = observe(probe, answer, inputs)
        return {**answers, **ready_made.report(called)}
    inputs, arguments = renamed.split(inputs)
    if arguments:
        other_names: dict[str, str] = {}
        answer = renamed.adapt(answer, arguments, other_names)
        return {**observe(probe, answer, inputs), **renamed.report(other_names)}
    if properties.KEY in inputs:  # a general property: it repeats the probe's call
        probe = functools.partial(properties.try_ways, probe)
    with isolated(inputs) as copies:
        try:
            report = probe(answer, copies)
            return {name: plain(value) for name, value in report.items()}
        except WrongAnswerError as error:
            return {RAISED: str(error)}
        except NotImplementedError as error:
            if not from_stub(error):
                return {RAISED: describe_error(error)}
            if stub := _others_stub(error, answer):
                return {RAISED: unsolved(stub)}
            return {RAISED: UNSOLVED, STUB: ""}
        except (Exception, SystemExit) as error:
            return {RAISED: describe_error(error)}


@contextlib.contextmanager
def isolated(inputs: Answers) -> Iterator[Answers]:
    """Yield copies of a case's inputs, in an environment that is always the same.

    The seed is fixed, new tensors are on the CPU, and warnings are dropped.
    """
    copies = {
        name: value.clone() if isinstance(value, torch.Tensor) else value
        for name, value in inputs.items()
    }
    with quiet(), on_cpu(), torch.random.fork_rng(devices=[]), dropout_by_rand():
        seed(0)
        yield copies


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Send stderr to stdout and drop warnings: nbgrader takes stderr for a failure."""
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            if stream.getvalue():
                print(showable(stream.getvalue()), end="", file=sys.stdout)


@contextlib.contextmanager
def brief(most: int = 10_000) -> Iterator[None]:
    """Limit how many characters are printed, since a check calls code many times."""
    with contextlib.redirect_stdout(_Brief(sys.stdout, most)) as stream:
        yield
    if stream.left_out:
        message = _("(your code prints {count:,} characters more: left out)")
        print(f"\n{message.format(count=stream.left_out)}")


class _Brief(io.TextIOBase):
    """A stream that passes on the first characters, and counts the others."""

    def __init__(self, stream: TextIO, most: int) -> None:
        self.left_out = 0
        self._stream, self._most = stream, most

    def write(self, text: str, /) -> int:
        beginning = text[: self._most]
        self._most -= len(beginning)
        self.left_out += len(text) - len(beginning)
        self._stream.write(showable(beginning, self._stream))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


def from_stub(error: NotImplementedError) -> bool:
    """Whether the error comes from an exercise's stub rather than from a library."""
    # torch raises NotImplementedError as well: for a module without `forward`, and in
    # an operation on the student's own line that does not support a dtype. But its
    # errors have a message, unlike those of a stub.
    last = traceback.extract_tb(error.__traceback__)[-1]
    return not error.args and not is_library(last.filename)


def _others_stub(error: NotImplementedError, answer: object) -> str:
    """Name another unsolved function or class that an answer called; "" for none.

    With this name, grading can repeat the check with the course's solution of it.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    stub, files = frame.f_code, {code.co_filename for code in code_of(answer)}
    # A stub in one of the answer's own cells is part of this exercise.
    if not files or stub.co_filename in files or _has_stub(answer, files):
        return ""
    return stub.co_qualname.partition(".")[0]


def unsolved(name: str) -> str:
    """Say that a function or a class is still a stub."""
    return template("`{name}` is {state}").format(name=name, state=UNSOLVED)


def _has_stub(function: object, files: Collection[str]) -> bool:
    """Whether the notebook defines a stub in one of these files (cells).

    ``function`` is any function of the notebook; its globals are searched.
    """
    codes = {
        value.__code__
        for value in getattr(function, "__globals__", {}).values()
        if inspect.isfunction(value) and value.__code__.co_filename in files
    }
    return any(map(is_stub_code, codes))


def is_stub_code(code: CodeType) -> bool:
    """Whether code raises NotImplementedError, and does nothing else."""
    return code.co_names == ("NotImplementedError",)


def describe_error(
    error: BaseException,
    is_own: Callable[[CodeType], bool] = lambda code: not is_library(code.co_filename),
) -> str:
    """Describe an exception in one line and, below it, the student's line that raised.

    ``is_own`` says whether code is the student's.
    """
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()) if note)
    message = f"{_first_line(error)}{notes}"
    frames = [
        (frame.f_code, number)
        for frame, number in traceback.walk_tb(error.__traceback__)
        if is_own(frame.f_code)
    ]
    if not frames:
        return message
    (first, _), (code, number) = frames[0], frames[-1]
    # The line of the first cell from which the other cell was called, if any.
    calling = [n for c, n in frames if c.co_filename == first.co_filename][-1]
    called = ""
    if code.co_filename != first.co_filename:
        name = code.co_qualname.removesuffix("<lambda>").partition(".<locals>")[0]
        inner_location = template("and there line {number} of `{name}`")
        inner_location = inner_location.format(number=number, name=name)
        called = f"\n{inner_location}: {_line(code, number)}"
    location = template("in your line {number}").format(number=calling)
    return f"{message}\n{location}: {_line(first, calling)}{called}"


def _first_line(error: BaseException) -> str:
    """An error's type and first line; without PyTorch's details if memory ran out."""
    text = (str(error).strip() or "no message").splitlines()[0]
    if match := _ALLOCATION.search(text):
        size = f"{int(match[1]) / 1e9:,.0f}"
        return template("MemoryError: no room for {size} GB").format(size=size)
    return f"{type(error).__name__}: {text}"


# In PyTorch's message, details of its allocator come before this.
_ALLOCATION = re.compile(r"can't allocate memory: you tried to allocate (\d+) bytes")


def _line(code: CodeType, number: int) -> str:
    return linecache.getline(code.co_filename, number).strip()


def is_library(filename: str) -> bool:
    """Return whether a file belongs to the course, Python or an installed package.

    All other code is the student's.
    """
    return filename.startswith(_LIBRARIES) or not _INSTALLED.isdisjoint(
        re.split(r"[/\\]", filename)
    )
