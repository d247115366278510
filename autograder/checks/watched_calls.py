"""Watch the calls that a probe makes to a student's function or module."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from autograder.checks.exercise import Answers
from autograder.checks.facts import Summary
from autograder.checks.observe import describe_error, isolated
from autograder.checks.probes import Probe
from autograder.checks.time_limit import TooLongError, limit

_LONGEST = 200  # characters of an error

Notes = dict[int, Summary | None]


class _SeenEnoughError(BaseException):
    """Raised to end a probe as soon as the last call to be watched has ended."""


@dataclass
class WatchedCall:
    """A call of a student's function or method.

    Attributes:
        arguments: copies of the arguments, by name.
        construction: the code that created the module; "" for a function.
        raised: the error that the call raised, in one line; "" if none.
        notes: a summary of each traced expression's value, by number; None if the
            values differed or were too many.
        moved: by argument, whether its last row (along dimension -2) influences row
            0 of the first result.
    """

    arguments: dict[str, Any]
    construction: str = ""
    result: Any = None
    raised: str = ""
    notes: Notes = field(default_factory=dict)
    moved: dict[str, bool] = field(default_factory=dict)


@dataclass
class CallWatch:
    """Watches the first calls to an object while a probe runs.

    Args:
        method: the method of the class that is watched; "" for a function.
        most: the number of calls after which the probe is ended.
        trace_last_rows: whether to find `WatchedCall.moved` for the last call.
        seconds: the limit of CPU time for all of this.
        usual: runs in place of the watched function in all calls but the last.
        notes: the dictionary that traced code fills during a call.
        endless: whether the time limit was exceeded.
    """

    method: str
    most: int
    trace_last_rows: bool
    seconds: float
    usual: Callable[..., Any] | None = None
    notes: Notes = field(default_factory=dict)
    calls: list[WatchedCall] = field(default_factory=list)
    endless: bool = False
    _construction: str = ""

    def of(self, probe: Probe, target: Any, inputs: Answers) -> list[WatchedCall]:
        """Run a probe on an object, and return its first ``most`` calls to it."""
        with isolated(inputs) as copies:
            try:
                with contextlib.redirect_stdout(None), limit(self.seconds):
                    probe(self._watched(target), copies)
            except TooLongError:
                self.endless = True
            except (_SeenEnoughError, Exception, SystemExit):
                pass  # each call has recorded its own error
        return self.calls

    def _watched(self, target: Any) -> Any:
        """Wrap a function; for a class, return a subclass with a wrapped method."""
        if not self.method:
            return self._watching(target, 0)
        init = target.__init__

        @functools.wraps(init)
        def noting(module: Any, *args: Any, **options: Any) -> None:
            """Create the module, and store the creating code for its calls."""
            parts = [_short(value) for value in args]
            parts += [f"{key}={_short(value)}" for key, value in options.items()]
            self._construction = f"{target.__name__}({', '.join(parts)})"
            init(module, *args, **options)

        watching = self._watching(getattr(target, self.method), 1)
        members = {self.method: watching, "__init__": noting}
        return type(target.__name__, (target,), members)

    def _watching(self, function: Callable[..., Any], skip: int) -> Callable[..., Any]:
        """Wrap a function to record its calls, without the first ``skip`` arguments.

        If there is a ``usual`` function, it runs in all but the last call to watch.
        """
        signature = inspect.signature(function)

        @functools.wraps(function)
        def watching(*args: Any, **options: Any) -> Any:
            """Call the function and record it; the last call ends the probe."""
            bound = signature.bind(*args, **options)
            arguments = {n: _snapshot(v) for n, v in [*bound.arguments.items()][skip:]}
            call = WatchedCall(arguments, self._construction)
            self.calls.append(call)
            state, implementation = torch.get_rng_state(), function
            if self.usual and len(self.calls) < self.most:
                implementation = self.usual
            self.notes.clear()
            try:
                result = implementation(*args, **options)
            except (Exception, SystemExit) as error:
                call.raised = error_line(error)
                self._end()
                raise
            call.result, call.notes = _snapshot(result), dict(self.notes)
            if self.trace_last_rows and len(self.calls) == self.most:
                call.moved = _trace_last_rows(
                    functools.partial(function, *bound.args[:skip]), call, state
                )
            self._end()
            return result

        return watching

    def _end(self) -> None:
        """End the probe if this was the last call to be watched."""
        if len(self.calls) == self.most:
            raise _SeenEnoughError


def error_line(error: BaseException) -> str:
    """An error in one line: its type and the first line of its message."""
    return describe_error(error).splitlines()[0][:_LONGEST]


def _short(value: object) -> str:
    """A number, text or None as code, clipped; "..." for anything else."""
    plain = value is None or isinstance(value, bool | int | float | str)
    return repr(value)[:20] if plain else "..."


def _snapshot(value: Any) -> Any:
    """Copy the tensors in a value, since they may be changed in place later."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) is dict:
        return {key: _snapshot(part) for key, part in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_snapshot(part) for part in value)
    return value


def _trace_last_rows(
    function: Callable[..., Any], call: WatchedCall, state: torch.Tensor
) -> dict[str, bool]:
    """Say for each argument whether its last row influences row 0 of the first result.

    Arguments for which no repeated call has a comparable result are left out.
    """
    old, movement = _first(call.result), dict[str, bool]()
    if old is None or old.dim() < 2:
        return movement
    for name, value in call.arguments.items():
        for row in _other_rows(value):
            arguments = {key: _snapshot(v) for key, v in call.arguments.items()}
            arguments[name][..., -1, :] = row
            torch.set_rng_state(state)
            with contextlib.suppress(Exception):
                new = _first(function(**arguments))
                if new is not None and new.shape == old.shape:
                    rows = new[..., 0, :].float(), old[..., 0, :].float()
                    moved = not torch.allclose(*rows, equal_nan=True)
                    movement[name] = movement.get(name, False) or moved
    return movement


def _other_rows(value: object) -> tuple[torch.Tensor, ...]:
    """Return three replacements for the last row of a float tensor; () for others."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return ()
    if value.dim() < 2 or value.shape[-2] < 2:
        return ()
    last, steps = value[..., -1, :], torch.arange(1.0, value.shape[-1] + 1).to(value)
    return (
        -1.5 * last + 0.3 * steps,
        last.flip(-1) + 2.0 * (steps % 3),
        10.0 * torch.cos(steps).expand_as(last),
    )


def _first(result: Any) -> torch.Tensor | None:
    """Return the result, or the first of several results; None if it is no tensor."""
    part = result[0] if isinstance(result, tuple | list) and result else result
    return part.detach() if isinstance(part, torch.Tensor) else None
