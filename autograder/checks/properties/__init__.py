"""General properties: one object, called in many ways, whatever exercise it solves.

An exercise's own probe makes the object and calls it; here that first call is caught,
and made again in ways that a right solution does not mind: twice, after other calls,
sentence by sentence, in training mode, from its state dict. As all probes, these report
and never judge: the reference is called in the same ways, and who holds it compares.
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
from autograder.checks.probes import Inputs, Report, Seen, under
from autograder.checks.probes.weights import AWAITED, completed, given_weights
from autograder.checks.properties import arguments, learning, modules
from autograder.checks.properties.call import Call, Form, Named, Tries, copied
from autograder.checks.properties.result_log import Kept

KEY = "property"  # the input that says, in JSON, which ways are to be tried
WAYS = {
    way.__name__: way
    for way in (
        arguments.plain, arguments.steady, arguments.alone, arguments.spread,
        arguments.closed, learning.training, learning.dropout, learning.gradient,
        modules.loaded, modules.start,
    )
}  # fmt: skip


class _Caught(BaseException):
    """Ends a probe at its first call; no handler of ordinary errors sees it."""

    def __init__(self, target: Any, args: tuple[Any, ...], keywords: Named):
        super().__init__()
        self.target, self.args_given, self.keywords = target, args, keywords


def tried(probe: Report, answer: object, inputs: Inputs) -> Seen:
    """What an object does in the ways that ``inputs["property"]`` asks for."""
    asked = json.loads(str(inputs[KEY]))
    seen: dict[str, Any] = {}
    parts, calls, kept = [], dict[str, Call](), Kept()
    functions = answer if isinstance(answer, tuple) else (answer,)
    if is_function := all(map(inspect.isroutine, functions)):
        noting = tuple(map(kept.noting, functions))
        answer = noting if isinstance(answer, tuple) else noting[0]
    for part in asked["parts"]:
        own = under(inputs, part["inputs"])
        # All objects are made before the first one is called: what one keeps for
        # itself, no other one may change.
        with _noted(part["label"]):
            tries = _observed(part, asked, probe, answer, own, calls)
            parts.append((part, _begun(tries)))
    with contextlib.ExitStack() as afterwards:
        for part, tries in parts:
            for label, find_out in tries:
                endings = [text for text in (label, part["label"]) if text]
                try:
                    with _noted(*endings):
                        found = find_out()
                except learning.ByHandError:
                    return learning.BY_HAND
                for name, value in found.items():
                    seen[SEPARATOR.join([name, *endings])] = plain(value)
                kept.look()
                if part["way"] == "probe" and is_function:
                    # A function's results are the caller's, who may write into them.
                    afterwards.enter_context(arguments.written_over(found))
    if not asked["call"]["module"] and {part["way"] for part, _ in parts} & _SEVERAL:
        seen["results that later calls have changed"] = kept.changed()
    return seen


_SEVERAL = {"probe", "steady"}  # ways that make several calls, each for its own sake


@contextlib.contextmanager
def _noted(*endings: str) -> Iterator[None]:
    """Have an error say what was special about the call that it ends."""
    try:
        yield
    except Exception as error:
        if text := SEPARATOR.join(filter(None, endings)):
            error.add_note(text)
        raise


def _begun(tries: Tries) -> Tries:
    """The same tries, once the first one can be made."""
    first = list(islice(tries, 1))
    return chain(first, tries)


def what_was_seen(name: str) -> tuple[str, str]:
    """From the name of an answer, what was reported and what was special about it."""
    reported, *endings = name.split(SEPARATOR)
    return reported, endings[0] if endings else ""


def by_hand(inputs: Inputs, answers: Answers) -> bool:
    """Whether a case asked for dropout's place, and its chance is made by hand.

    Such dropout cannot be replaced by a stand-in; other cases look at its effect.
    """
    parts = json.loads(str(inputs[KEY]))["parts"] if KEY in inputs else []
    ways = {part["way"] for part in parts}
    return answers == learning.BY_HAND and ways == {"dropout"}


def _observed(
    part: Named, asked: Named, probe: Report, answer: Any, inputs: Inputs,
    calls: dict[str, Call],
) -> Tries:  # fmt: skip
    """What is to be tried in one part; ``calls`` are those of the parts before it."""
    if part["way"] == "probe":  # the exercise's own, in a sequence of several inputs
        copies = {n: v.clone() if copied(v) else v for n, v in inputs.items()}
        if "named" in part:
            answer = _otherwise(answer, Form(**asked["call"]["called"]))
        yield "", partial(probe, answer, copies)
    elif "again" in part:  # what was made for an earlier part, with other arguments
        yield "", partial(calls[part["again"]], **inputs)
    else:
        call = caught(probe, answer, inputs, asked["call"])
        calls[part["inputs"]] = call
        yield from WAYS[part["way"]](call)


def _otherwise(function: Callable[..., Any], form: Form) -> Callable[..., Any]:
    """A function, with all its options by name; in their order, if they had names."""

    def called(*args: Any, **keywords: Any) -> Any:
        values, options = (form.in_order if keywords else form.by_name)(args, keywords)
        return function(*values, **options)

    return called


def caught(probe: Report, answer: Any, inputs: Inputs, form: Named) -> Call:
    """The first call that a probe makes of an object, or of the module it makes.

    Raises:
        WrongAnswerError: the probe never gets that far.
    """
    made: list[tuple[tuple[Any, ...], Named]] = []

    def function(*args: Any, **keywords: Any) -> Any:
        raise _Caught(answer, args, keywords)

    def module(*args: Any, **keywords: Any) -> Any:
        made.append((args, keywords))
        return _watched(answer(*args, **keywords))

    try:
        probe(module if form["module"] else function, dict(inputs))
    except _Caught as call:
        return _call(call, form, inputs, (answer, *made[0]) if made else None)
    raise WrongAnswerError("expected something callable")


def _watched(module: object) -> object:
    """A module whose next call is caught."""
    if not isinstance(module, nn.Module):
        return module
    kind = type(module)

    def caught_call(self: Any, *args: Any, **keywords: Any) -> Any:
        self.__class__ = kind
        raise _Caught(self, args, keywords)

    own = {"__call__": caught_call, AWAITED: True}
    module.__class__ = type(kind.__name__, (kind,), own)
    return module


def _call(
    call: _Caught, form: Named, inputs: Inputs,
    made: tuple[Callable[..., Any], tuple[Any, ...], Named] | None,
) -> Call:  # fmt: skip
    names = list(form["arguments"])
    given = dict(zip(names, call.args_given, strict=False))
    given |= {n: call.keywords.pop(n) for n in names if n in call.keywords}
    given = {n: given.get(n) for n in names if n in given or n in form["optional"]}
    dims = {n: _fitting(form["arguments"][n], v) for n, v in given.items()}
    weights = given_weights(inputs)
    if made:
        make, args, keywords = made
        made = (lambda *a, **k: completed(make(*a, **k), weights), args, keywords)
    called, built = (Form(**form[key]) if key in form else None for key in _FORMS)
    flags = {name: form[name] for name in _FLAGS if name in form}
    return Call(
        target=call.target,
        given=given,
        dims=dims,
        results=form["results"],
        optional=tuple(form["optional"]),
        keywords=call.keywords,
        weights=tuple(weights),
        called=called,
        made=built,
        made_with=made,
        **flags,
    )


_FORMS = ("called", "made")  # of what is called, and of what makes a module
_FLAGS = ("typed", "narrow", "named", "alone", "shown")  # of a `Call`


def _fitting(forms: list[list[str]], value: object) -> tuple[str, ...]:
    """The names of a tensor's dimensions: of several forms, the one of its rank."""
    if isinstance(value, torch.Tensor):
        fitting = [form for form in forms if len(form) == value.dim()]
        return tuple(fitting[0]) if fitting else ()
    return tuple(forms[-1])
