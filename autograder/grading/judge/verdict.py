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

    ``answer`` is a digest, which is the same for equal wrong answers. It is "" for
    correct answers, and for hidden cases, whose inputs differ between submissions.
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

    ``mistake`` names the recognised mistake, and ``says`` tells students about it.
    ``scores`` maps the names of measures, such as a trained model's accuracy, to their
    values for the answers to fresh inputs; it is {} where nothing is measured.
    ``decided`` is "outside" (by the judge), "person" (the judge has failed, and a
    person has yet to decide) or "inside" (by an assert in the sandbox).
    ``submission`` identifies the submission.
    ``ended`` is the reason why answers are missing, which ``note`` or ``says`` puts in
    words. It is None if none are missing, and in records of older versions.
    ``given`` are the exercises that this one builds on and in which the course's
    solution replaced the student's failed one.
    ``aspects`` are the points earned and possible, by aspect; ``panel`` is the text
    that the student sees below the line with the points.
    ``fault`` tells instructors what failed in the grader, if a person has to decide.

    Texts may quote a student, and go from here into logs, tables and requests. So each
    is one printable line, except for the panel, which has several.
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
    """One set of inputs drawn for a case, and how the answers to it compare, as texts.

    ``credit`` is the share of the case's points that the answers earn. Inputs of a
    ``hidden`` case were drawn for grading, and may serve for other students as
    well.
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
