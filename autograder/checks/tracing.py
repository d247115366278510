"""Trace a student's code: the values of its expressions, and the effects of edits.

The `questions` extra asks students about them. Tracing runs in the process of
that code, so its report, which is plain data, cannot be trusted.
"""

from __future__ import annotations

import contextlib
import inspect
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from autograder.checks import properties
from autograder.checks.exercise import Case
from autograder.checks.facts import Summary, difference, is_told, summary
from autograder.checks.global_state import attributes_replaced
from autograder.checks.probes import Probe, find
from autograder.checks.references import load
from autograder.checks.watched_calls import CallWatch, Notes, WatchedCall, error_line

NOTE = "_autograder_note"  # instrumented code calls it with a number and a value
MARK = "autograder-trace "  # precedes the report in a cell's output
# The report must not depend on how fast the machine is, so that only code which may
# never end is stopped by a clock.
_SECONDS = 2.0  # of CPU time for an answer's calls on one case
_EDIT_SECONDS = 0.2  # the same for edited code
_MOST_CASES, _MOST_CALLS = 4, 5  # cases that are reported, and calls watched in each
_LARGE = 100.0  # larger entries are special to a case, not usual inputs
_MOST_NOTES = 200  # per expression; one that runs more often is not reported
_SMALL, _SHORT = 400, 30  # entries of a tensor, and size of a dimension, to read
_KINDS = ("tensor", "int", "float", "bool", "str", "list", "tuple", "dict")  # results


class CannotTraceError(Exception):
    """The code cannot be observed; the text says why."""


@dataclass(frozen=True)
class AnswerCode:
    """A student's code: its exercise, what it defines, and the names it may use.

    Args:
        exercise: like ``"attention/softmax"``.
        target: the name of the function or class that is asked for.
        method: the method of the class that is watched; "" for a function.
        names: the notebook's namespace.
    """

    exercise: str
    target: str
    method: str
    names: Mapping[str, Any]

    def defined(self, code: str, notes: Notes | None = None) -> Any:
        """Run code in a copy of the notebook's namespace; return the object `target`.

        ``notes`` receives a summary of each value passed to `NOTE`, by its number.
        """

        times = Counter[int]()  # how often each number was noted, in all calls

        def note(number: int, value: Any) -> Any:
            """Return ``value``, and record a summary of it in ``notes``.

            The record is None as soon as two summaries differ or there are too many.
            """
            if notes is not None and notes.get(number, {}) is not None:
                times[number] += 1
                entry = summary(value) if times[number] <= _MOST_NOTES else None
                notes[number] = entry if notes.get(number, entry) == entry else None
            return value

        namespace = {**self.names, NOTE: note}
        exec(compile(code, "<answer>", "exec", dont_inherit=True), namespace)
        return namespace[self.target]


@dataclass(frozen=True)
class _Watched:
    """One of the calls that a probe makes on a case; ``number`` counts them from 0."""

    case: Case
    number: int
    call: WatchedCall


def show(answer: AnswerCode, noted: str, edits: Sequence[str]) -> None:
    """Print the result of `report` as a line of JSON, or why it cannot be made."""
    try:
        trace = report(answer, noted, edits)
    except CannotTraceError as error:
        trace = {"refused": str(error)}
    print(f"\n{MARK}{json.dumps(trace, allow_nan=False)}")


def report(answer: AnswerCode, noted: str, edits: Sequence[str]) -> Summary:
    """Report what an answer does on visible cases, and what edits to it change.

    Args:
        noted: the answer's code, with traced expressions in calls of `NOTE`.
        edits: versions of the answer's code with one change in each.

    Returns:
        ``{"cases": [...]}``, the most informative first. Each has a ``title``;
        ``made``, the code that created the module; ``call``, the arguments;
        ``notes``, the values of expressions by number; ``ran``, the numbers of
        those that ran; ``result``; ``moved`` (see `WatchedCall`); and ``edits``,
        the outcome of each edit.

    Raises:
        CannotTraceError: no call of this code can be observed.
    """
    probe = find(answer.exercise)
    usual, watched = _watched(answer, probe, noted)
    cases = [_describe_example(example) for example in watched]
    for code in edits:
        outcomes: list[Summary] = []
        for example in watched:
            # Do not wait for the same endless code on every example.
            if outcomes and "endless" in outcomes[0]:
                outcomes.append({"near": True})
            else:
                outcomes.append(
                    _edited(answer, probe, usual, code, example, not outcomes)
                )
        for case, outcome in zip(cases, outcomes, strict=True):
            case["edits"].append(outcome)
    return {"cases": cases}


