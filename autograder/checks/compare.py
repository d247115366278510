"""Compare answers with the references, and say what they earn."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import torch

from autograder.checks import ready_made, renamed
from autograder.checks.exercise import (
    AFTERWARDS,
    CALLED,
    RAISED,
    Answers,
    Case,
    CaseResult,
    CheckResult,
    Exercise,
    Finding,
    Other,
    Value,
)
from autograder.checks.forms import dtype_of
from autograder.checks.language import _, translatable, translate
from autograder.checks.measures import credit, find, measure_answers, remark
from autograder.checks.naming import diagnose
from autograder.checks.points import RESULTS, earned
from autograder.checks.properties import KEY, by_hand
from autograder.checks.values import differing, same_tensors, same_values, worst
from autograder.checks.words import PARTLY

_NONE = "None"  # the text that a probe reports for an answer that is None
READY_MADE = translatable(
    "`{name}` is what this exercise asks you to write: what it computes does not count."
)
NAMED_SHAPE = translatable("expected shape {names} = {expected}, yours {own}")
UNSEEN = translatable("made by hand, so its place was not looked at")


def judge(
    exercise: Exercise, cases: Sequence[Case], ask: Callable[[Case], Answers]
) -> CheckResult:
    """Judge the answers that ``ask`` returns for each case, and diagnose wrong ones.

    Cases of the same name are one case with different random inputs. It passes only
    if all of them do.
    """
    answers = collect_answers(exercise, cases, ask)
    return judge_answers(exercise, renamed.ask_by_position(exercise, answers, ask))


def collect_answers(
    exercise: Exercise, cases: Sequence[Case], ask: Callable[[Case], Answers]
) -> dict[Case, Answers]:
    """Collect the answers to each case, and watch for calls of ready-made functions.

    Ready-made functions already do what the student should write. Watching is slow,
    so it begins with the smallest case, and ends once a case passes or calls one.
    """
    watched = [case for case in cases if exercise.ready_made and _can_be_watched(case)]
    first = min(watched, key=_size, default=None)
    answers = dict[Case, Answers]()
    for case in sorted(cases, key=lambda case: case is not first):
        if case not in watched:
            answers[case] = ask(case)
            continue
        listing = ready_made.listing(exercise.ready_made)
        case_answers = ask(replace(case, inputs={**case.inputs, **listing}))
        answers[case] = case_answers
        called = ready_made.reported(case_answers, exercise.ready_made)
        if called or compare(case, case_answers).passed:
            watched = []
    return {case: answers[case] for case in cases}


def _can_be_watched(case: Case) -> bool:
    """Return whether calls of ready-made functions can be watched for in a case."""
    ordinary = not (case.open or case.measure or KEY in case.inputs)
    return ordinary and case.aspect in RESULTS


def _size(case: Case) -> int:
    """Count the numbers and letters of a case's inputs."""
    return sum(
        value.numel() if isinstance(value, torch.Tensor) else len(str(value))
        for value in case.inputs.values()
    )


def judge_answers(exercise: Exercise, answers: Mapping[Case, Answers]) -> CheckResult:
    """Compare a student's answers with the expected ones, and give points.

    If some are wrong, the result also names the mistake that explains them, if known.
    """
    names = exercise.ready_made
    results = tuple(
        compare(case, ready_made.with_listed_only(case_answers, names))
        for case, case_answers in answers.items()
    )
    failed = any(not result.passed for result in results)
    mistake, sure = diagnose(exercise, results) if failed else (None, False)
    results, renaming = renamed.note(results)
    if renaming and not failed:
        mistake, sure = renaming, True
    aspects = earned(exercise, results)
    points = round(sum(points for points, _ in aspects.values()), 2)
    return CheckResult(
        exercise.name, exercise.title, points, exercise.points, results, mistake, sure,
        aspects=aspects,
    )  # fmt: skip


