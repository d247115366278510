"""No regular expression that meets a stranger's text takes more than one look at it."""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import autograder

# Of the engine, with how many patterns each has at least.
ROOMS = {"grading": 20, "classroom": 15, "checks": 15, "sandbox": 1, "extras": 15}
FUNCTIONS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer"}
LONG = 8_000  # squared, it is most of a second
NAMES = (  # these read file names,
    *("classroom/lms/", "classroom/feedback_archive"),
    *("extras/blackboard/lms", "extras/brightspace/lms", "extras/gradescope/lms"),
)
NAME = 1_000  # and no longer ones
MOST = 0.15  # seconds of processor time; a linear search takes a thousandth
PIECES = (
    "\n", " ", "\t", "a", "0", "A ", "a-", "_", "(", "[", "<", "*", "*a", "`", "-1",
    "\\", "\x1b[", "$", "=", ".", "/", "copy of ", " (1)", "\n ", "a\n", "%", "!", ",",
    "import ", "0-", "Cell In[", "(1)-1", "data:image/png;base64,", "'", "aB",
)  # fmt: skip
ENDS = ("", "\n", "!", "x", "\x00")


def patterns(room: str) -> Iterator[tuple[str, str, int]]:
    """Where each literal pattern of a room stands, what it is, and its flags."""
    root = Path(autograder.__file__).parent
    for path in sorted((root / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _is_ours(node.func) and node.args:
                written = ast.unparse(node.args[0])
                location = f"{path.relative_to(root)}:{node.lineno}"
                with_flags = [k.value for k in node.keywords if k.arg == "flags"]
                with_flags += node.args[1:] if node.func.attr == "compile" else []
                flags = sum(_flag(value) for value in with_flags)
                try:
                    yield location, ast.literal_eval(written), flags
                except ValueError:
                    continue  # made at run time: of our own words


def _is_ours(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in FUNCTIONS | {"sub", "subn"}
    )


def _flag(value: ast.expr) -> int:
    names = [node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)]
    return int(sum(getattr(re, name) for name in set(names)))


class TooSlowError(Exception):
    """The clock of this test has run out."""


def _stop(*_: object) -> None:
    raise TooSlowError


def slow_ones(pattern: re.Pattern, longest: int = LONG) -> Iterator[str]:
    """A text that a pattern takes more than its time for."""
    signal.signal(signal.SIGVTALRM, _stop)
    for piece in PIECES:
        for end in ENDS:
            words = (piece * longest)[:longest] + end
            text = words.encode() if isinstance(pattern.pattern, bytes) else words
            signal.setitimer(signal.ITIMER_VIRTUAL, MOST)
            try:
                for _ in pattern.finditer(text):
                    pass
            except TooSlowError:
                yield repr(piece + end)
                return
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.mark.parametrize("room", ROOMS)
def test_a_long_hostile_text_is_searched_in_linear_time(room):
    entries = list(patterns(room))
    assert len(entries) >= ROOMS[room]
    for location, pattern, flags in entries:
        longest = NAME if location.startswith(NAMES) else LONG
        slow = list(slow_ones(re.compile(pattern, flags), longest))
        assert slow == [], location
