"""The notebook's own cells: which one defines an answer, and whether it ran.

A check receives an object. Only the shell knows whether the object's cell was not run,
or has been changed since and then failed.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import linecache
import re
from dataclasses import dataclass
from typing import Any

from autograder.checks.calls import code_of
from autograder.checks.frontend import find_shell, is_grading
from autograder.checks.language import _

# A name that a cell defines at its top level, even if the cell is not valid Python.
_DEFINED = re.compile(r"^(?:async +)?(?:def|class) +(\w+)|^(\w+) *=(?!=)", re.MULTILINE)


@dataclass(frozen=True)
class Undefined:
    """A placeholder for an answer whose cell has not run."""

    name: str


def source_of(answer: object) -> str:
    """The text of the cells that define a function or class; "" for other things."""
    files = sorted({code.co_filename for code in code_of(answer)})
    return "".join(line for file in files for line in linecache.getlines(file))


def defined_in(text: str) -> set[str]:
    """The names that a cell's text defines at its top level, even if it cannot run."""
    return {first or second for first, second in _DEFINED.findall(text)}


def digest(answer: object) -> str:
    """A short digest of the cells that define a function or class, else ""."""
    text = source_of(answer).strip()
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""


def current(name: str) -> object:
    """The present value of a name in the notebook; None if it is not defined.

    For several names, joined by ", ", return a tuple of their values.
    """
    shell = find_shell()
    if shell and ", " in name:
        return tuple(map(shell.user_ns.get, name.split(", ")))
    return shell.user_ns.get(name) if shell else None


def name_of(answer: object) -> str:
    """The notebook's name for an answer; "" if it has none.

    The names of several answers, in a tuple, are joined by ", ".
    """
    if isinstance(answer, tuple):
        names = list(map(name_of, answer))
        return ", ".join(names) if all(names) else ""
    name = getattr(answer, "__name__", "")
    return name if isinstance(name, str) and name and current(name) is answer else ""


class Cells:
    """Records which of the notebook's cells run, and which fail."""

    def __init__(self) -> None:
        self._stopped: dict[str, str] = {}  # by name: why its newest cell failed
        self._placed: list[str] = []  # names that hold an `Undefined` during a cell

    def follow(self) -> None:
        """Have the notebook's shell, if any, call `before` and `after` for each cell.

        During grading, nothing is registered.
        """
        if (shell := find_shell()) and not is_grading():
            shell.events.register("pre_run_cell", self.before)
            shell.events.register("post_run_cell", self.after)

    def why_stopped(self, name: str) -> str:
        """Why the newest cell that should define a name failed; "" if it did not."""
        return self._stopped.get(name, "")

    def before(self, info: Any) -> None:
        """Put an `Undefined` in place of each undefined name that the cell checks.

        The check can then say what to run, where Python would raise a NameError.
        """
        if shell := find_shell():
            for name in _checked(str(info.raw_cell or "")):
                if name not in shell.user_ns and not hasattr(builtins, name):
                    shell.user_ns[name] = Undefined(name)
                    self._placed.append(name)

    def after(self, result: Any) -> None:
        """Remove the placeholders, and note which names a cell has failed to define."""
        if not (shell := find_shell()):
            return
        for name in self._placed:
            if isinstance(shell.user_ns.get(name), Undefined):
                del shell.user_ns[name]
        self._placed.clear()
        text = str(result.info.raw_cell or "")
        reason = _describe_failure(result)
        for name in defined_in(text):
            # A cell that fails only after its definition has still defined the name.
            if reason and source_of(shell.user_ns.get(name)).strip() != text.strip():
                self._stopped[name] = reason
            else:
                self._stopped.pop(name, None)


def _checked(text: str) -> list[str]:
    """List the plain names that a cell passes to `check` as answers."""
    if "check" not in text:
        return []
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        answer.id
        for node in nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("check", "check.hidden")
        for answer in node.args[1:]
        if isinstance(answer, ast.Name)
    ]


def _describe_failure(result: Any) -> str:
    """Say why a cell did not run to its end; "" if it did."""
    error = result.error_before_exec
    if isinstance(error, SyntaxError):
        message = _("a syntax error in line {number} ({message})")
        return message.format(number=error.lineno, message=error.msg)
    error = error or result.error_in_exec
    return type(error).__name__ if error else ""


cells = Cells()
