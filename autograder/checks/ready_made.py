"""Notice ready-made answers: functions that do what students are asked to write.

An exercise lists them by name. While one of its cases runs, calls of these
functions are noted, but not refused.
"""

from __future__ import annotations

import contextlib
import inspect
import pkgutil
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.checks.exercise import CALLED, Answers, Value
from autograder.root import ENGINE, PACKAGE

LISTED = "ready-made answers"  # the input that lists them, if a case is to be watched
BETWEEN = "; "  # between names
_PYTORCHS = ("torch.", "F.", "nn.")  # how names of PyTorch's functions begin


def is_pytorchs(name: str) -> bool:
    """Whether a listed name is one of PyTorch's."""
    return name.startswith(_PYTORCHS)


def describe_unnoticed(name: str) -> str:
    """Say why calls of a listed function would not be noticed; "" if they would."""
    if is_pytorchs(name):
        return ""
    try:
        function = inspect.unwrap(pkgutil.resolve_name(name))
    except AttributeError:
        return "there is no such thing"
    except ImportError:  # an optional package that is not installed
        return ""
    if isinstance(function, ModuleType | type):
        return ""
    if not isinstance(function, FunctionType):
        return "it is not written in Python, so its calls cannot be noticed"
    path = _dotted(function.__code__)
    return "" if _contains(path, name) else f"calls are noticed as {path}: list that"


def listing(names: Collection[str]) -> dict[str, Value]:
    """An extra input for a case, which asks to notice calls of these functions."""
    return {LISTED: BETWEEN.join(names)}


def split(inputs: Answers) -> tuple[Answers, tuple[str, ...]]:
    """Separate a case's own inputs from the list of functions that solve the exercise.

    The list travels as one of the inputs. A case in which such a function, for example
    PyTorch's own layer, is called earns nothing.
    """
    listed = inputs.get(LISTED)
    if not isinstance(listed, str):
        return inputs, ()
    remaining = {name: value for name, value in inputs.items() if name != LISTED}
    return remaining, tuple(listed.split(BETWEEN))


def report(called: Collection[str]) -> dict[str, Value]:
    """The answer that reports which listed names were called; {} if none were."""
    return {CALLED: BETWEEN.join(sorted(called))} if called else {}


def reported(answers: Answers, names: Collection[str]) -> list[str]:
    """Return those of ``names`` that the answers report as called."""
    called = str(answers.get(CALLED, "")).split(BETWEEN)
    return [name for name in names if name in called]


def with_listed_only(answers: Answers, names: Collection[str]) -> Answers:
    """Drop unlisted names from the reported calls: a sandbox may report anything."""
    if CALLED not in answers:
        return answers
    remaining = {name: value for name, value in answers.items() if name != CALLED}
    return remaining | report(reported(answers, names))


@contextlib.contextmanager
def noting_calls(names: Collection[str]) -> Iterator[set[str]]:
    """Collect the listed names that are called in this context.

    Threads that are started in it are watched as well, but only by Python's profiler.
    """
    notes, modes = _Notes(names), contextlib.ExitStack()
    before, before_in_threads = sys.getprofile(), threading.getprofile()
    threading.setprofile(notes.on_event)
    sys.setprofile(notes.on_event)
    try:
        if any(map(is_pytorchs, names)):  # they slow every call into PyTorch
            modes.enter_context(_Operators(notes))
            modes.enter_context(_Functions(notes))
        yield notes.called
    finally:
        notes.is_over = True
        sys.setprofile(before)
        threading.setprofile(before_in_threads)
        try:
            modes.close()
        except Exception:  # the code has removed them: assume that it called everything
            notes.called.update(names)


class _Notes:
    """Collects the listed names that are called, recognised by name or by code."""

    def __init__(self, names: Collection[str]):
        self.called: set[str] = set()
        self.is_over = False
        self._names = names
        pytorchs = filter(is_pytorchs, names)
        self._patterns = {name: _pattern(name) for name in pytorchs}
        self._courses = [name for name in names if name not in self._patterns]
        # The listed names that each function, or its code, was found to stand for.
        self._known: dict[str, list[str]] = {}
        self._known_code: dict[CodeType, list[str]] = {}

    def note(self, function: str) -> None:
        """Note a call of one of PyTorch's functions or operators."""
        if function not in self._known:
            # Operators of a backward pass have such names, but nobody called them.
            plain = "" if "backward" in function else function
            self._known[function] = [
                name for name, pattern in self._patterns.items() if pattern(plain)
            ]
        self.called.update(self._known[function])

    def on_event(self, frame: FrameType, event: str, function: Any) -> None:
        """Note a call that Python's profiler reports.

        Code that calls `sys.setprofile` counts as having called every listed name.
        """
        if event == "call":
            code = frame.f_code
            if code not in self._known_code:
                self._known_code[code] = self._match_code(code)
            self.called.update(self._known_code[code])
        elif event == "c_call":
            if function is sys.setprofile:  # ending the watch counts as calling all
                self.called.update(() if self.is_over else self._names)
            elif _is_in_pytorch(function):
                self.note(function.__name__)

    def _match_code(self, code: CodeType) -> list[str]:
        """Return the listed names that a call of this code stands for."""
        path = _dotted(code)
        names = [n for n in self._courses if _contains(path, n)]
        if path.startswith("torch."):
            # Of `torch.nn`, classes are listed, but their methods are called.
            parts = {f"nn.{part}" for part in code.co_qualname.split(".")}
            names += parts.intersection(self._patterns)
        return names


def _pattern(name: str) -> Callable[[str], object]:
    """Return a function that searches a text for the last part of a listed name.

    There may be other text between its words, as in the names of fused operators.
    """
    words = name.rpartition(".")[2].split("_")
    return re.compile(".*".join(map(re.escape, words))).search


def _contains(path: str, name: str) -> bool:
    """Whether a dotted path contains all parts of a dotted name, in a row."""
    return f".{name}." in f".{path}."


def _dotted(code: CodeType) -> str:
    """Return the dotted path of the function with this code: module, then name."""
    path = re.split(r"[/\\]", code.co_filename.removesuffix(".py"))
    ours = (ENGINE.name, PACKAGE)
    for folder in ("site-packages", "dist-packages", *ours):
        if folder in path:
            start = len(path) - path[::-1].index(folder)
            # The path begins after `site-packages`, but with our own package itself.
            path = path[start - (folder in ours) :]
            break
    return ".".join([*path, code.co_qualname])


def _is_in_pytorch(function: Any) -> bool:
    """Whether a function written in C belongs to PyTorch, or to its tensors."""
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    module = getattr(function, "__module__", None) or kind.__module__
    return str(module).partition(".")[0] == "torch"


class _Functions(TorchFunctionMode):
    """Notes calls of PyTorch's functions and methods, including calls from C."""

    def __init__(self, notes: _Notes):
        super().__init__()
        self._note = notes.note

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self._note(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    """Notes calls of PyTorch's low-level operators, which all its functions use."""

    def __init__(self, notes: _Notes):
        super().__init__()  # type: ignore[no-untyped-call]
        self._note = notes.note

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: else PyTorch would import its compiler, which takes seconds."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self._note(func.__name__)
        return func(*args, **(kwargs or {}))
