"""Mutation testing: do the checks catch all mutants, and accept correct solutions?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autograder.authoring.confined import observe_answer
from autograder.authoring.specification import Mutant, Specification, Variant
from autograder.authoring.variants import build_object, namespace, run_source
from autograder.checks.compare import judge
from autograder.checks.exercise import Case, CheckResult, Exercise
from autograder.checks.naming import PATTERN
from autograder.checks.panel import as_text
from autograder.course.errors import CourseError
from autograder.root import PACKAGE


@dataclass
class Validity:
    """How the checks of one exercise judge its mutants and accepted solutions.

    Args:
        mutants: the number of wrong programs, counting each variant of a mutant.
        caught: how many of them do not pass.
        named: for how many of them a check recognises the mistake.
        solutions: the number of correct solutions in a different style.
        accepted: how many of them pass.
        failures: a sentence on each program that is judged wrongly.
    """

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
    """Measure the checks of each exercise on the cases of several drawings.

    A drawing holds exercises by name, with the cases drawn from one seed.
    """
    for specification in specifications:
        exercises = [drawing[specification.name] for drawing in drawings]
        yield _measure(specification, exercises)


def _measure(specification: Specification, exercises: list[Exercise]) -> Validity:
    """Run all mutants and accepted solutions of an exercise against its checks."""
    row = Validity(specification.name)
    for mutant in specification.mutants:
        for variant in mutant.variants:
            row.mutants += 1
            verdict = _judge_variant(specification, mutant, variant, exercises)
            mistake = verdict.mistake
            name = mistake.name if mistake else None
            row.caught += not verdict.passed
            row.named += name == mutant.name
            if verdict.passed:
                row.failures.append(f"mutant {variant.name} gets full points")
            elif name != mutant.name:
                shown = f"named {name}: {mistake.says}" if mistake else "not named"
                row.failures.append(f"mutant {variant.name} is {shown}")
    for accepted in specification.accepted:
        row.solutions += 1
        answer = build_object(specification, accepted)
        verdict = judge_drawings(specification, answer, exercises)
        row.accepted += verdict.passed
        if not verdict.passed:
            row.failures.append(
                f"solution {accepted.name} is refused: {as_text(verdict)}"
            )
    return row


def _judge_variant(
    specification: Specification,
    mutant: Mutant,
    variant: Variant,
    exercises: list[Exercise],
) -> CheckResult:
    """Judge a variant of a mutant on the cases drawn from several seeds.

    Cases that take long are left out once the verdict is certain.

    Args:
        exercises: the exercise with the cases from each of the seeds.
    """
    # The few cases that store its answers usually settle it.
    for is_telling in (_has_answers, _has_any):
        telling = [
            replace(e, cases=tuple(c for c in e.cases if is_telling(c, variant.name)))
            for e in exercises
        ]
        verdict = judge_drawings(
            specification, build_object(specification, variant), telling
        )
        if verdict.sure and verdict.mistake and verdict.mistake.name == mutant.name:
            return verdict
    return judge_drawings(
        specification, build_object(specification, variant), exercises
    )


def _has_any(case: Case, _variant: str) -> bool:
    """Whether a case stores anything about mistakes."""
    return bool(case.mistakes)


def _has_answers(case: Case, variant: str) -> bool:
    """Whether a case stores the complete answers of a variant."""
    return PATTERN not in case.mistakes.get(variant, {PATTERN: ""})


def total(rows: Iterable[Validity]) -> Validity:
    """Add up the counts of all rows."""
    rows = list(rows)
    names = ("mutants", "caught", "named", "solutions", "accepted")
    sums = {name: sum(getattr(row, name) for row in rows) for name in names}
    return Validity("total", **sums)


def judge_drawings(
    specification: Specification, answer: object, exercises: Iterable[Exercise]
) -> CheckResult:
    """Judge an object on an exercise's cases, drawn from several seeds.

    ``exercises`` holds the exercise with the cases of each seed.
    """
    exercises = list(exercises)
    cases = [case for exercise in exercises for case in exercise.cases]
    return judge(
        exercises[0],
        cases,
        lambda case: observe_answer(specification, answer, case.inputs),
    )


def refuse_wrong_scores(
    exercise: Specification, drawings: list[Exercise], stub: str
) -> None:
    """Raise a CourseError unless the solution scores all points, and the stub none.

    Args:
        drawings: the exercise with the cases drawn from each of several seeds.
        stub: the code of its cell as students get it.
    """
    # A trained model is neither exact nor portable: its reference stands in for it.
    trains = any(kind.measure for kind in exercise.cases)
    names = namespace(exercise)
    solution = build_object(exercise) if trains else exercise.answer_in(names)
    full = judge_drawings(exercise, solution, drawings)
    if not full.passed:
        raise CourseError(
            f"{exercise.name}: the solution does not score all points: {as_text(full)}"
        )
    module = sys.modules[f"{PACKAGE}.solutions.{exercise.unit}"]
    blank = exercise.answer_in(run_source(stub, dict(vars(module)), "<release>"))
    points = judge_drawings(exercise, blank, drawings).points
    if points:
        raise CourseError(
            f"{exercise.name}: the blank release scores {points:g} points"
        )
