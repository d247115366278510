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
    """The verdict on one case; ``problem`` is "" if it passed for all random inputs.

    ``answer`` identifies a wrong answer: it is the same for equal answers to the same
    inputs. It is "" for correct answers, and for hidden cases, because the inputs of
    these are a submission's own.
    """

    name: str
    title: str
    problem: str
    hidden: bool
    answer: str = ""

    @property
    def sign(self) -> str:
        """A tick, a cross, or the sign of what earns some of its points."""
        return sign(not self.problem, self.problem == PARTLY)


@dataclass(frozen=True)
class Verdict:
    """A decided check: points of ``max_points``, and which mistake cost the others.

    ``scores`` are measures of answers that are better or worse, on fresh inputs.
    ``decided`` is "outside" (by the judge), "person" (nobody yet: the judge has failed
    over it, and a person decides) or "inside" (an assert in the sandbox);
    ``submission`` says whose check it was.
    ``ended`` is why answers are missing, which ``note`` says in words; None for all
    others, and in records of versions that did not say.
    ``given`` are the exercises that it builds on and whose course version stood in
    place of the student's failed one.
    ``aspects`` are the points earned and possible, by aspect; ``panel`` is what the
    student sees below the line with the points, as text.
    ``fault`` is what of ours has failed where nobody has decided: for instructors.

    What it says may be a student's words, and goes from here into logs, tables and
    requests: so each text is one printable line, and the panel has several.
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
        """Whether the exercise is a stub still."""
        return self.ended is EndReason.STUB

    def __post_init__(self) -> None:
        for name in ("says", "note", "panel", "fault"):
            lines = map(printable, getattr(self, name).split("\n"))
            line_end = "\n" if name == "panel" else " "
            object.__setattr__(self, name, line_end.join(lines))

    @property
    def lost(self) -> str:
        """Where points were lost, by aspect; "" if none was, or there is only one."""
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
    """A result that a case asks for: the expected one, the answer, the difference.

    ``difference`` is "" if they agree. An answer that raised an error has no results.
    """

    name: str
    expected: str
    answer: str
    difference: str


@dataclass(frozen=True)
class CaseEvidence:
    """One random drawing of a case: its inputs, and how the answers compare.

    ``credit`` is the share of the case's points that its answers earn. A ``hidden`` one
    was drawn for grading, and its inputs may serve for other students as well.
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
    """A verdict, the panel that a page shows of it, and its evidence if asked for."""

    verdict: Verdict
    html: str
    evidence: tuple[CaseEvidence, ...] = ()
