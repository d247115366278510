"""What is told of a verdict: a record, and the verdict as a page has it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace

from autograder.checks.exercise import RAISED, Exercise, Verdict
from autograder.checks.measures import details
from autograder.checks.panel import as_html, as_text
from autograder.grading.judge.record import CaseRecord, Record
from autograder.sandbox.ending import Ended, EndReason

_LONGEST = 300  # letters of an error's line: a box may send any
FOR_A_PERSON = "This check could not be decided: a person looks at it."


@dataclass(frozen=True)
class Told:
    """A record, and the verdict as HTML."""

    record: Record
    panel: str


def told(
    verdict: Verdict, submission: str, drawn: Mapping[str, str] | None = None
) -> Told:
    """A verdict, as it is shown, on somebody's submission.

    Args:
        drawn: the pictures of its panel, for who has them already.
    """
    return Told(of_verdict(verdict, submission), as_html(verdict, drawn))


def for_a_person(exercise: Exercise, submission: str) -> Told:
    """What is told of a check that nobody has decided: no points yet, and no zero."""
    verdict = Verdict(
        exercise.name, exercise.title, 0.0, exercise.points, note=FOR_A_PERSON
    )
    found = told(verdict, submission)
    return replace(found, record=replace(found.record, decided="person"))


def without_box(exercise: str, points: float, ended: Ended, submission: str) -> Told:
    """What is told of a check for which no box could be had any more, and why."""
    found = told(Verdict(exercise, "", 0.0, points, note=ended.says), submission)
    return replace(found, record=replace(found.record, ended=ended.reason))


def of_verdict(verdict: Verdict, submission: str = "") -> Record:
    """The record of a verdict on a submission, without any of its tensors."""
    cases: dict[str, CaseRecord] = {}
    scores: dict[str, float] = {}
    for result in verdict.results:
        case = result.case
        if case.measure and case.hidden:
            scores |= details(case.measure, case.expected, result.answers)
        wrong = [finding.problem for finding in result.findings if finding.problem]
        if case.name not in cases or (wrong and not cases[case.name].problem):
            cases[case.name] = CaseRecord(
                case.name, case.title, wrong[0] if wrong else "", case.hidden
            )
    return Record(
        verdict.exercise, verdict.points, verdict.max_points,
        verdict.mistake.name if verdict.mistake else "",
        verdict.mistake.says if verdict.mistake else "",
        verdict.note or _error(verdict), scores=scores,
        cases=tuple(cases.values()), submission=submission,
        aspects={name: list(points) for name, points in verdict.aspects.items()},
        panel=_panel(verdict), ended=EndReason.STUB if verdict.unsolved else None,
    )  # fmt: skip


def _panel(verdict: Verdict) -> str:
    """The panel as text, without its title; "" for a check that tried no case."""
    text = as_text(verdict) if verdict.results else ""
    return textwrap.dedent(text.partition("\n")[2])


def _error(verdict: Verdict) -> str:
    """The first line of the error that all cases ended in, if they did."""
    messages = {
        _first_line(finding.message) if finding.problem == RAISED else ""
        for result in verdict.results
        for finding in result.findings
    }
    return messages.pop() if len(messages) == 1 else ""


def _first_line(message: str) -> str:
    line = (message.splitlines() or [""])[0]
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."