def compare(case: Case, answers: Answers) -> CaseResult:
    """Compare the answers to a case with the expected ones.

    If a function was called that already does the task, the case earns nothing.
    """
    result = _compare_case(case, answers)
    if CALLED not in answers:
        return result
    name = str(answers[CALLED]).partition(ready_made.BETWEEN)[0]
    called = Finding(CALLED, CALLED, _(READY_MADE).format(name=name), actual=name)
    return replace(result, findings=(called, *result.findings), credit=0.0)


def _compare_case(case: Case, answers: Answers) -> CaseResult:
    """Compare the answers to a case as if no ready-made function had been called.

    If dropout is made by hand, a case on its place passes, marked as not looked at.
    """
    if RAISED in answers and RAISED not in case.expected:
        message = _short(str(answers[RAISED]))
        return CaseResult(case, answers, (Finding("", RAISED, message),), 0.0)
    if by_hand(case.inputs, answers):
        finding = Finding("dropout", "", _(UNSEEN))
        return CaseResult(case, answers, (finding,), 1.0, looked_at=False)
    if case.measure:
        return _compare_measure(case, answers)
    findings = tuple(
        _finding(name, expected, answers.get(name), case)
        for name, expected in case.expected.items()
    )
    right = all(not finding.problem for finding in findings)
    return CaseResult(case, answers, findings, float(right))


def _compare_measure(case: Case, answers: Answers) -> CaseResult:
    """Score answers, such as a trained model's, by the scale of the case's measure."""
    value, reason = measure_answers(case.measure, case.expected, answers)
    share = credit(value, case.scale)
    name = case.measure.replace("_", " ")
    message = reason or _worth(case, value, answers)
    problem = "" if share >= 1.0 else PARTLY if share > 0.0 else "values"
    finding = Finding(name, problem, message)
    return CaseResult(case, answers, (finding,), share)


def _worth(case: Case, value: float, answers: Answers) -> str:
    """Say how large a measured value is, and what it is worth."""
    comment = remark(case.measure, case.expected, answers)
    if find(case.measure).has_own_scale and comment:
        return comment
    return f"{value:.4g}; {_marks(case.scale)}. {comment}".strip()


def _marks(scale: Sequence[tuple[float, float]]) -> str:  # (value, share) pairs
    """Say which measured value earns all points, and from which on there is a bonus."""
    enough = next(value for value, share in scale if share >= 1.0)
    message = _("all points from {enough:.4g} on").format(enough=enough)
    if scale[-1][1] > 1.0:
        most = max(value for value, share in scale if share <= 1.0)
        message = _("{full}, a bonus above {most:.4g}").format(full=message, most=most)
    return message


def _finding(name: str, expected: Value, actual: Value | None, case: Case) -> Finding:
    """Compare one answer with the expected one, and describe a problem if any."""
    atol, rtol = case.atol, case.rtol
    original = case.inputs.get(name.removesuffix(AFTERWARDS), "")
    if name.endswith(AFTERWARDS) and same_tensors(expected, original, atol, rtol):
        # An input that must not change is compared with itself, without tolerance.
        expected, atol, rtol = original, 0.0, 0.0
    problem, message = _problem(expected, actual, atol, rtol)
    if problem == "shape" and name in case.shapes:
        sizes = {"expected": _shape(expected), "own": _shape(actual)}
        message = _(NAMED_SHAPE).format(names=f"({case.shapes[name]})", **sizes)
    return Finding(name, problem, message, expected, actual)


def _shape(value: Value | None) -> str:
    return str(tuple(value.shape)) if isinstance(value, torch.Tensor) else ""


def _problem(
    expected: Value, actual: Value | None, atol: float, rtol: float
) -> tuple[str, str | Callable[[], str]]:
    """Return the kind of an answer's problem, as in `Finding`, and the message on it.

    Both are "" if there is none. The message may be a function that returns it.
    """
    if actual is None:
        return "missing", _("was not returned")
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return _text_problem(expected, actual)
    if expected.shape != actual.shape:
        message = _("expected shape {expected}, yours {own}")
        return "shape", message.format(expected=_shape(expected), own=_shape(actual))
    if expected.dtype != actual.dtype:
        return "dtype", _other_dtype(expected, actual)
    if not same_values(expected, actual, atol, rtol):
        bad = (~torch.isfinite(actual)) & torch.isfinite(expected)
        if bad.any():
            message = _("{count} of {all} numbers are NaN or infinite")
            return "finite", message.format(count=int(bad.sum()), all=actual.numel())
        return "values", partial(_difference, expected, actual, atol, rtol)
    return "", ""


