"""Name several mistakes, each of which affects a different layer of the answers.

The layers are the form of results (a dtype, dimensions of size 1), their
values, and minor aspects such as gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import torch

from autograder.checks.diagnostics.alike import is_gradient, tensor_pairs
from autograder.checks.diagnostics.parts import other_dtype
from autograder.checks.diagnostics.promises import input_change
from autograder.checks.diagnostics.shapes import rank
from autograder.checks.diagnostics.symptoms import SEEN, of_all
from autograder.checks.diagnostics.values import Sign
from autograder.checks.exercise import RAISED, CaseResult, Exercise, Finding, Mistake
from autograder.checks.points import MINOR
from autograder.checks.several import is_telling, join_mistakes
from autograder.checks.values import same_answer, same_tensors

_CHANGED = "input_changed"
_MOST = 3  # mistakes that are named at once
_ROUGH = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2}  # tolerances for rounding

Exact = Callable[[Exercise, Sequence[CaseResult]], Mistake | None]


def name_layers(
    exercise: Exercise, results: Sequence[CaseResult], find_exact: Exact
) -> tuple[Mistake, bool] | None:
    """Name two or three mistakes that affect different layers of the answers.

    Args:
        find_exact: returns the only mistake that gives all results, or None.

    Returns:
        The mistakes, joined into one, and whether they explain all that is wrong;
        None if no combination is known.
    """
    # The layers in turn: forms of results, their values, and minor aspects.
    forms, results = _set_forms_right(results)
    values = _select(results, lambda result, finding: not _is_minor(result, finding))
    in_values = [(r, f) for r in values for f in r.findings]
    named = list(forms)
    if not _all_right(values):
        telling = any(is_telling(finding) for _result, finding in in_values)
        mistake = find_exact(exercise, values) if telling else None
        if mistake is None:
            return None
        named.append(mistake)
    is_complete = True
    for part in _minor_parts(results, named):
        if _all_right(part):
            continue
        mistake = find_exact(exercise, part)
        # A mistake that would show in the values, too, cannot be what is wrong here.
        if mistake is None or any(_predicts(r, f, mistake) for r, f in in_values):
            changed = input_change([result for result in part if not result.passed])
            symptom = of_all(part, has_other_faults=bool(named))
            mistake = Mistake(_CHANGED, *changed) if changed else symptom
        if mistake:
            named.append(mistake)
        else:
            is_complete = False
    named = list({mistake.says: mistake for mistake in named}.values())
    has_exact = any(mistake.name in exercise.mistakes for mistake in named)
    if len(named) < 2 or not (has_exact or len(forms) == len(named)):
        return None
    named.sort(key=lambda mistake: mistake.name != _CHANGED)  # may cause the others
    is_complete &= len(named) <= _MOST and not _contradicted(results, named)
    return join_mistakes(named[:_MOST]), is_complete


def _contradicted(results: Sequence[CaseResult], named: Sequence[Mistake]) -> bool:
    """Whether a general property fails that none of these mistakes would affect."""
    return any(
        result.case.says
        and not result.passed
        and not any(_predicts(result, result.findings[0], m) for m in named)
        for result in results
    )


def _is_minor(result: CaseResult, finding: Finding) -> bool:
    """Whether a finding counts for a minor aspect, rather than for results."""
    return result.case.aspect_of(finding.name) in MINOR


def _select(
    results: Sequence[CaseResult], belongs: Callable[[CaseResult, Finding], bool]
) -> list[CaseResult]:
    """Copy the ordinary cases, with only those findings that ``belongs`` accepts.

    Ordinary cases test neither a general property nor a measured quality.
    """
    parts = []
    for result in results:
        findings = tuple(f for f in result.findings if belongs(result, f))
        if findings and not (result.case.measure or result.case.says):
            right = not any(finding.problem for finding in findings)
            parts.append(replace(result, findings=findings, credit=float(right)))
    return parts


def _all_right(results: Sequence[CaseResult]) -> bool:
    return all(result.passed for result in results)


def _minor_parts(
    results: Sequence[CaseResult], named: Sequence[Mistake]
) -> Iterator[list[CaseResult]]:
    """Yield the cases of each faulty minor aspect, with unexplained findings only.

    Minor aspects are those other than results, like "gradients".
    """

    def is_unexplained(result: CaseResult, finding: Finding) -> bool:
        return _is_minor(result, finding) and not any(
            _predicts(result, finding, mistake) for mistake in named
        )

    unexplained = _select(results, is_unexplained)
    aspects = dict.fromkeys(
        result.case.aspect_of(finding.name)
        for result in unexplained
        for finding in result.findings
        if finding.problem
    )
    for aspect in aspects:
        yield _select(unexplained, partial(_counts_for, aspect))


def _counts_for(aspect: str, result: CaseResult, finding: Finding) -> bool:
    return result.case.aspect_of(finding.name) == aspect


def _predicts(result: CaseResult, finding: Finding, mistake: Mistake) -> bool:
    """Return whether a mistake, in any of its variants, would make this answer wrong.

    Where its answers are not stored, this is a guess.
    """
    if mistake.name in (SEEN, _CHANGED):
        return bool(result.case.says) or is_gradient(finding)
    answers = [result.case.mistakes.get(variant) for variant in mistake.variants]
    if not any(answers):
        return True  # nothing is known
    return any(_differs(answer, result, finding) for answer in answers if answer)


def _differs(
    answers: Mapping[str, object], result: CaseResult, finding: Finding
) -> bool:
    """Return whether a mistake's answers differ from what a finding expects."""
    if "pattern" in answers:
        return bool(answers["pattern"])
    if RAISED in answers:
        return True
    predicted = answers.get(finding.name)
    return not same_answer(predicted, finding.expected, result.case)  # type: ignore


