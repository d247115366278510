"""What was seen of a wrong answer, where no known mistake explains it.

Each sentence is an observation, true of all that is wrong in the cases it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from autograder.checks.diagnostics import errors, promises
from autograder.checks.diagnostics.alike import is_gradient
from autograder.checks.diagnostics.crashes import UNKNOWN_ARGUMENT
from autograder.checks.diagnostics.parts import and_more, of_a_part, raised
from autograder.checks.diagnostics.values import SIGNS, Sign, Wrong, faults
from autograder.checks.exercise import RAISED, CaseResult, Finding, Mistake
from autograder.checks.language import _, marked, reworded
from autograder.checks.properties import SEPARATOR, what_was_seen

SEEN = "seen"  # the name of all these
Said = tuple[str, str]  # what was seen, and a question
Signs = tuple[Callable[[Wrong], Sign], ...]


def of_a_property(results: Sequence[CaseResult]) -> Mistake | None:
    """What was seen, where values are right and only a general property is not."""
    wrong = [result for result in results if not result.passed]
    if not wrong or any(not result.case.says for result in wrong):
        return None
    if _only_in_training(wrong):
        return Mistake("symptom", *map(_, ONLY_IN_TRAINING))
    return _of_calls(wrong[0])


def _of_calls(result: CaseResult) -> Mistake | None:
    """What was seen in a property's case; nothing if not even the usual is right."""
    case, findings = result.case, [f for f in result.findings if f.problem]
    if findings[0].problem == RAISED:
        if told := errors.told([result], (UNKNOWN_ARGUMENT,)):
            return Mistake("symptom", *told)
        where = reworded(_note(findings[0].message)) or _(case.title)
        says = _("In some calls your code stops with an error: {where}.").format(
            where=where
        )
        says, asks = _with_its_error(says, case.asks, errors.told([result]))
        return Mistake("symptom", says, asks)
    if what_was_seen(findings[0].name)[1] in _USUAL:
        return None
    label = _listed(list(dict.fromkeys(map(_label, findings))))
    return Mistake("symptom", _(case.says).format(label=label), case.asks)


ONLY_IN_TRAINING = (
    marked("Right in training mode, but not in eval mode."),
    marked("What in your code depends on `self.training`, and should it?"),
)


def _with_its_error(says: str, asks: str, told: tuple[str, str] | None) -> Said:
    """What happened and where; with what the error means, if it is a known kind."""
    return (f"{says} {told[0]}", told[1]) if told else (says, asks)


def _only_in_training(wrong: Sequence[CaseResult]) -> bool:
    """Whether a module is right in training mode, and wrong in eval mode."""
    labels = {
        (what_was_seen(f.name)[1], bool(f.problem)) for r in wrong for f in r.findings
    }
    return ("in eval mode", True) in labels and ("in training mode", True) not in labels


def _label(finding: Finding) -> str:
    """What is special about what is wrong."""
    reported, label = what_was_seen(finding.name)
    if reported.startswith("gradient of"):
        return _("the {result}").format(result=reworded(reported))
    if reported.startswith("start of"):
        return f"`{reported.removeprefix('start of ')}` ({_found(finding)})"
    if label == _HELD:
        return f"{reworded(reported)} ({_found(finding)})"
    told = reworded(label)
    return _("the result {label}").format(label=told) if _OF_A.match(label) else told


def _found(finding: Finding) -> str:
    return reworded(str(finding.actual))


_OF_A = re.compile("of a ")


def _listed(labels: Sequence[str]) -> str:
    """Up to three of them, and how many more there are."""
    if len(labels) > 3:
        more = _("{count} more").format(count=len(labels) - 2)
        labels = [*labels[:2], more]
    *first, last = labels
    if not first:
        return last
    return _("{first} and {last}").format(first=", ".join(first), last=last)


_USUAL = (
    "at first", "as a batch", "for inputs as usual", "in eval mode",
    "of the first module",
)  # fmt: skip

_HELD = "of a look at what it holds"


def _note(message: str) -> str:
    """From an error's first line, what was special about the call that it ended."""
    found = _LAST_BRACKETS.search(message.split("\n")[0])
    note = found.group(1).split(SEPARATOR)[0] if found else ""
    return note if note.startswith(_NOTES) else ""


_LAST_BRACKETS = re.compile(r" \(((?:[^()]|\([^()]*\))*)\)$")
_NOTES = ("the same", "with ", "after ", "sentence by ", "for ", "in ", "of a ")


def of_all(results: Sequence[CaseResult]) -> Mistake | None:
    """The first symptom that all wrong answers of the ordinary cases have."""
    wrong = [
        result
        for result in results
        if not (result.passed or result.case.says or result.case.measure)
    ]
    if not wrong:
        return _whole((errors.told,), _raised_in_a_measured_case(results))
    if stale := _of_a_later_call(results, wrong):
        return stale
    first: Signs = (errors.told, *promises.FIRST)
    others: Signs = SIGNS
    if any(result.passed for result in results):
        first = (promises.refused, *first)
    else:
        others = (*others, errors.always)
    return (
        _whole(first, wrong)
        or _part((promises.changed,), wrong)  # the cause of more, perhaps
        or _whole(others, wrong)
        or _part((of_a_part,), wrong)
        or _whole((_only_case,), results)
    )


def _whole(signs: Signs, wrong: Wrong) -> Mistake | None:
    """The first sign that speaks of all that is wrong."""
    found = next(filter(None, (sign(wrong) for sign in signs)), None) if wrong else None
    return Mistake(SEEN, *found) if found else None


def _part(signs: Signs, wrong: Wrong) -> Mistake | None:
    """The same, of some of it."""
    found = _whole(signs, wrong)
    return and_more(found) if found else None


def _of_a_later_call(
    results: Sequence[CaseResult], wrong: Sequence[CaseResult]
) -> Mistake | None:
    """What was seen in later calls, where only gradients are wrong beside them.

    Gradients are taken of a second call: they are wrong if it uses what the first kept.
    """
    found = faults(wrong)
    if not found or not all(map(is_gradient, found)):
        return None
    for result in results:
        case = result.case
        if case.says and case.aspect == "calls" and not result.passed:
            return None if raised(result) else _of_calls(result)
    return None


def _raised_in_a_measured_case(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Measured cases that an error ended: what they would say, nobody knows."""
    return [r for r in results if r.case.measure and raised(r)]


def _only_case(results: Sequence[CaseResult]) -> Sign:
    """The only wrong case, if there are enough cases for this to be informative."""
    usual = [r for r in results if not (r.case.says or r.case.measure)]
    wrong = [r for r in usual if not r.passed]
    if len({r.case.name for r in usual}) < 4 or len({r.case.name for r in wrong}) != 1:
        return None
    says = _("Only one case is wrong: {case}.")
    if not any(r.case.hidden for r in usual):
        says = _("Only one of the visible cases is wrong: {case}.")
    case = _(wrong[0].case.title)
    if shapes := [f.message for f in wrong[0].findings if f.problem == "shape"]:
        case = f"{case} ({shapes[0]})"
    return says.format(case=case), _("What sets this case apart from the others?")
