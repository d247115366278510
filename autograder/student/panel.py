"""A Verdict as a person sees it: an HTML panel with pictures, or plain text.

Colours are translucent and text is ``currentColor``, so that a panel follows light and
dark themes alike; right and wrong also differ by symbol, never by colour alone. Styles
are inline because notebooks and feedback pages drop style sheets of outputs.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from autograder.student.exercise import CaseResult, Finding, Verdict
from autograder.student.pictures import picture

BLUE, ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito: distinct for colour-blind readers
_TINT = {BLUE: "rgba(0,114,178,.10)", ORANGE: "rgba(213,94,0,.10)"}


def as_text(verdict: Verdict) -> str:
    """The verdict as lines of plain text."""
    if not verdict.results:
        return verdict.note
    lines = [f"{verdict.title}: {_points(verdict)}"]
    lines += [f"  {line}" for line in _mistake_lines(verdict)]
    for result in _grouped(verdict):
        lines.append(f"  {'✓' if result.passed else '✗'} {_title(result)}")
        lines += [f"      {line}" for line in _details(result, verdict)]
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """The verdict as a self-contained HTML fragment without scripts."""
    if not verdict.results:
        return _box(ORANGE, f"<div>{html.escape(verdict.note)}</div>")
    colour = BLUE if verdict.passed else ORANGE
    mistake = _mistake_html(verdict)
    rows = "".join(_row(result, verdict) for result in _grouped(verdict))
    head = (
        f'<div style="display:flex;justify-content:space-between;gap:1em">'
        f"<strong>{html.escape(verdict.title)}</strong>"
        f"<strong>{_points(verdict)}</strong></div>"
    )
    return _box(colour, head + mistake + rows)


def _box(colour: str, content: str) -> str:
    return (
        f'<div style="border-left:5px solid {colour};background:{_TINT[colour]};'
        "padding:.7em 1em;margin:.3em 0;line-height:1.45;max-width:58em;"
        f'color:inherit;font-family:sans-serif;font-size:14px">{content}</div>'
    )


def _points(verdict: Verdict) -> str:
    return f"{verdict.points:g} of {verdict.max_points:g} points"


def _mistake_lines(verdict: Verdict) -> list[str]:
    if verdict.mistake is None:
        return []
    lead = "" if verdict.sure else "Perhaps: "
    return [f"{lead}{verdict.mistake.says}", f"Ask yourself: {verdict.mistake.asks}"]


def _mistake_html(verdict: Verdict) -> str:
    lines = _mistake_lines(verdict)
    if not lines:
        return ""
    says, asks = (_code(html.escape(line)) for line in lines)
    return f'<p style="margin:.5em 0"><strong>{says}</strong><br><em>{asks}</em></p>'


def _code(text: str) -> str:
    """Backquoted parts of an escaped sentence, as code."""
    parts = text.split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))


def _grouped(verdict: Verdict) -> list[CaseResult]:
    """One result per case name: the first drawing that failed, else the first."""
    chosen: dict[str, CaseResult] = {}
    for result in verdict.results:
        first = chosen.setdefault(result.case.name, result)
        if first.passed and not result.passed:
            chosen[result.case.name] = result
    return list(chosen.values())


def _title(result: CaseResult) -> str:
    return result.case.title + (" (hidden)" if result.case.hidden else "")


def _row(result: CaseResult, verdict: Verdict) -> str:
    colour, mark = (BLUE, "✓") if result.passed else (ORANGE, "✗")
    details = "".join(
        f'<div style="margin-left:1.6em;white-space:pre-wrap">'
        f"{_code(html.escape(line))}</div>"
        for line in _details(result, verdict)
    )
    return (
        f'<div style="margin:.2em 0"><span style="color:{colour};font-weight:bold;'
        f'display:inline-block;width:1.6em">{mark}</span>'
        f"{html.escape(_title(result))}{details}{_picture(result)}</div>"
    )


def _details(result: CaseResult, verdict: Verdict) -> list[str]:
    """What went wrong in a case; of a hidden case neither inputs nor numbers."""
    wrong = [finding for finding in result.findings if finding.problem]
    if not wrong:
        return []
    lines = list(_finding_lines(wrong, result.case.hidden))
    if verdict.mistake is None and result.case.hint:
        lines.append(result.case.hint)
    return lines


def _finding_lines(wrong: Iterable[Finding], hidden: bool) -> Iterable[str]:
    for finding in wrong:
        if finding.problem == "raised":
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
        if finding.problem in ("values", "finite"):
            drawn = picture(finding, result.case)
            if drawn:
                return f'<div style="margin:.4em 0 .6em 1.6em">{drawn}</div>'
    return ""
