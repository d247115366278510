"""Verdict records: what is kept of a judged check, as plain JSON values."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.student.exercise import RAISED, Verdict
from autograder.student.measures import details
from autograder.student.panel import as_text, by_aspect


@dataclass(frozen=True)
class CaseRecord:
    """How one case went; ``problem`` is "" when all its drawings passed."""

    name: str
    title: str
    problem: str
    hidden: bool


@dataclass(frozen=True)
class Record:
    """A judged check: points of ``max_points``, and which mistake cost the others.

    ``scores`` are measures of answers that are better or worse, on fresh inputs.
    ``decided`` is "outside" (by the judge), "person" (nobody yet: the judge has failed
    over it, and a person decides) or "inside" (an assert in the box);
    ``submission`` says whose check it was.
    ``given`` are the exercises that it builds on and whose course version stood in
    place of the student's failed one.
    ``aspects`` are the points earned and possible, by aspect; ``panel`` is what the
    student sees below the line with the points, as text.
    """

    exercise: str
    points: float
    max_points: float
    mistake: str = ""
    says: str = ""
    note: str = ""
    decided: str = "outside"
    seconds: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    cases: tuple[CaseRecord, ...] = field(default_factory=tuple)
    submission: str = ""
    given: tuple[str, ...] = ()
    aspects: dict[str, list[float]] = field(default_factory=dict)
    panel: str = ""

    @property
    def lost(self) -> str:
        """Where points were lost, by aspect; "" if none was, or there is only one."""
        return "" if self.points >= self.max_points else by_aspect(self.aspects)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        cases = tuple(CaseRecord(**case) for case in data["cases"])
        given = tuple(data.get("given", ()))
        return cls(**{**data, "cases": cases, "given": given})


def of_verdict(verdict: Verdict, submission: str = "", seconds: float = 0.0) -> Record:
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
        verdict.note or _error(verdict), seconds=seconds, scores=scores,
        cases=tuple(cases.values()), submission=submission,
        aspects={name: list(points) for name, points in verdict.aspects.items()},
        panel=_panel(verdict),
    )  # fmt: skip


def _panel(verdict: Verdict) -> str:
    """The panel as text, without its title; "" for a check that tried no case."""
    text = as_text(verdict) if verdict.results else ""
    return textwrap.dedent(text.partition("\n")[2])


def _error(verdict: Verdict) -> str:
    """The first line of the error that all cases ended in, if they did."""
    messages = {
        finding.message.split("\n")[0] if finding.problem == RAISED else ""
        for result in verdict.results
        for finding in result.findings
    }
    return messages.pop() if len(messages) == 1 else ""
