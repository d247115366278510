"""Parse what a sandbox reports about an answer; a student may have forged it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.checks.facts import is_told
from autograder.checks.tracing import MARK
from autograder.course.printable import printable
from autograder.extras.questions.question import OPTIONS

_LONGEST = 4_000_000  # the most characters of a report
_WORD = 120  # the most characters of a name or a text in it
_TRIVIAL = ("NameError", "UnboundLocalError", "AttributeError", "TypeError",
            "ImportError", "NotImplementedError", "SyntaxError", "AssertionError",
            "RecursionError", "MemoryError", "SystemExit")  # fmt: skip


# Messages of errors that depend on a library's limits rather than on the method.
_LIMITS = ("out of range", "zip()", "at least 2 dimensions", "at least two dimensions",
           "expected at least", "out of bounds", "start_dim", "to Scalar",
           "only one element", "single element", "could not infer output dtype",
           "not implemented for")  # fmt: skip


class NothingObservedError(Exception):
    """The sandbox has not observed an answer; the message says why."""


@dataclass(frozen=True)
class Seen:
    """A value as the sandbox describes it; see `autograder.checks.facts.summary`.

    Attributes:
        kind: "tensor", or the name of a type such as "int" or "tuple".
        text: the value, written as text; "" if it was not described in this way.
        shape, dtype: those of a tensor.
        facts: the names of the properties that a tensor has.
        parts: the first parts of a tuple, list or dictionary.
        length: the length of a text or a collection; None for other values.
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
        """Whether the value can be described to a person."""
        return is_told(self.kind, self.dtype, self.text, self.facts)

    @property
    def is_float(self) -> bool:
        return self.dtype in ("float16", "bfloat16", "float32", "float64")

    @property
    def number(self) -> float | None:
        """The value of a number, or of a tensor without dimensions.

        It is None for anything else, and if ``text`` is not a number.
        """
        if self.shape or self.kind not in ("tensor", "int", "float"):
            return None
        try:
            return float(self.text)
        except ValueError:
            return None

    @property
    def results(self) -> tuple[Seen, ...]:
        """The returned values: the parts of a tuple, or the value alone."""
        return self.parts if self.parts and self.kind == "tuple" else (self,)


@dataclass(frozen=True)
class EditOutcome:
    """What a changed version of an answer does on one case, compared with the answer.

    Attributes:
        raised: the error, or "".
        result: the returned value, if any.
        moved: by argument, whether its last row affects row 0 of the first result.
        is_same: whether the result is that of the unchanged answer.
        is_inconclusive: whether it is unclear if the result has changed.
        turned: by tensor of the result, whether its last two axes are swapped.
        factors: by tensor of the result, the factor of all its entries, if any.
    """

    raised: str = ""
    result: Seen | None = None
    moved: Mapping[str, bool] = field(default_factory=dict)
    is_same: bool = False
    is_inconclusive: bool = False
    turned: tuple[bool, ...] = ()
    factors: tuple[float | None, ...] = ()

    @property
    def is_trivial(self) -> bool:
        """Whether the error is of an obvious type, or due to a library's limits."""
        limits = any(word in self.raised for word in _LIMITS)
        return limits or self.raised.partition(":")[0] in _TRIVIAL

    @property
    def is_unclear(self) -> bool:
        """Whether no question should be asked about this outcome.

        That is so if it is inconclusive or trivial, or if the result contains NaN.
        """
        results = self.result.results if self.result else ()
        return (
            self.is_inconclusive
            or self.is_trivial
            or any("nan" in r.facts for r in results)
        )


@dataclass(frozen=True)
class Observation:
    """What a run of an answer on one case has shown, and what edits to its code do.

    Attributes:
        construction: the code that created the module; "" for a function.
        call: the arguments, as pairs of a name and a value.
        notes: pairs of a place's number and its value, if that was always the same.
        ran: the numbers of all places that were reached.
        moved: as in `EditOutcome`.
        edits: the outcome of each change, in the order in which they were tried.
    """

    title: str
    construction: str
    call: tuple[tuple[str, Seen], ...]
    notes: tuple[tuple[int, Seen], ...]
    ran: frozenset[int]
    result: Seen
    moved: Mapping[str, bool]
    edits: tuple[EditOutcome, ...]


def read(printed: str) -> list[Observation]:
    """Parse the observations that a cell has printed, the most informative case first.

    Raises:
        NothingObservedError: there are none, or they are invalid.
    """
    lines = [line for line in printed.splitlines() if line[: len(MARK)] == MARK]
    if not lines or len(lines[-1]) > _LONGEST:
        raise NothingObservedError("its code ended before it could be observed")
    try:
        report = json.loads(lines[-1][len(MARK) :])
        if refused := report.get("refused"):
            raise NothingObservedError(_text(refused))
        observations = [_observation(case) for case in report["cases"]]
        if len({len(observation.edits) for observation in observations}) != 1:
            raise ValueError("not the same edits")
        if len(observations) > OPTIONS:  # `which_input` makes an option of each case
            raise ValueError("too many cases")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise NothingObservedError("what its code reports makes no sense") from None
    return observations


def _observation(report: dict[str, Any]) -> Observation:
    """Read one case of a sandbox's report; an error if anything has a wrong type."""
    return Observation(
        title=_text(report["title"]),
        construction=_text(report["made"]),
        call=tuple((_text(name), _read_value(value)) for name, value in report["call"]),
        notes=tuple(
            (_integer(number), _read_value(value)) for number, value in report["notes"]
        ),
        ran=frozenset(map(_integer, report["ran"])),
        result=_read_value(report["result"]),
        moved=_read_moves(report["moved"]),
        edits=tuple(map(_outcome, report["edits"])),
    )


def _outcome(report: dict[str, Any]) -> EditOutcome:
    """Read from a report what an edit of the answer did on one case."""
    return EditOutcome(
        raised=_text(report.get("raised", "")),
        result=_read_value(report["result"]) if "result" in report else None,
        moved=_read_moves(report.get("moved", {})),
        is_same=report.get("same") is True,
        is_inconclusive=report.get("near") is True,
        turned=tuple(flag is True for flag in report.get("turned", ())),
        factors=tuple(
            factor if isinstance(factor, float) else None
            for factor in report.get("factors", ())
        ),
    )


def _read_value(report: dict[str, Any], depth: int = 0) -> Seen:
    """Parse the description of a value; raise an error if it is invalid."""
    if depth > 3:
        raise ValueError("tuples in tuples in tuples")
    return Seen(
        kind=_text(report["kind"]),
        text=_text(report.get("text", "")),
        shape=tuple(map(_integer, report.get("shape", ()))),
        dtype=_text(report.get("dtype", "")),
        facts=frozenset(map(_text, report.get("facts", ()))),
        parts=tuple(_read_value(part, depth + 1) for part in report.get("parts", ())),
        length=_integer(report["length"]) if "length" in report else None,
    )


def _read_moves(report: dict[str, Any]) -> dict[str, bool]:
    return {_text(name): value is True for name, value in report.items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return printable(value[:_WORD])  # a lone surrogate could not be written to a file


def _integer(value: object) -> int:
    if type(value) is not int:
        raise TypeError("not a number")
    return value
