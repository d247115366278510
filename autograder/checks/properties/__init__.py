"""Test general properties: call an object in many ways, whatever it computes.

The first call of an exercise's own probe is caught and repeated in ways that
make no difference to a correct solution: twice, example by example, in training
mode. This only reports; the caller compares with the course's solution.
"""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import Answers, WrongAnswerError, plain
from autograder.checks.language import SEPARATOR as SEPARATOR
from autograder.checks.language import translatable
from autograder.checks.probes import Inputs, Report, Seen, select_by_prefix
from autograder.checks.probes.weights import AWAITED, completed, select_weights
from autograder.checks.properties import arguments, learning, modules
from autograder.checks.properties.call import Call, Form, Named, Tries, copied
from autograder.checks.properties.result_log import ResultLog

KEY = "property"  # the input that says, in JSON, which ways are to be tried
WAYS = {
    function.__name__: function
    for function in (
        arguments.plain, arguments.steady, arguments.alone, arguments.spread,
        arguments.closed, learning.training, learning.dropout, learning.gradient,
        modules.loaded, modules.start,
    )
}  # fmt: skip


class _Caught(BaseException):
    """Ends a probe at its first call; `except Exception` does not catch it."""

    def __init__(self, target: Any, args: tuple[Any, ...], keywords: Named):
        super().__init__()
        self.target, self.args_given, self.keywords = target, args, keywords


def try_ways(probe: Report, answer: object, inputs: Inputs) -> Seen:
    """Call an object in the ways that ``inputs["property"]`` lists; report results.

    Results are reported for each call, under their own names followed by what is
    special about the call. If dropout is made by hand, only this is reported.
    """
    request = json.loads(str(inputs[KEY]))
    observations: dict[str, Any] = {}
    answers: Seen = {}
    parts, log = [], ResultLog()
    functions = answer if isinstance(answer, tuple) else (answer,)
    # The results of plain functions are recorded, to see if later calls change them.
    if all(map(inspect.isroutine, functions)):
        noting = tuple(map(log.noting, functions))
        answer = noting if isinstance(answer, tuple) else noting[0]
    for part in request["parts"]:
        part_inputs = select_by_prefix(inputs, part["inputs"])
        # All objects are made before the first one is called, so that state which they
        # wrongly share becomes visible.
        with _annotate_errors(part["label"]):
            tries = _observe_part(part, request, probe, answer, part_inputs)
            parts.append((part, _begun(tries)))
    with contextlib.ExitStack() as afterwards:
        for part, tries in parts:
            if "overwriting" in part:  # as a caller may do with results
                afterwards.enter_context(arguments.overwrite(answers))
            for label, find_out in tries:
                endings = [text for text in (label, part["label"]) if text]
                try:
                    with _annotate_errors(*endings):
                        answers = dict(find_out())
                except learning.ByHandError:
                    return learning.BY_HAND
                for name, value in answers.items():
                    observations[SEPARATOR.join([name, *endings])] = plain(value)
                if "overwriting" not in part:
                    log.copy_results()
    if not request["call"]["module"] and {part["way"] for part, _ in parts} & _SEVERAL:
        observations[CHANGED_LATER] = log.describe_changes()
    return observations


CHANGED_LATER = translatable("results that later calls have changed")
_SEVERAL = {"probe", "steady"}  # ways with several calls: earlier results must last


@contextlib.contextmanager
def _annotate_errors(*endings: str) -> Iterator[None]:
    """Add a note to an error on what was special about the call that raised it."""
    try:
        yield
    except Exception as error:
        if text := SEPARATOR.join(filter(None, endings)):
            error.add_note(text)
        raise


def _begun(tries: Tries) -> Tries:
    """Advance a generator to its first item, and return one that yields all items.

    This creates the objects to be called before the first call is made.
    """
    first = list(islice(tries, 1))
    return chain(first, tries)


def what_was_seen(name: str) -> tuple[str, str]:
    """Split an answer's name into what was reported and what is special about it.

    The second text, like "in eval mode", describes the call; it may be "".
    """
    reported, *endings = name.split(SEPARATOR)
    return reported, endings[0] if endings else ""


def by_hand(inputs: Inputs, answers: Answers) -> bool:
    """Return whether a case could not test where dropout is applied.

    It cannot if the student has implemented dropout instead of using PyTorch's.
    """
    parts = json.loads(str(inputs[KEY]))["parts"] if KEY in inputs else []
    way_names = {part["way"] for part in parts}
    return answers == learning.BY_HAND and way_names == {"dropout"}


