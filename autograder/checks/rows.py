"""Describe a verdict's cases in lines of text, and group cases that read the same.

In HTML, backticks mark code. Asterisks mark emphasis, but only in the course's
own sentences.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from autograder.checks.diagnostics.symptoms import SEEN
from autograder.checks.exercise import CALLED, RAISED, CaseResult, CheckResult, Finding
from autograder.checks.language import _, translatable, translate
from autograder.checks.properties import what_was_seen

SHOWN = 2  # findings of a case that are described in full
LISTED = 5  # findings or cases that are named at all


def inline(text: str) -> str:
    """A sentence as HTML: `code` and *emphasis*, everything else escaped."""
    parts = html.escape(text).split("`")
    for i, part in enumerate(parts):
        emphasised = re.sub(r"\*(\w[^*]*)\*", r"<em>\1</em>", part)
        parts[i] = f"<code>{part}</code>" if i % 2 else emphasised
    return "".join(parts)


def _quoted(text: str) -> str:
    """Return an error's text as HTML: backticks mark code, asterisks mean nothing."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))


class Line(NamedTuple):
    """A line of text, which a line of the student's code may follow.

    ``code`` is that code, or "". ``marked_up`` converts ``text`` to HTML.
    """

    text: str
    code: str = ""
    marked_up: Callable[[str], str] = inline

    def __str__(self) -> str:
        return f"{self.text}{self.code}"

    @property
    def html(self) -> str:
        code = f"<code>{html.escape(self.code)}</code>" if self.code else ""
        return f"{self.marked_up(self.text)}{code}"


@dataclass(frozen=True)
class CaseGroup:
    """Cases that share one row, in which the first of them stands for all."""

    cases: tuple[CaseResult, ...]

    @property
    def first(self) -> CaseResult:
        return self.cases[0]

    @property
    def passed(self) -> bool:
        return self.first.passed

    @property
    def is_partial(self) -> bool:
        return self.first.is_partial

    @property
    def title(self) -> str:
        count = len(self.cases)
        if count == 1:
            return title(self.first)
        if self.passed:
            return _("{count} other cases pass").format(count=count)
        return _("{count} cases fail in the same way (first: {case})").format(
            count=count, case=title(self.first)
        )


def title(result: CaseResult) -> str:
    """Return a case's title in the course's language, with a remark if it is hidden."""
    form = _("{case} (hidden)") if result.case.hidden else "{case}"
    return form.format(case=_(result.case.title))


def results(verdict: CheckResult) -> list[CaseResult]:
    """Return one result for each case name: the first that failed, or else the first.

    A case may be drawn several times, with different random inputs but the same name.
    """
    chosen: dict[str, CaseResult] = {}
    for result in verdict.results:
        first = chosen.setdefault(result.case.name, result)
        if first.passed and not result.passed:
            chosen[result.case.name] = result
    return list(chosen.values())


def rows(verdict: CheckResult) -> list[CaseGroup]:
    """Group a verdict's cases into rows: first the failures, then the passed cases.

    Cases that fail in the same way share one row, and so do most that pass.
    """
    failed: dict[object, list[CaseResult]] = {}
    remarked, passed = list[CaseGroup](), list[CaseResult]()
    for result in results(verdict):
        if not result.passed:
            failed.setdefault(_failure(result), []).append(result)
        elif details(result, verdict):
            remarked.append(CaseGroup((result,)))
        else:
            passed.append(result)
    wrong = [CaseGroup(tuple(group)) for group in failed.values()]
    return [*wrong, *remarked, *([CaseGroup(tuple(passed))] if passed else [])]


def _failure(result: CaseResult) -> object:
    """Return a key that is equal for two cases that fail in the same way.

    It says which answers are wrong and in what respect, such as shape.
    """
    case = result.case
    if case.measure:
        return case.name
    wrong = [finding for finding in result.findings if finding.problem]
    kinds = {(what_was_seen(f.name)[0], f.problem) for f in wrong}
    errors = frozenset(() if case.hidden else map(_error, wrong))
    return case.hidden, frozenset(kinds), errors


