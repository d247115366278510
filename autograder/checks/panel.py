"""A CheckResult as a person sees it: an HTML panel with pictures, or plain text.

Colours are translucent and text is ``currentColor``, so that a panel follows light and
dark themes alike; right and wrong also differ by symbol, never by colour alone. Styles
are inline because notebooks and feedback pages drop style sheets of outputs.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping

from autograder.checks.aspects import by_aspect
from autograder.checks.console import showable
from autograder.checks.exercise import CaseResult, CheckResult, Finding
from autograder.checks.pictures import picture as picture_of

BLUE, ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: distinct for colour-blind readers
DARK_ORANGE = "#B34700"  # behind white: at least 4.5 to 1, as BLUE has it
SHOWN = 2  # findings of a case that are told in full
LISTED = 10  # and how many are named at all
PICTURES = 30 * 1024  # characters of pictures in a panel; the first one is always there
_TINT = {BLUE: "rgba(0,114,178,.10)", ORANGE: "rgba(213,94,0,.10)"}


class Shown(CheckResult):
    """A verdict that shows itself: as a panel in a notebook, as text elsewhere."""

    def __str__(self) -> str:
        return showable(as_text(self))

    def _repr_html_(self) -> str:
        return as_html(self)


def as_text(verdict: CheckResult) -> str:
    """The verdict as lines of plain text."""
    if not verdict.results:
        return verdict.note
    lines = [f"{verdict.title}: {_points(verdict)}"]
    lines += [f"  {line}" for line in (*_mistake_lines(verdict), *_aspects(verdict))]
    for result in _grouped(verdict):
        lines.append(f"  {'✓' if result.passed else '✗'} {_title(result)}")
        for line in _details(result, verdict):  # an error has several, of any words
            lines += [f"      {part}" for part in line.splitlines()]
    return "\n".join(lines)


def as_html(verdict: CheckResult, drawn: Mapping[str, str] | None = None) -> str:
    """The verdict as a self-contained HTML fragment without scripts.

    The first case that fails is open, with a picture; the others unfold, with theirs as
    long as there is room.

    Args:
        drawn: the verdict's `pictures`, for who has them already.
    """
    if not verdict.results:
        return boxed(ORANGE, f"<div>{inline(verdict.note)}</div>")
    drawn = pictures(verdict) if drawn is None else drawn
    results = _grouped(verdict)
    first = _first_wrong(results)
    rows = "".join(
        _row(r, verdict, r.case.name == first, drawn.get(r.case.name, ""))
        for r in results
    )
    head = (
        f'<div style="display:flex;justify-content:space-between;gap:1em">'
        f"<strong>{inline(verdict.title)}</strong>"
        f"<strong>{_points(verdict)}</strong></div>"
    )
    colour = BLUE if verdict.passed else ORANGE
    parts = "".join(f"<div>{html.escape(line)}</div>" for line in _aspects(verdict))
    return boxed(colour, head + _mistake_html(verdict) + parts + rows)


def pictures(verdict: CheckResult) -> dict[str, str]:
    """The pictures that there is room for, by case: the same under any explanation."""
    results = _grouped(verdict)
    first, room, drawn = _first_wrong(results), PICTURES, dict[str, str]()
    for result in results:
        picture = _picture(result) if room > 0 else ""
        if result.case.name == first or len(picture) <= room:
            room -= len(picture)
            drawn[result.case.name] = picture
    return drawn


def _first_wrong(results: Iterable[CaseResult]) -> str | None:
    return next((r.case.name for r in results if not r.passed), None)


def boxed(colour: str, content: str) -> str:
    """A panel with a coloured edge, around HTML."""
    return (
        f'<div style="border-left:5px solid {colour};background:{_TINT[colour]};'
        "padding:.7em 1em;margin:.3em 0;line-height:1.45;max-width:58em;"
        f'color:inherit;font-family:sans-serif;font-size:14px">{content}</div>'
    )


def mark(passed: bool) -> str:
    """A tick or a cross, white on its own ground: readable in any theme."""
    colour, sign = (BLUE, "✓") if passed else (DARK_ORANGE, "✗")
    return (
        f'<span style="background-color:{colour};color:#fff;border-radius:3px;'
        "font-weight:bold;display:inline-block;width:1.5em;text-align:center;"
        f'margin-right:.5em">{sign}</span>'
    )


def _points(verdict: CheckResult) -> str:
    return f"{verdict.points:g} of {verdict.max_points:g} points"


def _aspects(verdict: CheckResult) -> list[str]:
    """Where points were lost, by aspect; nothing if none was, or there is only one."""
    line = "" if verdict.passed else by_aspect(verdict.aspects)
    return [line] if line else []


def _mistake_lines(verdict: CheckResult) -> list[str]:
    if verdict.mistake is None:
        return []
    lead = "" if verdict.sure else "Perhaps: "
    return [f"{lead}{verdict.mistake.says}", f"Ask yourself: {verdict.mistake.asks}"]


def _mistake_html(verdict: CheckResult) -> str:
    lines = _mistake_lines(verdict)
    if not lines:
        return ""
    says, asks = map(inline, lines)
    return f'<p style="margin:.5em 0"><strong>{says}</strong><br>{asks}</p>'


def inline(text: str) -> str:
    """A sentence as HTML: `code` and *emphasis*, everything else escaped."""
    parts = html.escape(text).split("`")
    for i, part in enumerate(parts):
        emphasised = re.sub(r"\*(\w[^*]*)\*", r"<em>\1</em>", part)
        parts[i] = f"<code>{part}</code>" if i % 2 else emphasised
    return "".join(parts)


def _grouped(verdict: CheckResult) -> list[CaseResult]:
    """One result per case name: the first drawing that failed, else the first."""
    chosen: dict[str, CaseResult] = {}
    for result in verdict.results:
        first = chosen.setdefault(result.case.name, result)
        if first.passed and not result.passed:
            chosen[result.case.name] = result
    return list(chosen.values())


def _title(result: CaseResult) -> str:
    return result.case.title + (" (hidden)" if result.case.hidden else "")


def _row(result: CaseResult, verdict: CheckResult, unfolded: bool, drawn: str) -> str:
    head = f"{mark(result.passed)}{inline(_title(result))}"
    details = "".join(
        f'<div style="margin-left:1.6em;white-space:pre-wrap">{inline(line)}</div>'
        for line in _details(result, verdict)
    )
    if result.passed:
        return f'<div style="margin:.2em 0">{head}{details}</div>'
    return (
        f'<details style="margin:.2em 0"{" open" if unfolded else ""}>'
        f'<summary style="cursor:pointer">{head}</summary>'
        f"{details}{drawn}</details>"
    )


def _details(result: CaseResult, verdict: CheckResult) -> list[str]:
    """What went wrong in a case; of a hidden case neither inputs nor numbers.

    How good a measured answer is (BLEU) gives nothing away, and is told of right ones;
    so is what could not be looked at.
    """
    wrong = [
        finding for finding in result.findings if finding.problem or finding.message
    ]
    if not wrong:
        return []
    secret = result.case.hidden and not result.case.measure
    lines = list(_finding_lines(wrong[:SHOWN], secret))
    if also := [finding.name for finding in wrong[SHOWN:] if finding.problem]:
        listed, more = also[: LISTED - SHOWN], len(also[LISTED - SHOWN :])
        rest = f", and {more} more" if more else ""
        lines.append(f"also wrong: {', '.join(listed)}{rest}")
    if verdict.mistake is None and not result.passed and _is_hinted(result, verdict):
        lines.append(result.case.hint)
    return lines


def _is_hinted(result: CaseResult, verdict: CheckResult) -> bool:
    """Whether a case's hint is to the point.

    That of a general property is none where not even ordinary cases are right.
    """
    if result.case.says:
        return all(r.passed or bool(r.case.says) for r in verdict.results)
    return bool(result.case.hint)


def _finding_lines(wrong: Iterable[Finding], hidden: bool) -> Iterable[str]:
    for finding in wrong:
        if not finding.problem:
            yield f"{finding.name}: {finding.message}"
        elif finding.problem == "raised":
            yield "raised an error on inputs like these" if hidden else finding.message
        elif hidden:
            yield f"{finding.name}: wrong {_plain_problem(finding.problem)}"
        else:
            yield f"{finding.name}: {finding.message}"


def _plain_problem(problem: str) -> str:
    return {"finite": "numbers (NaN or infinite)", "missing": "result"}.get(
        problem, problem
    )


def _picture(result: CaseResult) -> str:
    if result.case.hidden or result.passed:
        return ""
    for finding in result.findings:
        wrong = finding.problem in ("values", "finite")
        if wrong and (drawn := picture_of(finding, result.case)):
            return f'<div style="margin:.4em 0 .6em 1.6em">{drawn}</div>'
    return ""
