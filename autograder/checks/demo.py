"""Run a notebook's demonstrations, which wait until the student's code is right.

Grading leaves them out to save time.
"""

from __future__ import annotations

import html
import linecache
import sys
import traceback
from collections.abc import Callable
from types import CodeType
from typing import Any

from autograder.checks import contents
from autograder.checks.boxes import BLUE, boxed
from autograder.checks.calls import code_of
from autograder.checks.cells import defined_in
from autograder.checks.console import showable
from autograder.checks.frontend import is_all_solved, is_attended, is_grading
from autograder.checks.language import _, template, translate
from autograder.checks.observe import (
    describe_error,
    from_stub,
    is_library,
    is_stub_code,
    quiet,
    unsolved,
)
from autograder.checks.rows import error_lines


def demo(function: Callable[[], Any]) -> Callable[[], Any]:
    """Run the decorated demonstration at once, and return it.

    If the student's code makes it fail, show a message instead of the error, so
    that "Run all" goes on. Grading skips demonstrations.
    """
    if is_grading():
        print(_("({title}: left out while grading)").format(title=_title(function)))
        return function
    try:
        with quiet():
            function()
    except Exception as error:
        # With right answers, the error is the course's own: it must be noticed.
        if is_all_solved():
            raise
        if "matplotlib.pyplot" in sys.modules:  # else unfinished figures would be shown
            sys.modules["matplotlib.pyplot"].close("all")
        _say_waiting(_title(function), *_reason(error, function))
    return function


class _UnsolvedError(NotImplementedError):
    """Stops a demonstration that needs an unsolved answer, which the message names."""


def require_solved(*answers: object) -> None:
    """Raise an error if one of these functions and classes is still a stub.

    A demonstration calls this first, so that it stops before it prints or trains.
    """
    for answer in answers:
        if any(map(is_stub_code, code_of(answer))):
            raise _UnsolvedError(getattr(answer, "__name__", str(answer)))


def _say_waiting(title: str, reason: str, exercise: str) -> None:
    """Say which demonstration waits, why, and for which exercise ("" if unknown).

    A person gets a box with a link to the exercise, a program plain text.
    """
    unit = exercise.partition("/")[0]
    unit_contents = contents.contents_of(unit)
    place, on_path = unit_contents.places.get(exercise), ""
    link = place.link if place else None
    if path := unit_contents.path:
        where = _("(short path)") if exercise in path else _("(not on the short path)")
        on_path = f" {where}"
    waits = _("{title} waits: {reason}")
    if not is_attended():
        needs = _("needs {exercise}").format(exercise=link.text) if link else ""
        needs = f"; {needs}{on_path}" if link else ""
        first, line_end, trace = reason.partition("\n")
        message = waits.format(title=title, reason=translate(first))
        print(showable(f"({message}{needs}{line_end}{trace})"))
        return
    from IPython.display import HTML, display

    first, *code_lines = (line.html for line in error_lines(reason))
    needs = ""
    if link:
        needs = _("It needs {exercise}.").format(exercise=f"{link.html}{on_path}")
    message = waits.format(title=f"<em>{html.escape(title)}</em>", reason=first)
    lines = [f"{message}. {needs}".rstrip(), *code_lines]
    display(HTML(boxed(BLUE, "".join(f"<div>{line}</div>" for line in lines))))


def _reason(error: Exception, function: Callable[[], Any]) -> tuple[str, str]:
    """Return why a demonstration stopped, and the exercise it waits for, or ""."""
    unit_contents = contents.contents_of(contents.this_unit())
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]

    def answers(code: CodeType) -> set[str]:
        """The exercises whose answers are in the cell that holds the code.

        There are none for library code, and for the demonstration's own cell.
        """
        file = code.co_filename
        if file == function.__code__.co_filename or is_library(file):
            return set()
        text = "".join(linecache.getlines(file))
        return set(filter(None, map(unit_contents.exercise_of, defined_in(text))))

    is_named = isinstance(error, _UnsolvedError)
    if is_named or (isinstance(error, NotImplementedError) and from_stub(error)):
        name = str(error) if is_named else codes[-1].co_qualname.partition(".")[0]
        return unsolved(name), unit_contents.exercise_of(name)
    # The demonstration itself uses a name whose cell has not run.
    if isinstance(error, NameError) and error.name and not answers(codes[-1]):
        needed = unit_contents.exercise_of(error.name)
        message = template("`{name}` is not defined: run its cell first")
        if not needed:
            message = template(
                "`{name}` is not defined: a cell above did not run, or waits"
            )
        return message.format(name=error.name), needed
    # The innermost answer is at fault; of several in one cell, name any one.
    exercises = [min(candidates) for code in codes if (candidates := answers(code))]
    message = describe_error(error, is_own=lambda code: bool(answers(code)))
    return message, exercises[-1] if exercises else ""


def _title(function: Callable[..., object]) -> str:
    return function.__name__.replace("_", " ")
