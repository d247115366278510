"""Find out which functions' code runs while something is observed."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FrameType


def code_of(answer: object) -> set[CodeType]:
    """The code objects of a function, or of all methods that a class itself defines.

    For a tuple of functions, the code objects of all of them.
    """
    if isinstance(answer, tuple):
        return set().union(*map(code_of, answer))
    parts = vars(answer).values() if inspect.isclass(answer) else [answer]
    plain = [inspect.unwrap(part) for part in parts if callable(part)]
    return {part.__code__ for part in plain if inspect.isfunction(part)}


@contextlib.contextmanager
def running() -> Iterator[set[CodeType]]:
    """Collect the code objects of all Python functions called in this context."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield codes
    finally:
        sys.setprofile(before)
