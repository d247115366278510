"""Symptoms that some of the wrong answers share, if none explains all of them.

Several mistakes at once rarely look like a single one. Each message here is true of the
answers that it names, whatever else is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import torch

from autograder.checks.diagnostics import errors
from autograder.checks.diagnostics.alike import (
    compose_sign,
    is_gradient,
    tensor_pairs,
)
from autograder.checks.diagnostics.numbers import NUMBERS
from autograder.checks.diagnostics.promises import another_error, names
from autograder.checks.diagnostics.shapes import SHAPES, too_long
from autograder.checks.diagnostics.texts import (
    SOMETIMES,
    TEXTS,
    ended,
    phrase,
    rejects,
    same_word,
)
from autograder.checks.diagnostics.values import (
    CUT,
    DTYPE,
    NO_NUMBER,
    Sign,
    Wrong,
    faults,
    parameters,
)
from autograder.checks.exercise import AFTERWARDS, RAISED, CaseResult, Finding, Mistake
from autograder.checks.forms import dtype_of
from autograder.checks.language import _, translate
from autograder.checks.points import MINOR
from autograder.checks.values import is_raised_by_code, telling_part


def first_shared_symptom(wrong: Sequence[CaseResult]) -> Sign:
    """Return a message and a question on what some wrong answers share, or None.

    Symptoms are tried in order: those that point at a cause come before those that
    only describe values. Gradients come last where wrong results may explain them.
    """
    comparable = [f for f in faults(wrong) if _is_comparable(f, wrong)]
    answers = _by_answer(comparable)
    # Wrong results that follow from another wrong one tell less.
    main = {f.name for r in wrong for f in faults([r]) if _is_main(f, r)}
    telling = [findings for findings in answers if findings[0].name in main] or answers
    gradients = [findings for findings in answers if is_gradient(findings[0])]
    results = [findings for findings in telling if not is_gradient(findings[0])]
    promises = (other_dtype, _other_kind, another_error)
    # Cases in which only gradients are wrong: elsewhere, results may be the reason.
    alone = [r for r in wrong if all(map(is_gradient, faults([r])))]
    return (
        _own_error(wrong)
        or _first((parameters,), answers)
        or _first((_no_gradient,), _by_answer(faults(alone)))
        or _first((inverted, *promises, *SHAPES), telling)
        or _errors(wrong)
        or _no_numbers(wrong)
        or _of_a_test(wrong)
        or rejects(wrong)
        or names(faults(wrong))
        or ended(wrong)
        or (same_word(wrong) if main else None)
        or _never_counted(results)
        or _first((*TEXTS, too_long, *NUMBERS, phrase), results)
        or _first((*promises, *TEXTS), answers)
        or _first((_no_gradient, *([] if main else NUMBERS)), gradients)
    )


def _is_main(finding: Finding, result: CaseResult) -> bool:
    """Return whether a finding is about a result that no other wrong one explains.

    If NAME is wrong, it is taken to explain any answer called "... of NAME".
    """
    if is_gradient(finding) or result.case.aspect_of(finding.name) in MINOR:
        return False
    names = [f.name for f in result.findings if f.problem and f.name]
    return not any(finding.name.endswith(f" of {name}") for name in names)


def _by_answer(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings by the name of their answer."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.name, []).append(finding)
    return list(kinds.values())


def _first(
    signs: Sequence[Callable[[Sequence[Finding]], Sign]],
    answers: Sequence[Sequence[Finding]],
) -> Sign:
    """Return the first symptom that all findings on one answer share, or None.

    ``answers`` holds, for each answer, the findings on it from all cases.
    """
    symptoms = (sign(findings) for sign in signs for findings in answers)
    return next(filter(None, symptoms), None)


def _is_comparable(finding: Finding, wrong: Wrong) -> bool:
    """Return whether it helps to compare a wrong answer's values with the right ones.

    It does not for a gradient that a wrong result may explain, or a changed input.
    """
    if is_gradient(finding):
        return not any(f.problem in ("shape", "type") for f in faults(wrong))
    return not finding.name.endswith(AFTERWARDS)


def and_more(mistake: Mistake) -> Mistake:
    """Add a question to a mistake that does not explain all that is wrong."""
    question = _("Correct that first. Which cases still fail?")
    return replace(mistake, asks=f"{_(mistake.asks)} {question}".strip())


def _no_gradient(findings: Sequence[Finding]) -> Sign:
    """Recognise a gradient that is zero in all of its entries, in every case."""
    if not (is_gradient(findings[0]) and all(map(_is_zero, findings))):
        return None
    message = _("No gradient arrives: the {name} is zero.")
    return compose_sign(findings, message, _(CUT))


def _is_zero(finding: Finding) -> bool:
    pair = finding.tensors
    return pair is not None and bool(pair[0].any()) and not pair[1].any()


def inverted(findings: Sequence[Finding]) -> Sign:
    """Recognise masks that are the opposite of the expected ones, in any dtype."""
    pairs = tensor_pairs(findings)
    if not pairs or not all(map(_is_opposite, pairs)):
        return None
    message = _('"{name}" is inverted: it says yes where it should say no.')
    asks = _(
        "What does `True` mean in the docstring, and what does it mean in your mask?"
    )
    return compose_sign(findings, message, asks)


def _is_opposite(pair: tuple[torch.Tensor, torch.Tensor]) -> bool:
    """Whether the second tensor, read as a mask, is the opposite of the first one."""
    expected, actual = pair
    if expected.dtype != torch.bool or not expected.dim() == actual.dim() > 1:
        return False
    try:
        expected, actual = torch.broadcast_tensors(expected, actual != 0)
    except RuntimeError:
        return False
    return torch.equal(expected, ~actual)


def other_dtype(findings: Sequence[Finding]) -> Sign:
    """Recognise the same wrong dtype in every wrong case, whatever else is wrong."""
    kinds = {(dtype_of(f.expected), dtype_of(f.actual)) for f in findings}
    if len(kinds) != 1 or not any(f.problem == "dtype" for f in findings):
        return None
    expected, actual = kinds.pop()
    message, asks = _("The dtype of {name} is {own} instead of {expected}."), _(DTYPE)
    if expected == "int64" and "float" in actual:
        message = _('"{name}" should hold integers, but yours holds floats.')
        asks = _(
            "Which operation turns integers into a `float`: a division, a mean, or a "
            "function from `math`?"
        )
    return compose_sign(findings, message, asks, own=actual, expected=expected)


def _other_kind(findings: Sequence[Finding]) -> Sign:
    """Recognise the same wrong type in every case, like a tensor instead of `None`."""
    if {f.problem for f in findings} != {"type"}:
        return None
    if len({f.message for f in findings}) > 1:
        return None
    asks = _("What does the docstring promise in this case?")
    found = findings[0].message
    return compose_sign(findings, _("{name}: {found}."), asks, found=found)


def _errors(wrong: Wrong) -> Sign:
    """Explain the most frequent kind of error among the cases that end in an error."""
    explanations = [errors.explain([result]) for result in wrong if raised(result)]
    recognised = [explanation for explanation in explanations if explanation]
    if not recognised:
        return None
    message, asks = max(recognised, key=recognised.count)
    return message, f"{asks} {_('Some cases fail for another reason.')}"


def _own_error(wrong: Wrong) -> Sign:
    """Recognise an error that the student's own `raise` or `assert` raises."""
    messages = [f.message for f in faults(wrong) if f.problem == RAISED]
    kinds = [telling_part(message) for message in filter(is_raised_by_code, messages)]
    if 2 * len(kinds) <= len(wrong) or len(set(kinds)) > 1:
        return None
    message = _("In most of the cases that fail, your own code raises a `{error}`.")
    asks = _("Does the docstring name this error, and for which inputs?")
    return message.format(error=kinds[0]), asks


