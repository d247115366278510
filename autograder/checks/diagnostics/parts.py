"""What was seen of a part of what is wrong, where nothing explains the whole.

Several slips at once rarely look like one. Each sentence here is true of the answers
that it speaks of, whatever else is wrong beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import torch

from autograder.checks.diagnostics import errors
from autograder.checks.diagnostics.alike import is_gradient
from autograder.checks.diagnostics.numbers import NUMBERS
from autograder.checks.diagnostics.promises import another_error, names
from autograder.checks.diagnostics.shapes import SHAPES, too_long
from autograder.checks.diagnostics.texts import TEXTS, ended, phrase, rejects, same_word
from autograder.checks.diagnostics.values import (
    CUT,
    DTYPE,
    NO_NUMBER,
    Sign,
    Wrong,
    faults,
    parameters,
)
from autograder.checks.exercise import (
    AFTERWARDS,
    RAISED,
    CaseResult,
    Finding,
    Mistake,
)
from autograder.checks.language import _, reworded
from autograder.checks.values import dtype_of, is_raised_by_code, telling_part


def of_a_part(wrong: Sequence[CaseResult]) -> Sign:
    """The first of these symptoms; of a kind of answer, all that is wrong has it."""
    answers = _by_answer(f for f in faults(wrong) if _is_comparable(f, wrong))
    gradients = [found for found in answers if is_gradient(found[0])]
    results = [found for found in answers if not is_gradient(found[0])]
    # Where more is wrong, that may be the reason.
    alone = [r for r in wrong if all(map(is_gradient, faults([r])))]
    return (
        _own_error(wrong)
        or _first((parameters,), answers)
        or _first((_no_gradient,), _by_answer(faults(alone)))
        or _first((_dtype, _other_kind, another_error), answers)
        or _first(SHAPES, answers)
        or _errors(wrong)
        or _no_numbers(wrong)
        or _of_a_test(wrong)
        or rejects(wrong)
        or names(faults(wrong))
        or ended(wrong)
        or same_word(wrong)
        or _never_counted(results)
        or _first((*TEXTS, too_long, *NUMBERS, phrase), results)
        or _first((_no_gradient, *NUMBERS), gradients)
    )


def _by_answer(found: Iterable[Finding]) -> list[list[Finding]]:
    """Findings, those of one answer together."""
    kinds: dict[str, list[Finding]] = {}
    for finding in found:
        kinds.setdefault(finding.name, []).append(finding)
    return list(kinds.values())


def _first(
    signs: Sequence[Callable[[Sequence[Finding]], Sign]],
    answers: Sequence[Sequence[Finding]],
) -> Sign:
    """The first sign that all findings of one answer share; None if there is none."""
    told = (sign(found) for sign in signs for found in answers)
    return next(filter(None, told), None)


def _is_comparable(finding: Finding, wrong: Wrong) -> bool:
    """Whether what is wrong of it is its own.

    A gradient is taken of a result, so it says nothing where that has another shape;
    of what is left afterwards no more can be said than that it has changed.
    """
    if is_gradient(finding):
        return not any(f.problem in ("shape", "type") for f in faults(wrong))
    return not finding.name.endswith(AFTERWARDS)


def and_more(mistake: Mistake) -> Mistake:
    """A mistake that is not all that is wrong."""
    more = _("Correct that first. Which cases still fail?")
    return replace(mistake, asks=f"{_(mistake.asks)} {more}".strip())


def _no_gradient(found: Sequence[Finding]) -> Sign:
    """A gradient that is zero in all of its entries, in every case."""
    if not (is_gradient(found[0]) and all(map(_is_zero, found))):
        return None
    says = _("No gradient arrives: the {name} is zero.")
    return says.format(name=reworded(found[0].name)), _(CUT)


def _is_zero(finding: Finding) -> bool:
    a, b = finding.expected, finding.actual
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return False
    return bool(a.any()) and not b.any()


def _dtype(found: Sequence[Finding]) -> Sign:
    """The same wrong dtype in every wrong case, possibly along with other errors."""
    kinds = {(dtype_of(f.expected), dtype_of(f.actual)) for f in found}
    if len(kinds) != 1 or not any(f.problem == "dtype" for f in found):
        return None
    (expected, own), name = kinds.pop(), reworded(found[0].name)
    if expected == "int64" and "float" in own:
        says = _('"{name}" should hold integers, but yours holds floats.')
        return says.format(name=name), _(
            "Which operation turns integers into a `float`: a division, a mean, or a "
            "function from `math`?"
        )
    return (
        _("The dtype of {name} is {own} instead of {expected}.").format(
            name=name, own=own, expected=expected
        ),
        _(DTYPE),
    )


def _other_kind(found: Sequence[Finding]) -> Sign:
    """The same wrong type in every wrong case, such as a tensor instead of `None`."""
    if {f.problem for f in found} != {"type"} or len({f.message for f in found}) > 1:
        return None
    return (
        _("{name}: {found}.").format(
            name=reworded(found[0].name), found=found[0].message
        ),
        _("What does the docstring promise in this case?"),
    )


def _errors(wrong: Wrong) -> Sign:
    """The kind of error in which most of the cases end that end in one."""
    told = [errors.told([result]) for result in wrong if raised(result)]
    known = [each for each in told if each]
    if not known:
        return None
    says, asks = max(known, key=known.count)
    return says, f"{asks} {_('Not every case that fails ends like this.')}"


def _own_error(wrong: Wrong) -> Sign:
    """One type of error that the student's own `raise` or `assert` makes."""
    messages = [f.message for f in faults(wrong) if f.problem == RAISED]
    kinds = [telling_part(message) for message in filter(is_raised_by_code, messages)]
    if 2 * len(kinds) <= len(wrong) or len(set(kinds)) > 1:
        return None
    says = _("In most of the cases that fail, your own code raises a `{error}`.")
    return says.format(error=kinds[0]), _(
        "Does the docstring name this error, and for which inputs?"
    )


def _no_numbers(wrong: Wrong) -> Sign:
    """What is no number, in some of the cases."""
    found = [f.name for f in faults(wrong) if f.problem == "finite"]
    if not found:
        return None
    return (
        _("In some of the cases that fail, there is NaN or infinity in {name}.").format(
            name=reworded(found[0])
        ),
        _(NO_NUMBER),
    )


def _of_a_test(wrong: Wrong) -> Sign:
    """A test of the student's that errs on one side only."""
    said = {(f.expected, f.actual) for r in wrong for f in r.findings if f.problem}
    if said == {("rejected", "accepted")}:
        return (
            _(
                "Your test accepts some of what is faulty; it rejects nothing that is "
                "right."
            ),
            _("Which rule does your test never try, or try with too wide a bound?"),
        )
    return None


def _never_counted(answers: Sequence[Sequence[Finding]]) -> Sign:
    """Several integer results that are 0 in every case where they are wrong."""
    names = [found[0].name for found in answers if all(map(_is_no_count, found))]
    if len(names) < 2:
        return None
    return (
        _("These are 0 but should not be: {names}.").format(
            names=", ".join(map(reworded, names[:4]))
        ),
        _(
            "Does your code ever reach the lines that count them, and is anything left "
            "to iterate over by then?"
        ),
    )


def _is_no_count(finding: Finding) -> bool:
    value = finding.actual
    if not isinstance(value, torch.Tensor) or value.dtype != torch.int64:
        return False
    return not value.any()


def raised(result: CaseResult) -> bool:
    """Whether a case has ended in an error."""
    return any(f.problem == RAISED for f in result.findings)
