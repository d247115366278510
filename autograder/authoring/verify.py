"""Mutation testing of the checks: mutants caught, accepted solutions accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autograder.authoring.confined import observe_answer
from autograder.authoring.specification import Mutant, Specification, Way
from autograder.authoring.variants import build_object
from autograder.checks.compare import judge
from autograder.checks.exercise import Case, CheckResult, Exercise
from autograder.checks.naming import PATTERN
from autograder.checks.panel import as_text


@dataclass
class Validity:
    """What the checks of one exercise make of its mutants and accepted solutions."""

    name: str
    mutants: int = 0
    caught: int = 0
    named: int = 0
    solutions: int = 0
    accepted: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.name:<44} mutants caught {self.caught:>3}/{self.mutants:<3} · "
            f"named {self.named:>3}/{self.mutants:<3} · "
            f"solutions accepted {self.accepted:>3}/{self.solutions}"
        )


def measure(
    specifications: Iterable[Specification], drawings: Sequence[Mapping[str, Exercise]]
) -> Iterator[Validity]:
    """One row an exercise, on the cases of several drawings, each by exercise."""
    for specification in specifications:
        yield _measure(specification, [each[specification.name] for each in drawings])


def _measure(specification: Specification, drawn: list[Exercise]) -> Validity:
    row = Validity(specification.name)
    for mutant in specification.mutants:
        for way in mutant.ways:
            row.mutants += 1
            found = _verdict_on(specification, mutant, way, drawn)
            name = found.mistake.name if found.mistake else None
            row.caught += not found.passed
            row.named += name == mutant.name
            if found.passed:
                row.failures.append(f"mutant {way.name} gets full points")
            elif name != mutant.name:
                row.failures.append(f"mutant {way.name} is named {name}")
    for accepted in specification.accepted:
        row.solutions += 1
        made = build_object(specification, accepted)
        found = verdict(specification, made, drawn)
        row.accepted += found.passed
        if not found.passed:
            row.failures.append(
                f"solution {accepted.name} is refused: {as_text(found)}"
            )
    return row


def _verdict_on(
    specification: Specification, mutant: Mutant, way: Way, drawn: list[Exercise]
) -> CheckResult:
    """The verdict on a way of a mutant over all drawings.

    Cases that hold mistakes' answers come first: what fails there, and is surely this
    mutant, is so whatever the others say (see `diagnose`), and they are not run. Of a
    first way, the build has made the answers, so that what is wrong in a case of a
    property, of which no more is kept, is known; such cases are the longest.
    """
    first = way is mutant.ways[0]
    for known in (_has_answers, _has_any) if first else (_has_any,):
        telling = [
            replace(e, cases=tuple(c for c in e.cases if known(c, mutant.name)))
            for e in drawn
        ]
        found = verdict(specification, build_object(specification, way), telling)
        if found.sure and found.mistake and found.mistake.name == mutant.name:
            return found
    return verdict(specification, build_object(specification, way), drawn)


def _has_any(case: Case, _mistake: str) -> bool:
    return bool(case.mistakes)


def _has_answers(case: Case, mistake: str) -> bool:
    return PATTERN not in case.mistakes.get(mistake, {PATTERN: ""})


def total(rows: Iterable[Validity]) -> Validity:
    """The sum of rows."""
    rows = list(rows)
    names = ("mutants", "caught", "named", "solutions", "accepted")
    sums = {name: sum(getattr(row, name) for row in rows) for name in names}
    return Validity("total", **sums)


def verdict(
    specification: Specification, answer: object, exercises: Iterable[Exercise]
) -> CheckResult:
    """The verdict on an object over the cases of several drawings of one exercise."""
    exercises = list(exercises)
    cases = [case for exercise in exercises for case in exercise.cases]
    return judge(
        exercises[0],
        cases,
        lambda case: observe_answer(specification, answer, case.inputs),
    )