def _no_numbers(wrong: Wrong) -> Sign:
    """Recognise NaN or infinity in some of the cases."""
    findings = [f for f in faults(wrong) if f.problem == "finite"]
    message = _("In some of the cases that fail, there is NaN or infinity in {name}.")
    return compose_sign(findings, message, _(NO_NUMBER)) if findings else None


def _of_a_test(wrong: Wrong) -> Sign:
    """Recognise a student's test whose only fault is that it accepts faulty objects."""
    pairs = {(f.expected, f.actual) for f in faults(wrong)}
    if not pairs or pairs - {("rejected", word) for word in ("accepted", SOMETIMES)}:
        return None
    asks = _("Which rule does your test never try, or try with too wide a bound?")
    visible_titles = [r.case.title for r in wrong if not r.case.hidden]
    if not visible_titles:
        message = _(
            "Your test accepts some of what is faulty; it rejects nothing that is "
            "right."
        )
        return message, asks
    message = _(
        "Your test accepts something faulty here: {case}. It rejects nothing that is "
        "right."
    )
    return message.format(case=translate(visible_titles[0])), asks


def _never_counted(answers: Sequence[Sequence[Finding]]) -> Sign:
    """Recognise integer results that are 0 in every case where they are wrong."""
    zeros = [findings for findings in answers if all(map(_is_no_count, findings))]
    names = [findings[0].name for findings in zeros]
    if len(names) < 2:
        return None
    message = _("These are 0 but should not be: {names}.")
    asks = _(
        "Does your code ever reach the lines that count them, and is anything left to "
        "iterate over by then?"
    )
    return message.format(names=", ".join(map(translate, names[:4]))), asks


def _is_no_count(finding: Finding) -> bool:
    """Whether an answer consists of integers that are all 0."""
    value = finding.actual
    if not isinstance(value, torch.Tensor) or value.dtype != torch.int64:
        return False
    return not value.any()


def raised(result: CaseResult) -> bool:
    """Whether a case has ended in an error."""
    return any(f.problem == RAISED for f in result.findings)
