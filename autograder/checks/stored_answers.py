"""How the answers of a case are stored: tensors beside JSON that says where they are.

A mistake is stored by what it answers otherwise than the solution. Its tensors are
pieces of one row for each dtype, since the name of each would take more room than most
of them; large ones are sketches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from autograder.checks.exercise import Answers, Case, Other, Predictions, Value
from autograder.checks.forms import dtype_of, form_of
from autograder.checks.sketches import LONGEST, SUMS, Sketch, sketch_tensor

_AS_EXPECTED = 0  # in place of a dtype and a shape
_SKETCHES = "sketches"


def sketch_mistakes(case: Case) -> Case:
    """Copy a case, with what is stored of its mistakes' answers."""
    mistakes = {
        variant: {
            name: shorten(value, case.expected.get(name), case)
            for name, value in answers.items()
        }
        for variant, answers in case.mistakes.items()
    }
    return replace(case, mistakes=mistakes)


def shorten(
    value: Value | Sketch, expected: Value | None, case: Case
) -> Value | Sketch:
    """What is stored of a mistake's answer: the sketch of a large tensor, or itself.

    Whether an answer is the expected one is decided before: a sketch is too coarse.
    """
    if expected is not None and _agrees(expected, value, case):
        return expected
    return _sketch_large(value)


def _sketch_large(value: Value | Sketch) -> Value | Sketch:
    if isinstance(value, torch.Tensor) and value.numel() > LONGEST:
        return sketch_tensor(value)
    return value


def select_whole(answers: Predictions) -> Answers:
    """Those of a mistake's answers that are no sketches."""
    return {n: value for n, value in answers.items() if not isinstance(value, Sketch)}


def pack(case: Case, prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    """The answers of a case as JSON; their tensors are added under names of a prefix.

    Of a mistake's answers, those that agree with the expected ones are left out.
    """
    roles = {"inputs": case.inputs, "expected": case.expected, "doubles": case.doubles}
    packed: dict[str, Any] = {
        role: [
            _pack_answer(name, value, f"{prefix}{role}/{name}", tensors)
            for name, value in answers.items()
        ]
        for role, answers in roles.items()
        if answers or role != "doubles"
    }
    if case.mistakes:
        rows: dict[str, list[torch.Tensor]] = {}
        packed["mistakes"] = {
            variant: _pack_mistake(answers, case, rows)
            for variant, answers in case.mistakes.items()
        }
        tensors |= {f"{prefix}mistakes/{k}": torch.cat(row) for k, row in rows.items()}
    return packed


def _pack_answer(
    name: str, value: Value, key: str, tensors: dict[str, torch.Tensor]
) -> list[str]:
    """An answer's name, how it is kept, and its text."""
    if isinstance(value, torch.Tensor):
        tensors[key] = value.detach().contiguous().clone()
        return [name, "tensor", ""]
    if isinstance(value, str):
        return [name, "text", value]
    return [name, "other", value.kind]


def _pack_mistake(
    answers: Predictions, case: Case, rows: dict[str, list[torch.Tensor]]
) -> dict[str, Any] | list[list[Any]]:
    """The answers that differ; or all as pairs, if one that is expected is missing."""
    lacks_some = not case.expected.keys() <= answers.keys()
    expected = {} if lacks_some else case.expected
    names = [*expected, *(name for name in answers if name not in expected)]
    packed = {
        name: _pack_prediction(answers[name], case.expected.get(name), rows)
        for name in names
        if name not in expected or not _agrees(expected[name], answers[name], case)
    }
    return [list(entry) for entry in packed.items()] if lacks_some else packed


def _pack_prediction(
    value: Value | Sketch, expected: Value | None, rows: dict[str, list[torch.Tensor]]
) -> Any:
    value = _sketch_large(value)
    if isinstance(value, str):
        return value
    if isinstance(value, Other):
        return {"other": value.kind}
    if isinstance(value, Sketch):
        form, kind, entries = value.form, _SKETCHES, value.sums
    else:
        form, kind, entries = form_of(value), dtype_of(value), value.flatten()
    rows.setdefault(kind, []).append(entries)
    is_usual = isinstance(expected, torch.Tensor) and form == form_of(expected)
    return _AS_EXPECTED if is_usual else list(form)


def _agrees(expected: Value, value: Value | Sketch, case: Case) -> bool:
    """Whether two answers agree far within the case's tolerance."""
    if not isinstance(expected, torch.Tensor) or not isinstance(value, torch.Tensor):
        return expected == value
    if expected.shape != value.shape or expected.dtype != value.dtype:
        return False
    if not expected.is_floating_point():
        return torch.equal(expected, value)
    return torch.allclose(expected, value, atol=case.atol / 4, rtol=case.rtol / 4)


def unpack(
    packed: dict[str, Any], prefix: str, read_tensor: Callable[[str], torch.Tensor]
) -> dict[str, Any]:
    """The inputs, expected answers, doubles and mistakes of a case."""

    def unpack_answer(role: str, name: str, storage: str, text: str) -> Value:
        if storage == "tensor":
            return read_tensor(f"{prefix}{role}/{name}")
        return text if storage == "text" else Other(text)

    answers: dict[str, Any] = {
        role: {entry[0]: unpack_answer(role, *entry) for entry in packed.get(role, ())}
        for role in ("inputs", "expected", "doubles")
    }
    rows = _Rows(lambda kind: read_tensor(f"{prefix}mistakes/{kind}"), {}, {})
    expected = answers["expected"]
    answers["mistakes"] = {
        variant: dict(_unpack_mistake(entries, expected, rows))
        for variant, entries in packed.get("mistakes", {}).items()
    }
    return answers


@dataclass
class _Rows:
    """The rows of a case's mistakes, of which one piece is taken after the other."""

    read: Callable[[str], torch.Tensor]
    rows: dict[str, torch.Tensor]
    places: dict[str, int]

    def take(self, kind: str, count: int) -> torch.Tensor:
        if kind not in self.rows:
            self.rows[kind], self.places[kind] = self.read(kind), 0
        start = self.places[kind]
        self.places[kind] = start + count
        return self.rows[kind][start : start + count]


def _unpack_mistake(
    packed: dict[str, Any] | list[list[Any]], expected: Answers, rows: _Rows
) -> Iterator[tuple[str, Value | Sketch]]:
    if isinstance(packed, list):
        for name, entry in packed:
            yield name, _unpack_prediction(entry, expected.get(name), rows)
        return
    for name, value in expected.items():
        if name in packed:
            yield name, _unpack_prediction(packed[name], value, rows)
        else:
            yield name, value
    for name, entry in packed.items():
        if name not in expected:
            yield name, _unpack_prediction(entry, None, rows)


def _unpack_prediction(
    entry: Any, expected: Value | None, rows: _Rows
) -> Value | Sketch:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, dict):
        return Other(entry["other"])
    if entry == _AS_EXPECTED:
        assert isinstance(expected, torch.Tensor)
        entry = form_of(expected)
    dtype, *shape = entry
    if (entries := math.prod(shape)) > LONGEST:
        return Sketch(dtype, tuple(shape), rows.take(_SKETCHES, SUMS))
    return rows.take(dtype, entries).view(shape)