def _error(finding: Finding) -> str:
    """Return the part of an error that does not depend on the case; "" for none.

    This is usually its type and the lines of the student's code that led to it.
    """
    if finding.problem != RAISED:
        return ""
    first, _, location = finding.message.partition("\n")
    kind = re.sub(r"\d+", "0", first.partition(":")[0])
    return f"{kind}\n{location}"


def details(result: CaseResult, verdict: CheckResult) -> list[Line]:
    """Say what went wrong in a case; for a hidden case, without inputs and numbers.

    A measured value (BLEU, say) gives nothing away, so it is always shown.
    """
    wrong = [f for f in result.findings if f.problem or f.message]
    if not wrong:
        return []
    lines = list(_finding_lines(wrong[:SHOWN], result))
    if also := [translate(f.name) for f in wrong[SHOWN:] if f.problem]:
        names = clip_names(also, LISTED - SHOWN)
        lines.append(Line(_("also wrong: {names}").format(names=names), "", _quoted))
    if rule := hint(result, verdict):
        lines.append(Line(rule))
    return lines


def hint(result: CaseResult, verdict: CheckResult) -> str:
    """Return the hint of a failing case, or advice to work by hand; "" for neither.

    A hint states the rule that its case tests. Usually there is none if a mistake
    is recognised, or if most cases fail.
    """
    mistake = verdict.mistake
    raised = any(finding.problem == RAISED for finding in result.findings)
    if result.passed or (mistake and (mistake.name != SEEN or raised)):
        return ""
    ordinary = [r for r in results(verdict) if not r.case.says]
    wrong = [r for r in ordinary if not r.passed]
    if 2 * len(wrong) <= len(ordinary):
        # A hint about a general property helps only if every ordinary case passes.
        if result.case.hint and not (result.case.says and wrong):
            return _("Hint: {rule}").format(rule=_(result.case.hint))
    elif result is wrong[0] and not (mistake or raised):
        return _(
            "No known mistake fits. Work out a small input by hand, and compare each "
            "step with your code."
        )
    return ""


def clip_names(names: list[str], most: int = LISTED) -> str:
    """Join the first names with semicolons, and count the rest: "a; b; and 3 more"."""
    omitted, line = len(names) - most, "; ".join(names[:most])
    if omitted <= 0:
        return line
    return _("{names}; and {more} more").format(names=line, more=omitted)


def _finding_lines(wrong: Iterable[Finding], result: CaseResult) -> Iterator[Line]:
    """Describe findings, without numbers if the case is hidden and not measured."""
    measured = bool(result.case.measure)
    hidden = result.case.hidden and not measured
    for finding in wrong:
        raised = finding.problem == RAISED
        if finding.problem == CALLED:
            name = str(finding.actual)
            yield Line(_("`{name}` was called here").format(name=name))
        elif raised and hidden:
            yield Line(_("raised an error on inputs like these"))
        elif raised:
            yield from error_lines(finding.message)
        elif hidden and finding.problem:
            wrong_part = _(_PROBLEMS.get(finding.problem, finding.problem))
            message = _("{name}: wrong {problem}")
            yield Line(message.format(name=translate(finding.name), problem=wrong_part))
        else:
            mark_up = inline if measured or not finding.problem else html.escape
            yield Line(f"{translate(finding.name)}: {finding.message}", "", mark_up)


def error_lines(message: str) -> Iterator[Line]:
    """Yield the line of an error, and a line for each place in the student's code.

    Below the error, ``message`` has lines like "in your line 3: x = y".
    """
    first, *trace = message.splitlines() or [""]
    yield Line(translate(first), "", _quoted)
    for line in trace:
        lead, colon, code = line.partition(": ")
        yield Line(translate(lead) + colon, code, _quoted)


_PROBLEMS = {
    "finite": translatable("numbers (NaN or infinite)"),
    "missing": translatable("result"),
    "type": translatable("type"),
    "shape": translatable("shape"),
    "dtype": translatable("dtype"),
    "values": translatable("values"),
}
