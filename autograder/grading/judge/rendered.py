"""Turn a check's result into a verdict, a panel in HTML, and evidence as texts.

Tensors stay in the judge, and the texts that leave it have a limited length.
"""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from autograder.checks.exercise import (
    RAISED,
    CaseResult,
    CheckResult,
    Exercise,
    Finding,
    Other,
    Value,
)
from autograder.checks.forms import dtype_of
from autograder.checks.language import _, translatable
from autograder.checks.measures import details
from autograder.checks.panel import as_html, as_text
from autograder.checks.properties import KEY
from autograder.course.printable import printable
from autograder.grading.judge.verdict import (
    CaseEvidence,
    CaseVerdict,
    RenderedVerdict,
    ResultComparison,
    Verdict,
)
from autograder.sandbox.ending import Ended, EndReason

_MAX_CHARACTERS = 300  # characters of an error's line; a sandbox may send any number
_VALUE_CHARACTERS = 1500  # characters of a value, as evidence
_ENTRIES = 64  # entries of a tensor; of a larger one, the middle is left out
_DIGESTED = 4  # findings of a case, which identify its wrong answer
FOR_A_PERSON = translatable("This check could not be decided: a person looks at it.")


def render_verdict(
    result: CheckResult, submission: str, images: Mapping[str, str] | None = None
) -> RenderedVerdict:
    """Return the verdict that a check's result gives, with its panel as HTML.

    ``images`` are the pictures of the panel, if they were drawn already.
    """
    return RenderedVerdict(verdict_of(result, submission), as_html(result, images))


def undecided_verdict(
    exercise: Exercise, submission: str, fault: str
) -> RenderedVerdict:
    """Return the verdict on a check that a person must decide, as the judge failed.

    ``fault`` tells instructors what went wrong.
    """
    name, title, points = exercise.name, exercise.title, exercise.points
    result = CheckResult(name, title, 0.0, points, note=_(FOR_A_PERSON))
    rendered = render_verdict(result, submission)
    verdict = replace(rendered.verdict, decided="person", fault=fault)
    return replace(rendered, verdict=verdict)


def without_sandbox(
    exercise: str, points: float, ended: Ended, submission: str
) -> RenderedVerdict:
    """Return the verdict (no points) on a check for which no sandbox was available."""
    result = CheckResult(exercise, "", 0.0, points, note=ended.explanation)
    rendered = render_verdict(result, submission)
    return replace(rendered, verdict=replace(rendered.verdict, ended=ended.reason))


def verdict_of(result: CheckResult, submission: str = "") -> Verdict:
    """Return the verdict that a check's result gives, without any tensors.

    The visible and the hidden inputs of a case count as one case.
    """
    cases: dict[str, CaseVerdict] = {}
    scores: dict[str, float] = {}
    for case_result in result.results:
        case = case_result.case
        if case.measure and case.hidden:
            scores |= details(case.measure, case.expected, case_result.answers)
        wrong = [finding for finding in case_result.findings if finding.problem]
        if case.name not in cases or (wrong and not cases[case.name].problem):
            problem, hidden = wrong[0].problem if wrong else "", case.hidden
            answer = "" if hidden else _digest(wrong)
            verdict = CaseVerdict(case.name, case.title, problem, hidden, answer)
            cases[case.name] = verdict
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
    """Return a digest that is equal for equal wrong answers; "" if none is wrong."""
    lines = [f"{f.name}: {_first_line(f.message)}" for f in wrong[:_DIGESTED]]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8] if lines else ""


def _panel(result: CheckResult) -> str:
    """The panel as text, without its title; "" for a check that tried no case."""
    text = as_text(result) if result.results else ""
    return textwrap.dedent(text.partition("\n")[2])


def _error(result: CheckResult) -> str:
    """The first line of the error that ended all cases; "" if no error did."""
    messages = {
        _first_line(finding.message) if finding.problem == RAISED else ""
        for case_result in result.results
        for finding in case_result.findings
    }
    return messages.pop() if len(messages) == 1 else ""


def _first_line(message: str) -> str:
    return _shorten((message.splitlines() or [""])[0], _MAX_CHARACTERS)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."


def evidence_of(result: CaseResult) -> CaseEvidence:
    """Describe the random inputs of a case, and how the answers to them compare."""
    case = result.case
    inputs = _describe_inputs(case.inputs)
    comparisons = tuple(map(_comparison, result.findings))
    return CaseEvidence(
        case.title, case.aspect, case.hidden, result.credit, inputs, comparisons
    )


def _describe_inputs(inputs: Mapping[str, Value]) -> dict[str, str]:
    """Map a description of each input to its value as text.

    If there are several calls, it says for which one: "0/x" becomes "x, at first".
    """
    # This input is not random: it describes the calls, with a label for each.
    request = json.loads(str(inputs[KEY])) if KEY in inputs else {}
    labels: dict[str, str] = {}
    for part in request.get("parts", ()):
        labels.setdefault(part.get("inputs", ""), part.get("label", ""))
    texts: dict[str, str] = {}
    for name, value in inputs.items():
        prefix, slash, rest = name.partition("/")
        label = labels.get(f"{prefix}{slash}")
        described = f"{rest}, {label}" if slash and label else name
        if name != KEY:
            texts[name if described in texts else described] = value_as_text(value)
    return texts


def _comparison(finding: Finding) -> ResultComparison:
    """Describe one expected result and the answer as texts."""
    raised, expected = finding.problem == RAISED, value_as_text(finding.expected)
    answer = "an error" if raised else value_as_text(finding.actual)
    message = _clip(finding.message) if finding.problem else ""
    return ResultComparison(printable(finding.name), expected, answer, message)


def value_as_text(value: Value | None) -> str:
    """A value as text: a tensor as its dtype, shape and entries, a text as it is."""
    if value is None:
        return ""
    if isinstance(value, Other):
        return printable(f"of type {value.kind}")
    if not isinstance(value, torch.Tensor):
        return _clip(value)
    plain = value.float() if value.dtype == torch.bfloat16 else value
    numbers = np.array2string(
        plain.numpy(), precision=6, threshold=_ENTRIES, edgeitems=2, max_line_width=88
    )
    return _clip(f"{dtype_of(value)}, shape {tuple(value.shape)}\n{numbers}")


def _clip(text: str) -> str:
    """Limit the length of a text, and make each of its lines printable."""
    return "\n".join(map(printable, _shorten(text, _VALUE_CHARACTERS).splitlines()))
