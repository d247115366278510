"""A verdict: what goes from the judge to the gradebook, as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.checks.aspects import by_aspect
from autograder.checks.words import PARTLY, sign
from autograder.course.printable import printable
from autograder.sandbox.ending import EndReason


@dataclass(frozen=True)
class CaseVerdict:
    """The verdict on one case; ``problem`` names what is wrong, "" if all is right.

    ``answer`` is a digest, the same for equal wrong answers to a visible case. It
    is "" for correct answers and hidden cases.
    """

    name: str
    title: str
    problem: str
    hidden: bool
    answer: str = ""

    @property
    def sign(self) -> str:
        """A tick, a cross, or the sign for partial credit."""
        return sign(not self.problem, self.problem == PARTLY)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a check: points out of ``max_points``, and why the rest was lost.

    Texts may quote a student, and are made printable.

    Attributes:
        mistake: the name of the recognised mistake.
        says: what students are told about it.
        decided: "outside" (by the judge), "inside" (by an assert in the sandbox) or
            "person" (the judge has failed, and a person has to decide).
        scores: measured values, such as a trained model's accuracy, by name.
        given: exercises in which the course's solution replaced a failed answer.
        aspects: the points earned and possible, by aspect.
        panel: what the student sees below the points, as text.
        ended: why answers are missing, if they are.
        fault: what failed in the grader, for instructors.
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
    cases: tuple[CaseVerdict, ...] = field(default_factory=tuple)
    submission: str = ""
    given: tuple[str, ...] = ()
    aspects: dict[str, list[float]] = field(default_factory=dict)
    panel: str = ""
    ended: EndReason | None = None
    fault: str = ""

    @property
    def is_unsolved(self) -> bool:
        """Whether the exercise is still a stub."""
        return self.ended is EndReason.STUB

    def __post_init__(self) -> None:
        for name in ("says", "note", "panel", "fault"):
            lines = map(printable, getattr(self, name).split("\n"))
            line_end = "\n" if name == "panel" else " "
            object.__setattr__(self, name, line_end.join(lines))

    @property
    def lost(self) -> str:
        """Where points were lost, by aspect (such as gradients), in words.

        "" if no point was lost, or there is only one aspect.
        """
        return "" if self.points >= self.max_points else by_aspect(self.aspects)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        cases = tuple(CaseVerdict(**case) for case in data["cases"])
        replaced = tuple(data.get("given", ()))
        ended = EndReason(data["ended"]) if data.get("ended") else None
        return cls(**{**data, "cases": cases, "given": replaced, "ended": ended})


@dataclass(frozen=True)
class ResultComparison:
    """One result of a case, as texts: what is expected, the answer, the difference.

    ``difference`` is "" if they agree. An answer that raised an error has no results.
    """

    name: str
    expected: str
    answer: str
    difference: str


@dataclass(frozen=True)
class CaseEvidence:
    """One set of inputs drawn for a case, and how the answers compare, as texts.

    ``credit`` is the share of the case's points that the answers earn. The inputs
    of a ``hidden`` case may serve for other students as well.
    """

    title: str
    aspect: str
    hidden: bool
    credit: float
    inputs: Mapping[str, str]
    comparisons: tuple[ResultComparison, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaseEvidence:
        comparisons = tuple(ResultComparison(**pair) for pair in data["comparisons"])
        return cls(**{**data, "comparisons": comparisons})


@dataclass(frozen=True)
class RenderedVerdict:
    """A verdict, its panel for a page as HTML, and, if asked for, its evidence."""

    verdict: Verdict
    html: str
    evidence: tuple[CaseEvidence, ...] = ()
