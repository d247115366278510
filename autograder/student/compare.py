"""Answers against a reference, in order; and which mistake a wrong one is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch

from autograder.student.exercise import (
    RAISED,
    Answers,
    Case,
    CaseResult,
    Exercise,
    Finding,
    Mistake,
    Other,
    Value,
    Verdict,
)
from autograder.student.measures import credit, measured, remark
from autograder.student.properties import by_hand

# How much an aspect weighs where an exercise does not say otherwise.
WEIGHTS = {"values": 6.0, "calls": 1.5, "learning": 1.5, "mode": 1.5, "errors": 1.0}


def judge(
    exercise: Exercise, cases: Sequence[Case], ask: Callable[[Case], Answers]
) -> Verdict:
    """The verdict on the answers that ``ask`` brings for each case.

    Cases that share a name are drawings of one case: it counts once, and only if all
    of its drawings pass, so that answers learnt by heart for one drawing earn nothing.
    A measure's scale may end above 1: a bonus.
    """
    results = tuple(compare(case, ask(case)) for case in cases)
    credits: dict[str, float] = {}
    for result in results:
        name = result.case.name
        credits[name] = min(result.credit, credits.get(name, math.inf))
    aspects = earned(exercise, {r.case.name: r.case.aspect for r in results}, credits)
    points = round(sum(points for points, _ in aspects.values()), 2)
    failed = any(not result.passed for result in results)
    mistake, sure = diagnose(exercise, results) if failed else (None, False)
    return Verdict(
        exercise.name, exercise.title, points, exercise.points, results, mistake, sure,
        aspects=aspects,
    )  # fmt: skip


def earned(
    exercise: Exercise, aspects: Mapping[str, str], credits: Mapping[str, float]
) -> dict[str, tuple[float, float]]:
    """By aspect, the points earned and those that there are.

    An exercise's points are divided over the aspects that its cases have, by weight;
    within an aspect, cases count equally.

    Args:
        aspects: the aspect of each case, by name.
        credits: the share that each case earns, by name.
    """
    present = list(dict.fromkeys(aspects.values()))
    weights = {a: exercise.aspects.get(a, WEIGHTS.get(a, 1.0)) for a in present}
    most = {a: exercise.points * w / sum(weights.values()) for a, w in weights.items()}
    shares = {
        a: [credits[case] for case, own in aspects.items() if own == a] for a in present
    }
    return {a: (most[a] * sum(shares[a]) / len(shares[a]), most[a]) for a in present}


def compare(case: Case, answers: Answers) -> CaseResult:
    """What is found in ``answers``, in the order of the expected names."""
    if RAISED in answers and RAISED not in case.expected:
        message = _short(str(answers[RAISED]))
        return CaseResult(case, answers, (Finding("", RAISED, message),), 0.0)
    if by_hand(case.inputs, answers):
        return CaseResult(case, answers, (), 1.0)
    if case.measure:
        return _measured(case, answers)
    findings = tuple(
        _finding(name, expected, answers.get(name), case)
        for name, expected in case.expected.items()
    )
    right = all(not finding.problem for finding in findings)
    return CaseResult(case, answers, findings, float(right))


def _measured(case: Case, answers: Answers) -> CaseResult:
    value, reason = measured(case.measure, case.expected, answers)
    share = credit(value, case.scale)
    name = case.measure.replace("_", " ")
    message = reason or f"{value:.4g}; {_marks(case.scale)}"
    if share < 1.0 and not reason:
        message = f"{message}. {remark(case.measure, case.expected, answers)}".strip()
    finding = Finding(name, "" if share >= 1.0 else "values", message)
    return CaseResult(case, answers, (finding,), share)


def _marks(scale: Sequence[tuple[float, float]]) -> str:
    enough = next(value for value, share in scale if share >= 1.0)
    says = f"all points from {enough:.4g} on"
    if scale[-1][1] > 1.0:
        most = max(value for value, share in scale if share <= 1.0)
        says += f", a bonus above {most:.4g}"
    return says


def _finding(name: str, expected: Value, actual: Value | None, case: Case) -> Finding:
    problem, message = _problem(expected, actual, case.atol, case.rtol)
    return Finding(name, problem, message, expected, actual)


def _problem(
    expected: Value, actual: Value | None, atol: float, rtol: float
) -> tuple[str, str]:
    if actual is None:
        return "missing", "was not returned"
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return _text_problem(expected, actual)
    if expected.shape != actual.shape:
        return "shape", f"expected shape {_shape(expected)}, yours {_shape(actual)}"
    if expected.dtype != actual.dtype:
        return "dtype", f"expected {_dtype(expected)}, yours {_dtype(actual)}"
    if not same_values(expected, actual, atol, rtol):
        bad = (~torch.isfinite(actual)) & torch.isfinite(expected)
        if bad.any():
            count = int(bad.sum())
            return "finite", f"{count} of {actual.numel()} numbers are NaN or infinite"
        return "values", _difference(expected, actual, atol, rtol)
    return "", ""


def _text_problem(expected: Value, actual: Value) -> tuple[str, str]:
    if type(expected) is not type(actual):
        return "type", f"expected {_kind(expected)}, yours is {_kind(actual)}"
    if expected != actual:
        return (
            "values",
            f"expected {_short(repr(expected))}, yours {_short(repr(actual))}",
        )
    return "", ""


def _short(text: str) -> str:
    """At most 600 characters: what a student's code says may be long."""
    return text if len(text) <= 600 else f"{text[:600]} ..."