def _text_problem(
    expected: Value, actual: Value
) -> tuple[str, str | Callable[[], str]]:
    """Like `_problem`, for two values of which at least one is not a tensor."""
    if type(expected) is not type(actual):
        message = _("expected {expected}, yours is {own}")
        short = isinstance(actual, str) and len(actual) < 40
        description = repr(actual) if short and actual != _NONE else _kind(actual)
        return "type", message.format(expected=_kind(expected), own=description)
    if expected != actual:
        return "values", partial(_other_text, expected, actual)
    return "", ""


def _other_dtype(expected: torch.Tensor, actual: torch.Tensor) -> str:
    """Name both dtypes; for a number that should not be a float, both numbers."""
    if expected.dim() == 0 and not expected.is_floating_point():
        return _expected(str(expected.item()), str(actual.item()))
    return _expected(dtype_of(expected), dtype_of(actual))


def _other_text(expected: Value, actual: Value) -> str:
    """Quote both texts, or of two JSON lists the first items that differ."""
    message = _expected(_in_words(expected), _in_words(actual))
    try:
        lists = [json.loads(str(text)) for text in (expected, actual)]
        if not all(isinstance(parsed, list) for parsed in lists):
            return message
        pairs = list(itertools.zip_longest(*lists, fillvalue=_NO_ITEM))
        wrong = [place for place, (a, b) in enumerate(pairs) if a != b]
        if not wrong or len(pairs) < 2:
            return message
        right, actual_item = (
            _("none") if item is _NO_ITEM else _short(repr(item))
            for item in pairs[wrong[0]]
        )
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return message
    pair = _expected(right, actual_item)
    message = _("{count} of {all} items differ, first at [{place}]: {pair}")
    return message.format(count=len(wrong), all=len(pairs), place=wrong[0], pair=pair)


def _expected(expected: str, actual: str) -> str:
    return _("expected {expected}, yours {own}").format(expected=expected, own=actual)


def _in_words(value: Value) -> str:
    return _short(repr(translate(value) if isinstance(value, str) else value))


_NO_ITEM = object()


def _short(text: str) -> str:
    """Cut a text to 600 characters, since student code may produce long ones."""
    return text if len(text) <= 600 else f"{text[:600]} ..."


def _kind(value: Value) -> str:
    if isinstance(value, Other):
        return _("of type {kind}").format(kind=value.kind)
    if value == _NONE:
        return _NONE
    return _("text") if isinstance(value, str) else _("a tensor")


def _difference(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> str:
    """Say how many entries differ, and show the pair that differs most."""
    wrong = differing(expected, actual, atol, rtol)
    if expected.dim() == 0:
        return _distinguish(expected, actual)
    place = worst(expected, actual, wrong)
    pair = _distinguish(expected[place], actual[place])
    message = _("{count} of {all} numbers differ, most at {place}: {pair}")
    if expected.dtype == torch.bool:
        message = _("{count} of {all} entries differ, first at {place}: {pair}")
    count = int(wrong.sum())
    return message.format(count=count, all=wrong.numel(), place=list(place), pair=pair)


def _distinguish(expected: torch.Tensor, actual: torch.Tensor) -> str:
    """Return a message with the numbers of two tensors that have one entry each.

    Floats are written with enough digits to show how they differ.
    """
    pair = expected.item(), actual.item()
    texts = [str(item) for item in pair]
    for digits in range(4, 17) if expected.is_floating_point() else ():
        # With five digits or more, keep trailing zeros: 2.3270 beside 2.3273.
        form = f"{'#' if digits > 4 else ''}.{digits}g"
        texts = [f"{item:{form}}".removesuffix(".") for item in pair]
        if texts[0] != texts[1]:
            break
    return _expected(*texts)
