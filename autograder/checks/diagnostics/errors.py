"""Plain-language messages for errors, if all wrong cases raise the same kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.checks.diagnostics.crashes import CRASHES, Crash
from autograder.checks.exercise import RAISED, CaseResult
from autograder.checks.language import _

_OWN_LINE = "in your line "
_LONGEST = 3000  # characters of an error; student code may make it any length


def explain(
    wrong: Sequence[CaseResult], kinds: Sequence[Crash] = CRASHES
) -> tuple[str, str] | None:
    """Return a message and a question if all wrong cases raise one kind of error."""
    if not _all_raised(wrong):
        return None
    errors = [str(r.answers[RAISED]) for r in wrong if RAISED in r.answers]
    for crash in kinds:
        matches = [_match(crash, error) for error in errors]
        messages = {_(crash.message).format_map(f.groupdict()) for f in matches if f}
        if all(matches) and len(messages) == 1:
            return messages.pop(), _(crash.asks)
    return None


def always(wrong: Sequence[CaseResult]) -> tuple[str, str] | None:
    """Return a message and a question if all wrong cases stop at the same line of code.

    Return None if they do not.
    """
    # The second line of an error shows where the student's code stopped.
    lines = {
        finding.message.partition("\n")[2].partition("\n")[0]
        for result in wrong
        for finding in result.findings
        if finding.problem
    }
    if not _all_raised(wrong) or len(lines) != 1 or not lines.pop():
        return None
    return (
        _("In every case your code stops with an error at the same line."),
        _(
            "What does the error say about this line, and what would `print` show "
            "just before it?"
        ),
    )


def _all_raised(wrong: Sequence[CaseResult]) -> bool:
    problems = {f.problem for result in wrong for f in result.findings if f.problem}
    return problems == {RAISED}


def _match(crash: Crash, error: str) -> re.Match[str] | None:
    """Match an error's first line, unless ``in_student_code`` rules the error out."""
    first, _, trace = error.partition("\n")
    if crash.in_student_code not in (None, trace.startswith(_OWN_LINE)):
        return None
    return re.search(crash.line, first[:_LONGEST])