def _kind(value: Value) -> str:
    if isinstance(value, Other):
        return f"of type {value.kind}"
    return "text" if isinstance(value, str) else "a tensor"


def _shape(tensor: torch.Tensor) -> str:
    return str(tuple(tensor.shape))


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def same_values(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> bool:
    """Whether tensors of equal shape agree; NaN agrees with NaN, for mistakes' sake."""
    return not differing(expected, actual, atol, rtol).any()


def differing(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> torch.Tensor:
    """Boolean tensor: where two tensors of equal shape disagree; integers exactly."""
    if not expected.is_floating_point():
        return expected != actual
    a, b = actual.to(torch.float64), expected.to(torch.float64)
    return ~torch.isclose(a, b, atol=atol, rtol=rtol, equal_nan=True)


def _difference(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> str:
    wrong = differing(expected, actual, atol, rtol)
    if expected.dim() == 0:
        return f"expected {_number(expected)}, yours {_number(actual)}"
    gap = (actual.to(torch.float64) - expected.to(torch.float64)).abs().nan_to_num()
    worst = int((gap * wrong).argmax())
    # NumPy's, since PyTorch's imports half a second of symbolic algebra.
    place = [int(i) for i in np.unravel_index(worst, gap.shape)]
    pair = (_number(t.flatten()[worst]) for t in (expected, actual))
    return (
        f"{int(wrong.sum())} of {wrong.numel()} numbers differ, most at {place}: "
        "expected {}, yours {}".format(*pair)
    )


def _number(value: torch.Tensor) -> str:
    item = value.item()
    return f"{item:.4g}" if isinstance(item, float) else str(item)


def blame(verdict: Verdict, exercise: Exercise, failed: Mapping[str, str]) -> Verdict:
    """The verdict, explained by an earlier failure where nothing better explains it.

    Args:
        failed: titles of the exercises that are known to fail, by name.
    """
    names = [name for name in exercise.builds_on if name in failed]
    if verdict.passed or verdict.mistake or not names or not verdict.results:
        return verdict
    says = f"This builds on *{failed[names[0]]}*, which fails its own check."
    asks = (
        "What does that check say? Mend it first, then look here again. Grading tries "
        "this exercise once more with a right version of the other."
    )
    # Whether it really follows only shows when the earlier one is right.
    return replace(verdict, mistake=Mistake("follows", says, asks), sure=False)


def diagnose(
    exercise: Exercise, results: Sequence[CaseResult]
) -> tuple[Mistake | None, bool]:
    """The named mistake whose answers these are, and whether it explains all of them.

    Cases that hold no mistakes' answers (drawn afresh for grading) say nothing here. A
    mistake is sure if it, and no other, gives every answer of every case. Where only a
    general property is wrong, what was seen is said. Otherwise a mistake that gives all
    wrong answers is likely, if they are not errors only: unrelated code often fails
    with the same words.
    """
    known = [result for result in results if result.case.mistakes]
    found = {name: _explained(known, name) for name in exercise.mistakes}
    whole = [name for name, (whole, _) in found.items() if whole]
    if whole:
        return exercise.mistakes[whole[0]], len(whole) == 1
    seen = symptom(results)
    if seen:
        return seen, True
    likely = [name for name, (_, share) in found.items() if share == 1.0]
    return (exercise.mistakes[likely[0]] if likely else None), False


def symptom(results: Sequence[CaseResult]) -> Mistake | None:
    """What was seen, where values are right and only a general property is not."""
    wrong = [result for result in results if not result.passed]
    if any(not result.case.says for result in wrong):
        return None
    case, findings = wrong[0].case, wrong[0].findings
    if findings[0].problem == RAISED:
        says = f"All else is right, but here your code stops: {case.title}."
        return Mistake("symptom", says, case.asks)
    if findings[0].problem and len(findings) > 1 and case.says.startswith("Right"):
        return None  # not even right at first
    first = next(finding for finding in findings if finding.problem)
    name, _, rest = first.name.partition(", ")
    label = name if name.startswith("gradient") else rest.partition(" (")[0]
    return Mistake("symptom", case.says.format(label=label), case.asks)


def gives_all(results: Sequence[CaseResult], mistake: str) -> bool:
    """Whether a mistake gives all answers to the cases that hold mistakes' answers."""
    return _explained([r for r in results if r.case.mistakes], mistake)[0]


def _explained(results: Sequence[CaseResult], mistake: str) -> tuple[bool, float]:
    """Whether a mistake gives all answers; its share of the wrong ones."""
    whole, wrong, explained, numbers = True, 0, 0, False
    for result in results:
        predicted = result.case.mistakes.get(mistake, {})
        for finding in result.findings:
            if not finding.problem and not whole:
                continue  # it can only speak against `whole`
            key = RAISED if finding.problem == RAISED else finding.name
            same = _same_answer(
                predicted.get(key), result.answers.get(key), result.case
            )
            whole &= same
            wrong += bool(finding.problem)
            explained += bool(finding.problem) and same
            numbers |= bool(finding.problem) and same and key != RAISED
    return whole and wrong > 0, explained / wrong if numbers and wrong else 0.0


def _same_answer(predicted: Value | None, actual: Value | None, case: Case) -> bool:
    if isinstance(predicted, str) and isinstance(actual, str):
        # Only the first line: the rest of an error points into the student's code.
        return predicted.split("\n")[0] == actual.split("\n")[0]
    if not isinstance(predicted, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return predicted == actual
    if predicted.shape != actual.shape or predicted.dtype != actual.dtype:
        return False
    return same_values(predicted, actual, case.atol, case.rtol)
