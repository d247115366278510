"""Find the symptom of a wrong answer that no known mistake explains.

A symptom is an observation, like "Your result is all zeros.", and a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from autograder.checks.diagnostics import errors, promises
from autograder.checks.diagnostics.alike import is_gradient
from autograder.checks.diagnostics.crashes import UNKNOWN_ARGUMENT
from autograder.checks.diagnostics.parts import and_more, first_shared_symptom, raised
from autograder.checks.diagnostics.relations import of_relations
from autograder.checks.diagnostics.values import SIGNS, Sign, Wrong, faults
from autograder.checks.exercise import RAISED, CaseResult, Finding, Mistake
from autograder.checks.language import _, translatable, translate
from autograder.checks.points import SEQUENCE
from autograder.checks.properties import SEPARATOR, what_was_seen

SEEN = "seen"  # the name of all such mistakes
Signs = tuple[Callable[[Wrong], Sign], ...]


def of_a_property(results: Sequence[CaseResult]) -> Mistake | None:
    """Describe an answer that is wrong only in cases of general properties, or None.

    A general property holds for every correct solution: for instance, a second call
    gives the same result.
    """
    wrong = [result for result in results if not result.passed]
    if not wrong or any(not result.case.says for result in wrong):
        return None
    if _only_in_training(wrong):
        says, asks = map(_, ONLY_IN_TRAINING)
        return Mistake("symptom", says, asks)
    return _of_calls(wrong[0])


def _of_calls(result: CaseResult) -> Mistake | None:
    """Describe what is wrong in a failed case of a general property.

    Such a case compares a usual call with special ones. Return None if the usual
    call itself is wrong.
    """
    case, findings = result.case, [f for f in result.findings if f.problem]
    if findings[0].problem == RAISED:
        if explanation := errors.explain([result], (UNKNOWN_ARGUMENT,)):
            return Mistake("symptom", *explanation)
        place = translate(_note(findings[0].message)) or _(case.title)
        message = _("In some calls your code stops with an error: {where}.")
        message = message.format(where=place)
        meaning, asks = errors.explain([result]) or ("", case.asks)
        return Mistake("symptom", f"{message} {meaning}".strip(), asks)
    if what_was_seen(findings[0].name)[1] in _USUAL:
        return None
    label = _join_labels(list(dict.fromkeys(map(_label, findings))))
    return Mistake("symptom", _(case.says).format(label=label), case.asks)


ONLY_IN_TRAINING = (
    translatable("Right in training mode, but not in eval mode."),
    translatable("What in your code depends on `self.training`, and should it?"),
)


def _only_in_training(wrong: Sequence[CaseResult]) -> bool:
    """Whether a module is right in training mode, and wrong in eval mode."""
    findings = [f for result in wrong for f in result.findings]
    labels = {(what_was_seen(f.name)[1], bool(f.problem)) for f in findings}
    is_seen = {("in eval mode", True), ("in training mode", False)} <= labels
    return is_seen and ("in training mode", True) not in labels


def _label(finding: Finding) -> str:
    """Name the call or the part of a module that is wrong, like "in training mode"."""
    reported, label = what_was_seen(finding.name)
    if reported.startswith("gradient of"):
        return _("the {result}").format(result=translate(reported))
    if reported.startswith("start of"):
        return f"`{reported.removeprefix('start of ')}` ({_translate_actual(finding)})"
    if label == _HELD:
        return f"{translate(reported)} ({_translate_actual(finding)})"
    description = translate(label)
    if _OF_A.match(label):
        return _("the result {label}").format(label=description)
    return description


def _translate_actual(finding: Finding) -> str:
    return translate(str(finding.actual))


_OF_A = re.compile("of a ")


def _join_labels(labels: Sequence[str]) -> str:
    """Join up to three labels; of more, join the first two, and count the others."""
    if len(labels) > 3:
        remainder = _("{count} more").format(count=len(labels) - 2)
        labels = [*labels[:2], remainder]
    *first, last = labels
    if not first:
        return last
    return _("{first} and {last}").format(first=", ".join(first), last=last)


# Labels of calls that are not special in any way.
_USUAL = (
    "at first", "as a batch", "for inputs as usual", "in eval mode",
    "of the first module",
)  # fmt: skip

_HELD = "of a look at what it holds"


def _note(message: str) -> str:
    """Return the note in brackets at the end of an error's first line; "" for none.

    It says what was special about the call that raised the error.
    """
    match = _LAST_BRACKETS.search(message.split("\n")[0])
    note = match.group(1).split(SEPARATOR)[0] if match else ""
    return note if note.startswith(_NOTES) else ""


_LAST_BRACKETS = re.compile(r" \(((?:[^()]|\([^()]*\))*)\)$")
_NOTES = ("the same", "with ", "after ", "example by ", "for ", "in ", "of a ")


def of_all(
    results: Sequence[CaseResult], *, has_other_faults: bool = False
) -> Mistake | None:
    """Find a symptom of the wrong answers to ordinary cases; None if there is none.

    Ordinary cases test neither a general property nor a measured quality.
    """
    wrong = [
        result
        for result in results
        if not (result.passed or result.case.says or result.case.measure)
    ]
    if not wrong:
        ended = [r for r in results if r.case.measure and raised(r)]  # not measured
        return _explain_all((errors.explain,), ended)
    if stale := _of_a_later_call(results, wrong):
        return stale
    first: Signs = (errors.explain, *promises.FIRST)
    later: Signs = SIGNS
    if any(result.passed for result in results):
        # Some inputs are accepted, so a refusal points at its condition.
        first = (promises.refusal, *first)
    else:
        # Only if every case fails does it help that all stop at one line.
        later = (*later, errors.always)
    return (
        _explain_all(first, wrong)
        or _explain_part((promises.input_change,), wrong)  # may cause the other faults
        or _explain_all(later, wrong)
        or _explain_part((first_shared_symptom,), wrong)
        or _explain_all((of_relations,), results)
        or (None if has_other_faults else _explain_all((_only_case,), results))
    )


def _explain_all(signs: Signs, wrong: Wrong) -> Mistake | None:
    """Return what the first fitting sign says about these cases; None if none fits.

    A sign is a function that recognises a symptom.
    """
    if not wrong:
        return None
    symptom = next(filter(None, (sign(wrong) for sign in signs)), None)
    return Mistake(SEEN, *symptom) if symptom else None


def _explain_part(signs: Signs, wrong: Wrong) -> Mistake | None:
    """Like `_explain_all`, but the question adds that other cases may still fail."""
    mistake = _explain_all(signs, wrong)
    return and_more(mistake) if mistake else None


def _of_a_later_call(
    results: Sequence[CaseResult], wrong: Sequence[CaseResult]
) -> Mistake | None:
    """Explain wrong gradients by a failed case of repeated calls, if there is one.

    Gradients are taken in a second call, which may wrongly reuse a stored result.
    """
    findings = faults(wrong)
    if not findings or not all(map(is_gradient, findings)):
        return None
    for result in results:
        case = result.case
        if case.says and case.aspect == "calls" and not result.passed:
            return None if raised(result) else _of_calls(result)
    return None


def _only_case(results: Sequence[CaseResult]) -> Sign:
    """If only one case is wrong, and enough others were tried, name it; else None."""
    usual = [r for r in results if not (r.case.says or r.case.measure)]
    wrong = [r for r in results if not r.passed and r.case.name != SEQUENCE]
    if len({r.case.name for r in usual}) < 4 or len({r.case.name for r in wrong}) != 1:
        return None
    message = _("Only one case is wrong: {case}.")
    if len(wrong) < sum(not r.passed for r in results):
        message = _("Apart from successive calls, only one case is wrong: {case}.")
    elif not any(r.case.hidden for r in usual):
        message = _("Only one of the visible cases is wrong: {case}.")
    case = _(wrong[0].case.title)
    if shapes := [f.message for f in wrong[0].findings if f.problem == "shape"]:
        case = f"{case} ({shapes[0]})"
    return message.format(case=case), _("What sets this case apart from the others?")
