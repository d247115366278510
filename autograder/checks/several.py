"""Name several mistakes in an answer that no single known mistake explains.

They may have been made together, or show in different cases. A mistake is named
only if no other one explains the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import filterfalse

import torch

from autograder.checks.by_result import LONG, TELLING, name_by_result
from autograder.checks.diagnostics.parts import and_more
from autograder.checks.diagnostics.promises import input_change
from autograder.checks.exercise import RAISED, CaseResult, Exercise, Finding, Mistake
from autograder.checks.language import _, translatable
from autograder.checks.second_order import pairs_that_fit
from autograder.checks.values import is_predicted, same_answer

_MOST = 3  # mistakes that are named at once
_RARE = 2  # this many single numbers do not agree by chance,
_SIMPLE, _NEAR = 24, 1e-4  # if they are not near fractions with so small denominators
_COUNT = {
    2: translatable(
        "There are two mistakes; correct one at a time, then run this again: {all}"
    ),
    3: translatable(
        "There are three mistakes; correct one at a time, then run this again: {all}"
    ),
}

Wrong = tuple[int, str]  # a wrong answer: the index of its case, and its name


def find_combined_mistakes(
    exercise: Exercise, results: Sequence[CaseResult]
) -> tuple[Mistake, bool] | None:
    """Find the mistakes behind the wrong answers to ordinary cases; None if unknown.

    Ordinary cases test neither a general property nor a measured quality.
    ``results`` must be of cases that store the answers of mistakes.

    Returns:
        The mistakes, joined into one, and whether they are certain.
    """
    ordinary = [r for r in results if not (r.case.says or r.case.measure)]
    names, mistakes = list(exercise.mistakes), list(exercise.mistakes.values())
    sketched = [r for r in ordinary if r.case.doubles]
    # If a single mistake explains all sketched cases, no pair is needed.
    needs_two = not any(_explains_all(sketched, mistake) for mistake in mistakes)
    pairs = [
        {names[index] for index in pair}
        for pair in (pairs_that_fit(ordinary) if needs_two else ())
        if len({mistakes[index].says for index in pair}) == 2  # not one mistake twice
    ]
    if len(pairs) == 1:
        sure = any(is_telling(f) for r in ordinary for f in r.findings)
        pair = [mistake for mistake in mistakes if mistake.name in pairs[0]]
        # A few numbers may agree by chance: name the one that most cases show.
        if not sure and len(alone := _in_most(ordinary, pair)) == 1:
            return and_more(alone[0]), False
        return join_mistakes(pair), sure
    # Several pairs fit, but all of them contain the same mistake.
    if pairs and len(shared := set.intersection(*pairs)) == 1:
        return and_more(exercise.mistakes[shared.pop()]), False
    chosen, is_complete = _case_by_case(ordinary, mistakes)
    if not chosen:
        chosen, is_complete = name_by_result(ordinary, mistakes)
    if not chosen:
        chosen, is_complete = _in_ordinary_cases(ordinary, mistakes), False
    if not chosen:
        return None
    mistake = join_mistakes([*_input_changed(ordinary, chosen), *chosen][:_MOST])
    return mistake if is_complete else and_more(mistake), False


def _in_ordinary_cases(
    results: Sequence[CaseResult], mistakes: Sequence[Mistake]
) -> list[Mistake]:
    """Return a list of the only mistake that gives all these results; [] for none.

    It is also [] unless some results are right and some wrong.
    """
    count_wrong = sum(not result.passed for result in results)
    if not 0 < count_wrong < len(results):
        return []
    fitting = [mistake for mistake in mistakes if _explains_all(results, mistake)]
    return fitting if len(fitting) == 1 else []


def _explains_all(results: Sequence[CaseResult], mistake: Mistake) -> bool:
    """Whether one variant of a mistake gives all of these results, right and wrong."""
    return any(
        all(is_predicted(r, f, variant) for r in results for f in r.findings)
        for variant in mistake.variants
    )


def _input_changed(
    results: Sequence[CaseResult], mistakes: Sequence[Mistake]
) -> list[Mistake]:
    """Return a list with the mistake of changing an input in place; [] for none.

    Answers that the recognised ``mistakes`` explain are ignored.
    """
    predicted = {
        f.name
        for result in results
        for f in result.findings
        for mistake in mistakes
        for answers in (result.case.mistakes.get(v, {}) for v in mistake.variants)
        if not same_answer(answers.get(f.name), f.expected, result.case)
    }
    reduced = [
        replace(r, findings=tuple(f for f in r.findings if f.name not in predicted))
        for r in results
    ]
    symptom = input_change(reduced)
    return [Mistake("input_changed", *symptom)] if symptom else []


def _in_most(
    results: Sequence[CaseResult], mistakes: Sequence[Mistake]
) -> list[Mistake]:
    """Select the mistakes of which each explains at least half of the wrong cases."""
    needs = {i: _needed(r) for i, r in enumerate(results) if not r.passed}

    def count_explained(mistake: Mistake) -> int:
        explained = _part(results, needs, mistake).explains
        return sum(all((i, n) in explained for n in need) for i, need in needs.items())

    return [m for m in mistakes if 2 * count_explained(m) >= len(needs)]


def join_mistakes(mistakes: Sequence[Mistake]) -> Mistake:
    """Join up to three mistakes into one that numbers their texts: "(1) A (2) B".

    A single mistake is returned as it is.
    """
    if len(mistakes) == 1:
        return mistakes[0]
    message, asks = (
        " ".join(
            f"({n}) {_(getattr(m, part))}" for n, m in enumerate(mistakes, start=1)
        )
        for part in ("says", "asks")
    )
    full_message = _(_COUNT[len(mistakes)]).format(all=message)
    return Mistake(" + ".join(m.name for m in mistakes), full_message, asks)


@dataclass(frozen=True)
class _Part:
    """What one mistake explains of a student's wrong answers.

    ``explains`` holds the wrong answers that it gives as well. ``contradictions``
    counts the cases with a right answer that it would spoil.
    """

    explains: frozenset[Wrong]
    contradictions: int


def _case_by_case(
    results: Sequence[CaseResult], mistakes: Sequence[Mistake]
) -> tuple[list[Mistake], bool]:
    """Choose mistakes that together explain at least half of the wrong cases.

    Return them, and whether they explain all wrong cases.
    """
    needs = {i: _needed(r) for i, r in enumerate(results) if not r.passed}
    by_name = {mistake.name: mistake for mistake in mistakes}
    parts = {name: _part(results, needs, m) for name, m in by_name.items()}
    # Keep mistakes that explain more cases than contradict them.
    parts = {
        n: p
        for n, p in parts.items()
        if p.contradictions < len({i for i, _ in p.explains})
    }
    unexplained = {(i, name) for i, need in needs.items() for name in need}
    telling = {(i, f.name) for i in needs for f in results[i].findings if is_telling(f)}
    chosen: list[str] = []
    # Choose again and again the mistake that explains most of what is left.
    while unexplained and len(chosen) < _MOST:
        gains = {name: part.explains & unexplained for name, part in parts.items()}
        best = max(gains, key=lambda name: len(gains[name]), default="")
        if not best or not (gains[best] & telling or _are_rare(results, gains[best])):
            break
        if sum(gain >= gains[best] for gain in gains.values()) > 1:
            break  # two mistakes that no case tells apart
        chosen.append(best)
        unexplained -= gains[best]
    explained = len(needs) - len({i for i, _ in unexplained})
    if not chosen or 2 * explained < len(needs):
        return [], False
    return [by_name[name] for name in chosen], explained == len(needs)


def _needed(result: CaseResult) -> list[str]:
    """Return the names of a case's wrong answers that a mistake has to explain.

    Wrong gradients and the like are left out if wrong results may be the reason.
    """
    wrong = [f.name or RAISED for f in result.findings if f.problem]
    primary = [n for n in wrong if result.case.aspect_of(n) == result.case.aspect]
    return primary or wrong


def _part(
    results: Sequence[CaseResult], needs: Mapping[int, list[str]], mistake: Mistake
) -> _Part:
    """Return what a mistake explains, for that variant of it that explains most.

    ``needs`` names the answers to explain, by the index of their case.
    """
    parts = [_variant_part(results, needs, variant) for variant in mistake.variants]
    return max(parts, key=lambda part: (len(part.explains), -part.contradictions))


def _variant_part(
    results: Sequence[CaseResult], needs: Mapping[int, list[str]], variant: str
) -> _Part:
    """Return what a variant explains, and how many cases contradict it.

    A case contradicts it if the variant would spoil one of the right answers there.
    """
    explains, contradictions = set[Wrong](), 0
    for i, result in enumerate(results):
        predicted = result.case.mistakes.get(variant, {})
        right = [f.name for f in result.findings if not f.problem]
        alike = {
            name
            for name in (*right, *needs.get(i, ()))
            if same_answer(predicted.get(name), result.answers.get(name), result.case)
        }
        if alike >= set(right):
            explains |= {(i, name) for name in alike.difference(right)}
        else:
            contradictions += 1
    return _Part(frozenset(explains), contradictions)


def _are_rare(results: Sequence[CaseResult], wrong: frozenset[Wrong]) -> bool:
    """Return whether wrong answers that are single numbers can hardly agree by chance.

    At least two different ones must be floats, and not close to simple fractions.
    """
    values = {
        f.actual.item()
        for i, name in wrong
        for f in results[i].findings
        if f.name == name
        and isinstance(f.actual, torch.Tensor)
        and f.actual.is_floating_point()
        and f.actual.numel() == 1
        and f.actual.isfinite().all()
    }
    return len(set(filterfalse(_is_simple, values))) >= _RARE


def _is_simple(number: float) -> bool:
    return abs(number - Fraction(number).limit_denominator(_SIMPLE)) < _NEAR


def is_telling(finding: Finding) -> bool:
    """Return whether a wrong answer is too detailed to equal another one by chance.

    This holds for long texts, and for tensors with many different values.
    """
    value = finding.actual
    if isinstance(value, str):
        return bool(finding.problem) and len(value) >= LONG
    return (
        bool(finding.problem)
        and isinstance(value, torch.Tensor)
        and not value.is_complex()
        and len(value[value.isfinite()].unique()) >= TELLING
    )