def _watched(
    answer: AnswerCode, probe: Probe, noted: str
) -> tuple[Callable[..., Any], list[_Watched]]:
    """Watch an answer on visible cases, and choose the most informative call of each.

    Returns:
        The watched function, and the chosen calls, the most informative first.

    Raises:
        CannotTraceError: no call of this code can be observed.
    """
    unit, notes = answer.exercise.split("/")[0], Notes()
    try:
        target = answer.defined(noted, notes)
    except Exception as error:
        raise CannotTraceError(f"on its own it raises {error_line(error)}") from None
    called = getattr(target, answer.method, None) if answer.method else target
    if not inspect.isfunction(called):
        raise CannotTraceError("it is not a plain function or class")
    exercise = load(unit, name=answer.exercise).get(answer.exercise)
    cases = exercise.cases if exercise else ()
    examples, was_called = list[_Watched](), False
    plain_cases = [case for case in cases if _is_plain(case)]
    for case in plain_cases[: 2 * _MOST_CASES]:
        watch = CallWatch(answer.method, _MOST_CALLS, False, _SECONDS, notes=notes)
        calls = watch.of(probe, target, case.inputs)
        was_called = was_called or bool(calls)
        usable = [
            _Watched(case, number, call)
            for number, call in enumerate(calls)
            if not call.raised and summary(call.result)["kind"] in _KINDS
        ]
        examples += [max(usable, key=_worth)] if usable else []
    if not examples:
        never = "no visible case calls it by itself, without an error"
        raise CannotTraceError(
            "it returns nothing to ask about" if was_called else never
        )
    # Only the best call is watched again, to find out which rows influence it.
    best, *further = sorted(examples, key=_worth, reverse=True)[:_MOST_CASES]
    watch = CallWatch(answer.method, best.number + 1, True, _SECONDS, notes=notes)
    call = watch.of(probe, target, best.case.inputs)[-1]
    return called, [replace(best, call=call), *further]


def _is_plain(case: Case) -> bool:
    """Return whether a case is ordinary: neither measured nor a general property."""
    return not (case.measure or case.says or properties.KEY in case.inputs)


def _worth(watched: _Watched) -> float:
    """Rate how informative a call is: many small arguments whose sizes differ.

    The weights are rough: what matters is the order of calls.
    """
    values = list(watched.call.arguments.values())
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    sizes = {size for value in tensors for size in value.shape} - {1}
    small = all(value.numel() <= _SMALL for value in tensors)
    short = all(max(value.shape, default=0) <= _SHORT for value in tensors)
    usual = all(bool((value.double().abs() < _LARGE).all()) for value in tensors)
    most = max((value.dim() for value in tensors), default=0)
    richness = float(sum(value is not None for value in values))
    richness += min(len(watched.call.notes), 20) / 2  # expressions that ran
    fits = 10 * (small and short) + 3 * usual + 20 * all(map(_is_told, values))
    return fits + 2 * len(tensors) + richness + min(most, 3) + 0.5 * len(sizes)


def _is_told(value: object) -> bool:
    """Whether a value's summary can describe it to a person."""
    description = summary(value)
    return is_told(
        description["kind"],
        description.get("dtype", ""),
        description.get("text", ""),
        description.get("facts", ()),
    )


def _describe_example(watched: _Watched) -> Summary:
    """Describe a watched call as plain data; see `report`."""
    call = watched.call
    return {
        "title": watched.case.title,
        "made": call.construction,
        "call": [[name, summary(value)] for name, value in call.arguments.items()],
        "notes": [[number, value] for number, value in call.notes.items() if value],
        "ran": sorted(call.notes),
        "result": summary(call.result),
        "moved": call.moved,
        "edits": [],
    }


def _edited(
    answer: AnswerCode, probe: Probe, usual: Callable[..., Any], code: str,
    before: _Watched, trace_last_rows: bool,
) -> Summary:  # fmt: skip
    """Run edited code in place of the original in one call, and compare the results.

    Args:
        usual: the original function, which runs in all earlier calls of the case.
        before: the same call of the original code.
        trace_last_rows: whether to find `WatchedCall.moved` as well.

    Returns:
        The new ``result``, ``moved``, and the `difference` from the old result; for
        an error, only ``raised``. If results cannot be compared, ``near``, with
        ``endless`` for code that takes too long.
    """
    most = before.number + 1
    results = []
    # With new memory full of ones and then of twos, to notice if it matters.
    for memory in (1.0, 2.0) if "empty" in code else (None,):
        watch = CallWatch(answer.method, most, trace_last_rows, _EDIT_SECONDS, usual)
        try:
            with _new_memory_holding(memory):
                calls = watch.of(probe, answer.defined(code), before.case.inputs)
        except Exception as error:  # it cannot even be defined
            return {"raised": error_line(error)}
        if watch.endless:
            return {"near": True, "endless": True}
        if len(calls) < most:
            return {"near": True}
        call = calls[-1]
        if call.raised:
            return {"raised": call.raised}
        results.append(call.result)
    if "same" not in difference(results[0], results[-1]):
        return {"near": True}  # its result depends on uninitialised memory
    outcome = {"result": summary(call.result), "moved": call.moved}
    return outcome | difference(before.call.result, call.result)


def _new_memory_holding(value: float | None) -> contextlib.AbstractContextManager[None]:
    """Return a context in which `torch.empty` and the like fill tensors with ``value``.

    If that is None, nothing is changed.
    """
    if value is None:
        return contextlib.nullcontext()

    def filled(original: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda *args, **options: original(*args, **options).fill_(value)

    makers = ((torch, "empty"), (torch, "empty_like"), (torch.Tensor, "new_empty"))
    return attributes_replaced(
        *((a, name, filled(getattr(a, name))) for a, name in makers)
    )
