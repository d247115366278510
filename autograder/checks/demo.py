"""Demonstrations in a notebook: they may have to wait; figures get alt text.

Grading leaves both out: they define nothing that an exercise needs, and would take most
of its time.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from autograder.checks.console import showable
from autograder.checks.observe import UNSOLVED, describe_error, from_stub, quiet
from autograder.checks.svg_theme import as_svg
from autograder.checks.words import LEFT_OUT


def demo(function: Callable[[], Any]) -> Callable[[], Any]:
    """Run a demonstration at once, as a decorator.

    While an exercise that it needs is unsolved or fails, one plain line stands in its
    place, so that "Run all" goes on to the end of the notebook.
    """
    if left_out():
        print(f"({_title(function)}: left out while grading)")
        return function
    try:
        with quiet():
            function()
    except Exception as error:
        _close_figures()
        reason = _reason(error, function)
        print(showable(f"({_title(function)} waits: {reason})"))
    return function


def left_out() -> bool:
    """Whether this is grading, which has no use for what only explains."""
    return os.environ.get(LEFT_OUT) == "1"


def _reason(error: Exception, function: Callable[[], Any]) -> str:
    """Why a demonstration stopped: whose code it was, and what to do."""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, NotImplementedError) and from_stub(error):
        return f"{codes[-1].co_qualname.partition('.<locals>')[0]} is {UNSOLVED}"
    own = getattr(function, "__code__", None)
    about = describe_error(error, beyond=own.co_filename if own else "")
    if own is not codes[-1]:
        return about
    if isinstance(error, NameError):
        return f'"{error.name}" is made by a cell above that did not run, or waits, too'
    return about.partition("\n")[0]  # a line of the course's, not of the student's


def _title(function: Callable[..., object]) -> str:
    return function.__name__.replace("_", " ")


def _close_figures() -> None:
    """Close half-drawn figures; the inline backend would show them as they are."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def show(figure: Any, alt: str) -> None:
    """Display a matplotlib figure with a text alternative for who cannot see it.

    It follows the page's theme (ink.py). The figure is closed, so that it is not shown
    twice.
    """
    import matplotlib.pyplot as plt
    from IPython.display import HTML, display

    if left_out():
        plt.close(figure)
        print(showable(f"(figure left out while grading: {alt})"))
        return
    drawn = as_svg(figure, alt)
    plt.close(figure)
    display(HTML(drawn))
