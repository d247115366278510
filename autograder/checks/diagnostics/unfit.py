"""Errors that a probe raises of what does not fit, in plain words."""

from __future__ import annotations

from autograder.checks.diagnostics import errors
from autograder.checks.diagnostics.errors import Crash
from autograder.checks.diagnostics.values import Sign, Wrong
from autograder.checks.language import marked

_BROADCAST = marked(
    "Counted from the right, which sizes do the scores have, and which does the mask "
    "have?"
)
UNFIT = (
    Crash(
        r"^expected `(?P<name>[^`]+)` of shape \(.*\), found \(",
        "The shape of `{name}` is not the one that is asked for.",
        "From which size to which size does this layer map, and where do the sizes "
        "come from?",
    ),
    Crash(
        r"^expected a `(?P<name>\w+)` that broadcasts to the scores",
        "`{name}` does not broadcast to the scores.",
        _BROADCAST,
    ),
    Crash(
        r"^expected a mask that broadcasts to the scores",
        "Your mask does not broadcast to the scores.",
        _BROADCAST,
    ),
    Crash(
        r"^RuntimeError: upper bound and lower bound inconsistent with step sign",
        "A range ends before it begins.",
        "Which of the two ends depends on an argument, and should the other one?",
    ),
    Crash(
        r"^FileNotFoundError: .*: '?(?P<name>[\w./-]+)'?$",
        "Your code opens a file that is not there: `{name}`.",
        "Which line writes that file, and has what you need been handed to you?",
    ),
)


def told(wrong: Wrong) -> Sign:
    """What to say where all wrong answers are errors of one of these kinds."""
    return errors.told(wrong, UNFIT)