def _observe_part(
    part: Named, request: Named, probe: Report, answer: Any, inputs: Inputs,
) -> Tries:  # fmt: skip
    """Yield the calls that one part of a request asks for, with their labels.

    Args:
        part: the ``way`` to call, a ``label``, and flags, as authoring packs them.
        request: the whole request, whose ``call`` describes arguments and results.
        inputs: the case's inputs for this part alone.
    """
    if part["way"] == "probe":  # run the exercise's own probe, on one of several inputs
        copies = {n: v.clone() if copied(v) else v for n, v in inputs.items()}
        if "named" in part:
            answer = _swap_argument_style(answer, Form(**request["call"]["called"]))
        yield "", partial(probe, answer, copies)
    else:
        call = caught(probe, answer, inputs, request["call"])
        yield from WAYS[part["way"]](call)


def _swap_argument_style(
    function: Callable[..., Any], form: Form
) -> Callable[..., Any]:
    """Wrap a function so that options given by position are passed by name.

    Options that are given by name are passed by position.
    """

    def call_otherwise(*args: Any, **keywords: Any) -> Any:
        values, options = (form.in_order if keywords else form.by_name)(args, keywords)
        return function(*values, **options)

    return call_otherwise


def caught(probe: Report, answer: Any, inputs: Inputs, form: Named) -> Call:
    """Catch the first call that a probe makes to an object, or to the module it makes.

    ``form`` describes the call: names and dimensions of its arguments and results.

    Raises:
        WrongAnswerError: the probe never gets that far.
    """
    constructor_calls: list[tuple[tuple[Any, ...], Named]] = []

    def function(*args: Any, **keywords: Any) -> Any:
        raise _Caught(answer, args, keywords)

    def module(*args: Any, **keywords: Any) -> Any:
        constructor_calls.append((args, keywords))
        return _watched(answer(*args, **keywords))

    try:
        probe(module if form["module"] else function, dict(inputs))
    except _Caught as call:
        made_with = (answer, *constructor_calls[0]) if constructor_calls else None
        return _call(call, form, inputs, made_with)
    raise WrongAnswerError("expected something callable")


def _watched(module: object) -> object:
    """Make a module's next call raise `_Caught`; return other objects as they are."""
    if not isinstance(module, nn.Module):
        return module
    kind = type(module)

    def caught_call(self: Any, *args: Any, **keywords: Any) -> Any:
        self.__class__ = kind  # later calls are not caught
        raise _Caught(self, args, keywords)

    members = {"__call__": caught_call, AWAITED: True}
    module.__class__ = type(kind.__name__, (kind,), members)
    return module


def _call(
    call: _Caught, form: Named, inputs: Inputs,
    made_with: tuple[Callable[..., Any], tuple[Any, ...], Named] | None,
) -> Call:  # fmt: skip
    """Return a caught call as a `Call`, its arguments under the exercise's names."""
    names = list(form["arguments"])
    bound = dict(zip(names, call.args_given, strict=False))
    bound |= {n: call.keywords.pop(n) for n in names if n in call.keywords}
    bound = {n: bound.get(n) for n in names if n in bound or n in form["optional"]}
    dims = {n: _name_dimensions(form["arguments"][n], v) for n, v in bound.items()}
    weights = select_weights(inputs)
    if made_with:
        # Modules made later also get the biases that they may lack, as the first did.
        make, args, keywords = made_with
        made_with = (lambda *a, **k: completed(make(*a, **k), weights), args, keywords)
    called, built = (Form(**form[key]) if key in form else None for key in _FORMS)
    flags = {name: form[name] for name in _FLAGS if name in form}
    return Call(
        target=call.target, arguments=bound, dims=dims, results=form["results"],
        optional=tuple(form["optional"]), keywords=call.keywords,
        weights=tuple(weights), called=called, construction=built,
        made_with=made_with, **flags,
    )  # fmt: skip


_FORMS = ("called", "made")  # of what is called, and of what makes a module
_FLAGS = ("typed", "narrow", "named", "alone", "shown")  # of a `Call`


def _name_dimensions(forms: list[list[str]], value: object) -> tuple[str, ...]:
    """Return the names of a value's dimensions.

    Of the declared shapes in ``forms``, a tensor takes the first of its rank, or ()
    if none fits. Any other value takes the last.
    """
    if isinstance(value, torch.Tensor):
        fitting = [form for form in forms if len(form) == value.dim()]
        return tuple(fitting[0]) if fitting else ()
    return tuple(forms[-1])