def _set_forms_right(
    results: Sequence[CaseResult],
) -> tuple[list[Mistake], Sequence[CaseResult]]:
    """Give results the expected rank and dtype, to see if their values are right.

    Return the symptoms of wrong ranks and dtypes, and the converted results.
    """
    symptoms = list[Mistake]()
    for sign, convert in ((rank, _as_shape), (other_dtype, _as_dtype)):
        for name in _wrong_tensors(results):
            findings = [
                f for r in results for f in r.findings if f.name == name and f.problem
            ]
            symptom: Sign = sign(findings)
            converted = [convert(*pair) for pair in tensor_pairs(findings)]
            if symptom and None not in converted:
                symptoms.append(Mistake(SEEN, *symptom))
                results = [_convert(result, name, convert) for result in results]
    # Of symptoms with the same question, keep only the first.
    first = {mistake.asks: mistake for mistake in reversed(symptoms)}
    return list(first.values())[::-1], results


def _wrong_tensors(results: Sequence[CaseResult]) -> Collection[str]:
    """The names of wrong results whose values, expected and actual, are all tensors."""
    names = dict.fromkeys(
        f.name
        for result in results
        for f in result.findings
        if f.problem and not _is_minor(result, f) and not result.case.measure
    )
    for result in results:
        for f in result.findings:
            if f.problem and not f.tensors:
                names.pop(f.name, None)
    return list(names)


def _as_shape(expected: torch.Tensor, actual: torch.Tensor) -> torch.Tensor | None:
    """The answer in the expected shape; None unless only sizes of 1 differ."""
    shapes = [[size for size in v.shape if size != 1] for v in (expected, actual)]
    return actual.reshape(expected.shape) if shapes[0] == shapes[1] else None


def _as_dtype(expected: torch.Tensor, actual: torch.Tensor) -> torch.Tensor | None:
    """The answer in the expected dtype; None if its shape is not the expected one."""
    if expected.shape != actual.shape or actual.is_complex():
        return None
    return actual.to(expected.dtype)


def _convert(
    result: CaseResult,
    name: str,
    convert: Callable[[torch.Tensor, torch.Tensor], torch.Tensor | None],
) -> CaseResult:
    """Convert the named answer to the expected shape or dtype, and compare it again.

    An answer of low precision, such as float16, is compared with a larger tolerance.
    """
    case, findings, answers = result.case, list(result.findings), dict(result.answers)
    for place, finding in enumerate(findings):
        if finding.name != name or not finding.problem:
            continue
        assert finding.tensors is not None
        expected, actual = finding.tensors
        value = convert(expected, actual)
        assert value is not None
        rough = _ROUGH.get(actual.dtype, 0.0)
        atol, rtol = max(case.atol, rough), max(case.rtol, rough)
        case = replace(case, atol=atol, rtol=rtol)
        is_same = same_tensors(expected, value, atol, rtol)
        unlike = value.dtype != expected.dtype
        problem = "" if is_same else "dtype" if unlike else "values"
        findings[place] = replace(finding, problem=problem, actual=value)
        answers[name] = value
    right = not any(finding.problem for finding in findings)
    return CaseResult(case, answers, tuple(findings), float(right), result.looked_at)
