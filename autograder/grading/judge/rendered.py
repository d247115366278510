"""Turn the result of a check into a verdict without tensors, and into HTML."""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.checks.exercise import RAISED, CheckResult, Exercise, Finding
from autograder.checks.language import _, translatable
from autograder.checks.measures import details
from autograder.checks.panel import as_html, as_text
from autograder.grading.judge.verdict import CaseVerdict, RenderedVerdict, Verdict
from autograder.sandbox.ending import Ended, EndReason

_MAX_CHARACTERS = 300  # characters of an error's line; a sandbox may send any number
_DIGESTED = 4  # findings of a case, which identify its wrong answer
FOR_A_PERSON = translatable("This check could not be decided: a person looks at it.")


def render_verdict(
    result: CheckResult, submission: str, images: Mapping[str, str] | None = None
) -> RenderedVerdict:
    """Render the verdict on a submission, from the result as it is displayed.

    Args:
        images: the pictures of its panel, if they were drawn already.
    """
    return RenderedVerdict(verdict_of(result, submission), as_html(result, images))


def for_a_person(exercise: Exercise, submission: str, fault: str) -> RenderedVerdict:
    """The verdict on a check that a person must decide; it has no score until then."""
    result = CheckResult(
        exercise.name, exercise.title, 0.0, exercise.points, note=_(FOR_A_PERSON)
    )
    rendered = render_verdict(result, submission)
    verdict = replace(rendered.verdict, decided="person", fault=fault)
    return replace(rendered, verdict=verdict)


def without_sandbox(
    exercise: str, points: float, ended: Ended, submission: str
) -> RenderedVerdict:
    """The verdict on a check that did not run because no sandbox was available."""
    result = CheckResult(exercise, "", 0.0, points, note=ended.explanation)
    rendered = render_verdict(result, submission)
    return replace(rendered, verdict=replace(rendered.verdict, ended=ended.reason))


def verdict_of(result: CheckResult, submission: str = "") -> Verdict:
    """The verdict that a result on a submission gives, without any tensors.

    A case's inputs that students see, and those drawn for grading, count as one case.
    Where it has a measure (a score of a trained model), the values are kept, too.
    """
    cases: dict[str, CaseVerdict] = {}
    scores: dict[str, float] = {}
    for case_result in result.results:
        case = case_result.case
        if case.measure and case.hidden:
            scores |= details(case.measure, case.expected, case_result.answers)
        wrong = [finding for finding in case_result.findings if finding.problem]
        if case.name not in cases or (wrong and not cases[case.name].problem):
            problem = wrong[0].problem if wrong else ""
            answer = "" if case.hidden else _digest(wrong)
            cases[case.name] = CaseVerdict(
                case.name, case.title, problem, case.hidden, answer
            )
    return Verdict(
        result.exercise, result.points, result.max_points,
        result.mistake.name if result.mistake else "",
        result.mistake.says if result.mistake else "",
        result.note or _error(result), scores=scores,
        cases=tuple(cases.values()), submission=submission,
        aspects={name: list(points) for name, points in result.aspects.items()},
        panel=_panel(result), ended=EndReason.STUB if result.unsolved else None,
    )  # fmt: skip


def _digest(wrong: Sequence[Finding]) -> str:
    """A digest that is the same for equal wrong answers; "" for none."""
    lines = [f"{f.name}: {_first_line(f.message)}" for f in wrong[:_DIGESTED]]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8] if lines else ""


def _panel(result: CheckResult) -> str:
    """The panel as text, without its title; "" for a check that tried no case."""
    text = as_text(result) if result.results else ""
    return textwrap.dedent(text.partition("\n")[2])


def _error(result: CheckResult) -> str:
    """The first line of the error that all cases ended in, if they did."""
    messages = {
        _first_line(finding.message) if finding.problem == RAISED else ""
        for case_result in result.results
        for finding in case_result.findings
    }
    return messages.pop() if len(messages) == 1 else ""


def _first_line(message: str) -> str:
    line = (message.splitlines() or [""])[0]
    return line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS]} ..."
