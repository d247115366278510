"""Render a verdict for people: as an HTML panel with pictures, or as plain text.

Colours suit light and dark themes, and right and wrong also differ by symbol.
Styles are inline because notebooks drop style sheets of outputs.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autograder.checks.aspects import by_aspect, describe_points
from autograder.checks.boxes import BLUE, ORANGE, boxed, mark, unfolding, visible_words
from autograder.checks.console import showable
from autograder.checks.exercise import CaseResult, CheckResult
from autograder.checks.language import _, plural, translatable
from autograder.checks.next_step import NextStep
from autograder.checks.pictures import picture as picture_of
from autograder.checks.rows import (
    CaseGroup,
    clip_names,
    details,
    hint,
    inline,
    results,
    rows,
)
from autograder.checks.rows import title as title_of
from autograder.checks.side_by_side import compare_side_by_side
from autograder.checks.words import sign

WORDS = 120  # that may be visible before anything is unfolded
_SMALLEST = translatable("The smallest input that fails, of those tried:")
PICTURES = 30 * 1024  # characters of pictures in a panel; the first is always included


@dataclass(frozen=True, repr=False)
class Shown(CheckResult):
    """A verdict that displays itself: as a panel in a notebook, as text elsewhere.

    ``notice`` is a warning that the verdict is on an earlier version of the answer.
    ``next_step`` says where to go on after a right answer.
    """

    notice: str = ""
    next_step: NextStep | None = None

    def __str__(self) -> str:
        lines = [as_text(self, self.next_step)]
        if self.notice:
            lines = [self.notice, f"{_earlier_version()}:", *lines]
        return showable("\n".join(lines))

    def _repr_html_(self) -> str:
        panel = as_html(self, next_step=self.next_step)
        if not self.notice:
            return panel
        notice = f"<div>{inline(self.notice)}</div>"
        return boxed(ORANGE, notice + unfolding(_earlier_version(), panel))


def _earlier_version() -> str:
    return _("What your earlier version gives")


def as_text(verdict: CheckResult, next_step: NextStep | None = None) -> str:
    """The verdict as lines of plain text."""
    if not verdict.results:
        return verdict.note
    points = describe_points(verdict.points, verdict.max_points)
    lines = [f"{_(verdict.title)}: {points}"]
    head = (*_mistake_lines(verdict), *_smallest_lines(verdict), *_aspects(verdict))
    lines += [f"  {line}" for line in head]
    if verdict.passed:
        follows = f" {next_step}" if next_step else ""
        lines.append(f"  ✓ {_all_pass(verdict)}{follows}")
    for row in rows(verdict):
        row_lines = _row_text(row, verdict)
        if not verdict.passed or len(row_lines) > 1:
            lines += row_lines
    return "\n".join(lines)


def _row_text(row: CaseGroup, verdict: CheckResult) -> list[str]:
    """The lines of one row: its title, and the details of its first case."""
    lines = [f"  {sign(row.passed, row.is_partial)} {row.title}"]
    detail_lines = [str(line) for line in details(row.first, verdict)]
    if len(row.cases) > 1 and not row.passed:
        other_titles = clip_names([title_of(case) for case in row.cases[1:]])
        detail_lines.append(_("also: {cases}").format(cases=other_titles))
    # The message of an error may have several lines, of any content.
    parts = [part for line in detail_lines for part in line.splitlines()]
    return lines + [f"      {part}" for part in parts]


def as_html(
    verdict: CheckResult,
    pictures: Mapping[str, str] | None = None,
    next_step: NextStep | None = None,
) -> str:
    """Return the verdict as a self-contained HTML fragment without scripts.

    Pictures are drawn if ``pictures``, the result of `draw_pictures`, is missing. A
    panel of too many words is folded step by step, first the least important parts.
    """
    if not verdict.results:
        return boxed(ORANGE, f"<div>{inline(verdict.note)}</div>")
    if verdict.passed:
        return boxed(BLUE, _passed_html(verdict, next_step))
    pictures = draw_pictures(verdict) if pictures is None else pictures
    head = _head(f"<strong>{inline(_(verdict.title))}</strong>", verdict)
    first, *other_rows = rows(verdict)
    evidence = _smallest_html(verdict, first.first)
    parts = "".join(map(_folded_points, _aspects(verdict)))
    lead = head + _mistake_html(verdict) + evidence + parts
    opened = _row_html(first, verdict, pictures, is_first=not evidence)
    others = [_row_html(r, verdict, pictures, is_first=False) for r in other_rows]
    others_html = "".join(others)
    if other_rows and visible_words(lead + opened + others_html) > WORDS:
        others_html = unfolding(_("the other cases"), others_html)
    if visible_words(lead + opened + others_html) > WORDS:
        opened = _row_html(first, verdict, pictures, not evidence, is_brief=True)
    if visible_words(lead + opened + others_html) > WORDS:
        opened = _row_html(first, verdict, pictures, is_first=False)
    if evidence and visible_words(lead + opened + others_html) > WORDS:
        opened, others_html = unfolding(_("the cases"), opened + others_html), ""
    colour = BLUE if verdict.is_partial else ORANGE
    return boxed(colour, lead + opened + others_html)


def draw_pictures(verdict: CheckResult) -> dict[str, str]:
    """Draw the pictures of wrong cases that there is room for, by name of the case."""
    wrong = [row.first for row in rows(verdict) if not row.passed]
    wrong += [r for r in results(verdict) if not r.passed and r not in wrong]
    room, pictures = PICTURES, dict[str, str]()
    for result in wrong:
        picture = _picture(result) if room > 0 else ""
        if result is wrong[0] or len(picture) <= room:
            room -= len(picture)
            pictures[result.case.name] = picture
    return pictures


def _head(content: str, verdict: CheckResult, width: str = "100%") -> str:
    """HTML of a line with ``content`` at the left and the points at the right."""
    points = describe_points(verdict.points, verdict.max_points)
    return (
        '<span style="display:inline-flex;justify-content:space-between;gap:1em;'
        f'width:{width};vertical-align:top">'
        f'<span>{content}</span><strong style="white-space:nowrap">{points}'
        "</strong></span>"
    )


def _passed_html(verdict: CheckResult, next_step: NextStep | None) -> str:
    """HTML for a right answer: one line that unfolds, and the remarks below it."""
    follows = f" {next_step.html}" if next_step else ""
    content = f"{mark(True)}{_all_pass(verdict)}{follows}"
    title = f"<div><strong>{inline(_(verdict.title))}</strong></div>"
    inside = title + _list_html(results(verdict))
    remarks = "".join(_details_html(result, verdict) for result in results(verdict))
    line = _head(content, verdict, "calc(100% - 1.4em)")  # beside the triangle
    return unfolding(line, inside) + remarks


def _all_pass(verdict: CheckResult) -> str:
    count = len(results(verdict))
    message = plural("Its case passes.", "All {count} cases pass.", count)
    return message.format(count=count)


def _aspects(verdict: CheckResult) -> list[str]:
    """Return a list with the line on points lost by aspect.

    It is empty if the answer is right, or if the total points say as much.
    """
    line = "" if verdict.passed else by_aspect(verdict.aspects)
    return [line] if line else []


def _folded_points(line: str) -> str:
    """Turn "Points lost: ..." into a line that unfolds."""
    head, colon, parts = line.partition(": ")
    return unfolding(html.escape(head), html.escape(parts)) if colon else line


def _mistake_lines(verdict: CheckResult) -> list[str]:
    """Return a line on the recognised mistake, and one with its question, if any."""
    if verdict.mistake is None:
        return []
    message, asks = _(verdict.mistake.says), verdict.mistake.asks
    lines = [message if verdict.sure else _("Perhaps: {says}").format(says=message)]
    if asks:
        lines.append(_("Ask yourself: {question}").format(question=_(asks)))
    return lines


def _mistake_html(verdict: CheckResult) -> str:
    if not (lines := _mistake_lines(verdict)):
        return ""
    message, *asks = map(inline, lines)
    paragraph = "<br>".join([f"<strong>{message}</strong>", *asks])
    return f'<p style="margin:.5em 0">{paragraph}</p>'


def _smallest_lines(verdict: CheckResult) -> list[str]:
    """The smallest input that fails, and its expected and actual results, as text."""
    if verdict.smallest is None:
        return []
    lines = compare_side_by_side(verdict.smallest).lines()
    return [_(_SMALLEST), *(f"  {line}" for line in lines)]


def _smallest_html(verdict: CheckResult, first: CaseResult) -> str:
    """Return the smallest input that fails as HTML; "" if none is known.

    If no mistake is recognised, the hint of the first wrong case is added.
    """
    if verdict.smallest is None:
        return ""
    table = compare_side_by_side(verdict.smallest).html
    rule = "" if verdict.mistake else hint(first, verdict)  # a mistake asks already
    rule_html = f"<div>{inline(rule)}</div>" if rule else ""
    content = f"{html.escape(_(_SMALLEST))}{table}{rule_html}"
    return f'<div style="margin:.5em 0">{content}</div>'


def _row_html(
    row: CaseGroup,
    verdict: CheckResult,
    pictures: Mapping[str, str],
    is_first: bool,
    is_brief: bool = False,
) -> str:
    """Return a row that unfolds: its first case in full, and its other cases as rows.

    ``is_first`` unfolds the row, and ``is_brief`` folds some of the first case.
    """
    head = f"{mark(row.passed, row.is_partial)}{inline(row.title)}"
    if row.passed and len(row.cases) == 1:
        body = _details_html(row.first, verdict)
        return f'<div style="margin:.2em 0">{head}{body}</div>'
    if row.passed:
        return unfolding(head, _list_html(row.cases))
    first, *other_cases = row.cases
    inside = _case_details(first, verdict, pictures, is_brief)
    within = "".join(
        unfolding(_case_html(r), _case_details(r, verdict, pictures))
        for r in other_cases
    )
    if len(other_cases) > 1:
        head_of_others = _("the other {count} cases").format(count=len(other_cases))
        within = unfolding(head_of_others, within)
    return unfolding(head, inside + within, is_open=is_first)


def _list_html(cases: Iterable[CaseResult]) -> str:
    return "".join(f"<div>{_case_html(result)}</div>" for result in cases)


def _case_html(result: CaseResult) -> str:
    return f"{sign(result.passed, result.is_partial)} {inline(title_of(result))}"


def _case_details(
    result: CaseResult,
    verdict: CheckResult,
    pictures: Mapping[str, str],
    is_brief: bool = False,
) -> str:
    """HTML of the lines on a case, and of its picture if ``pictures`` has one."""
    picture = pictures.get(result.case.name, "")
    return _details_html(result, verdict, is_brief) + picture


def _details_html(
    result: CaseResult, verdict: CheckResult, is_brief: bool = False
) -> str:
    """HTML of the lines on a case; if brief, those below the code are folded."""
    shown = details(result, verdict)
    lines = [f'<div style="white-space:pre-wrap">{line.html}</div>' for line in shown]
    visible_count = 1 + max((n for n, line in enumerate(shown) if line.code), default=0)
    if is_brief and len(lines) > visible_count:
        lines[visible_count:] = [unfolding(_("more"), "".join(lines[visible_count:]))]
    return "".join(lines)


def _picture(result: CaseResult) -> str:
    """The picture of a wrong visible case; "" if there is none."""
    if result.case.hidden or result.passed:
        return ""
    for finding in result.findings:
        wrong = finding.problem in ("values", "finite")
        if wrong and (drawing := picture_of(finding, result.case)):
            return f'<div style="margin:.4em 0 .6em 0">{drawing}</div>'
    return ""
