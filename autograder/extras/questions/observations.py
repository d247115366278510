"""What a sandbox reports of an answer, read as data that anybody may have forged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.checks.facts import is_told
from autograder.checks.tracing import MARK

_LONGEST = 4_000_000  # characters of a report
_WORD = 120  # characters of a name or a text in it
_TRIVIAL = ("NameError", "UnboundLocalError", "AttributeError", "TypeError",
            "ImportError", "NotImplementedError", "SyntaxError", "AssertionError",
            "RecursionError", "MemoryError", "SystemExit")  # fmt: skip


# Errors that ask for what a library allows, rather than for what the code means.
_LIMITS = ("out of range", "zip()", "at least 2 dimensions", "at least two dimensions",
           "expected at least", "out of bounds", "start_dim", "to Scalar",
           "only one element", "single element", "could not infer output dtype",
           "not implemented for")  # fmt: skip


class NothingObservedError(Exception):
    """The sandbox has nothing to tell of an answer; the text says why."""


@dataclass(frozen=True)
class Seen:
    """A value: its kind, and of a tensor its shape, dtype and what holds of it.

    A text, list or dictionary has a ``length``.
    """

    kind: str
    text: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    facts: frozenset[str] = frozenset()
    parts: tuple[Seen, ...] = ()
    length: int | None = None

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"

    @property
    def is_told(self) -> bool:
        """Whether a person can be told what it is."""
        return is_told(self.kind, self.dtype, self.text, self.facts)

    @property
    def is_float(self) -> bool:
        return self.dtype in ("float16", "bfloat16", "float32", "float64")

    @property
    def number(self) -> float | None:
        """What a number, or a tensor of a single one, is."""
        if self.shape or self.kind not in ("tensor", "int", "float"):
            return None
        try:
            return float(self.text)
        except ValueError:
            return None

    @property
    def results(self) -> tuple[Seen, ...]:
        """What was returned: the parts of a tuple, or the value alone."""
        return self.parts if self.parts and self.kind == "tuple" else (self,)


@dataclass(frozen=True)
class EditOutcome:
    """What an edit came to on one case, beside what the answer itself does.

    ``near`` says that nothing can be said for certain. ``moved`` is, by argument,
    whether its last row reaches row 0 of the first result. By part of the result,
    ``turned`` says whether its last two dimensions are swapped, and ``factors`` by
    which one all its numbers are multiplied.
    """

    raised: str = ""
    result: Seen | None = None
    moved: Mapping[str, bool] = field(default_factory=dict)
    same: bool = False
    near: bool = False
    turned: tuple[bool, ...] = ()
    factors: tuple[float | None, ...] = ()

    @property
    def is_trivial(self) -> bool:
        """Whether it stops with an error of a kind that no thought is needed for."""
        limits = any(word in self.raised for word in _LIMITS)
        return limits or self.raised.partition(":")[0] in _TRIVIAL

    @property
    def is_unclear(self) -> bool:
        """Whether nobody can be asked: chance, a limit of a library, or NaN."""
        results = self.result.results if self.result else ()
        return self.near or self.is_trivial or any("nan" in r.facts for r in results)


@dataclass(frozen=True)
class Observation:
    """An answer on one case: the call, its values, its result, and what edits do.

    ``notes`` are the values of places that were the same each time, ``ran`` are all
    places that were reached.
    """

    title: str
    made: str
    call: tuple[tuple[str, Seen], ...]
    notes: tuple[tuple[int, Seen], ...]
    ran: frozenset[int]
    result: Seen
    moved: Mapping[str, bool]
    edits: tuple[EditOutcome, ...]


def read(printed: str) -> list[Observation]:
    """The observations in what a cell has printed, the most telling case first.

    Raises:
        NothingObservedError: there is none, or it makes no sense.
    """
    lines = [line for line in printed.splitlines() if line[: len(MARK)] == MARK]
    if not lines or len(lines[-1]) > _LONGEST:
        raise NothingObservedError("its code ended before it could be observed")
    try:
        told = json.loads(lines[-1][len(MARK) :])
        if refused := told.get("refused"):
            raise NothingObservedError(_text(refused))
        found = [_observation(case) for case in told["cases"]]
        if len({len(one.edits) for one in found}) != 1:
            raise ValueError("not the same edits")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise NothingObservedError("what its code reports makes no sense") from None
    return found


def _observation(told: dict[str, Any]) -> Observation:
    return Observation(
        title=_text(told["title"]),
        made=_text(told["made"]),
        call=tuple((_text(name), _seen(value)) for name, value in told["call"]),
        notes=tuple(
            (_integer(number), _seen(value)) for number, value in told["notes"]
        ),
        ran=frozenset(map(_integer, told["ran"])),
        result=_seen(told["result"]),
        moved=_moved(told["moved"]),
        edits=tuple(map(_outcome, told["edits"])),
    )


def _outcome(told: dict[str, Any]) -> EditOutcome:
    return EditOutcome(
        raised=_text(told.get("raised", "")),
        result=_seen(told["result"]) if "result" in told else None,
        moved=_moved(told.get("moved", {})),
        same=told.get("same") is True,
        near=told.get("near") is True,
        turned=tuple(one is True for one in told.get("turned", ())),
        factors=tuple(
            one if isinstance(one, float) else None for one in told.get("factors", ())
        ),
    )


def _seen(told: dict[str, Any], depth: int = 0) -> Seen:
    if depth > 3:
        raise ValueError("tuples in tuples in tuples")
    return Seen(
        kind=_text(told["kind"]),
        text=_text(told.get("text", "")),
        shape=tuple(map(_integer, told.get("shape", ()))),
        dtype=_text(told.get("dtype", "")),
        facts=frozenset(map(_text, told.get("facts", ()))),
        parts=tuple(_seen(part, depth + 1) for part in told.get("parts", ())),
        length=_integer(told["length"]) if "length" in told else None,
    )


def _moved(told: dict[str, Any]) -> dict[str, bool]:
    return {_text(name): value is True for name, value in told.items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value[:_WORD]


def _integer(value: object) -> int:
    if type(value) is not int:
        raise TypeError("not a number")
    return value
