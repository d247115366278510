"""Store the answers of a case: tensors, and JSON that says how to find them.

Of a mistake's answers, usually only those are stored that differ from the
solution's, and of large tensors only a sketch: a few weighted sums. The tensors
of all mistakes are joined into one flat row for each dtype.
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
    """Copy a case, with its mistakes' answers in the form in which they are stored."""
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
    """Convert a mistake's answer to the form in which it is stored.

    It becomes the expected answer if it agrees with that, or a sketch if large.
    """
    if expected is not None and _agrees(expected, value, case):
        return expected
    return _sketch_large(value)


def _sketch_large(value: Value | Sketch) -> Value | Sketch:
    if isinstance(value, torch.Tensor) and value.numel() > LONGEST:
        return sketch_tensor(value)
    return value


def select_whole(answers: Predictions) -> Answers:
    """Select those of a mistake's answers that are not stored as sketches."""
    return {n: value for n, value in answers.items() if not isinstance(value, Sketch)}


def pack(case: Case, prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Describe a case's answers in JSON, and add their tensors to ``tensors``.

    ``prefix`` begins the names under which tensors are added.
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
    """Return an answer's name, type and text; store a tensor in ``tensors[key]``."""
    if isinstance(value, torch.Tensor):
        tensors[key] = value.detach().contiguous().clone()
        return [name, "tensor", ""]
    if isinstance(value, str):
        return [name, "text", value]
    return [name, "other", value.kind]


def _pack_mistake(
    answers: Predictions, case: Case, rows: dict[str, list[torch.Tensor]]
) -> dict[str, Any] | list[list[Any]]:
    """Describe in JSON a mistake's answers that differ from the expected ones.

    Entries of tensors are added to ``rows``, by dtype.

    Returns:
        A dictionary by name; if the mistake lacks an expected answer, a list of
        pairs (name, description) for all of its answers.
    """
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
    """Describe a mistake's answer in JSON; add its entries to the row of its dtype.

    Returns:
        A text as it is; for a tensor, a list of its dtype and its sizes, or 0 if
        these are the expected ones; for any other value, ``{"other": type}``.
    """
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
    """Whether two answers are equal, or within a quarter of the case's tolerance."""
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
    """Restore a case's answers from what `pack` returned.

    Returns:
        The fields "inputs", "expected", "doubles" and "mistakes" of a `Case`.
    """

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
    """A reader for the rows of a case's mistakes, which takes piece after piece.

    ``read`` returns a whole row; ``places`` says where its next piece begins.
    """

    read: Callable[[str], torch.Tensor]
    rows: dict[str, torch.Tensor]
    places: dict[str, int]

    def take(self, kind: str, count: int) -> torch.Tensor:
        """Read the next entries of the row of a dtype, or of the sketches."""
        if kind not in self.rows:
            self.rows[kind], self.places[kind] = self.read(kind), 0
        start = self.places[kind]
        self.places[kind] = start + count
        return self.rows[kind][start : start + count]


def _unpack_mistake(
    packed: dict[str, Any] | list[list[Any]], expected: Answers, rows: _Rows
) -> Iterator[tuple[str, Value | Sketch]]:
    """Yield a mistake's answers by name; those left out are the expected ones."""
    entries = dict(packed)
    usual: Answers = {} if isinstance(packed, list) else expected
    for name in {**usual, **entries}:
        if name in entries:
            yield name, _unpack_prediction(entries[name], expected.get(name), rows)
        else:
            yield name, usual[name]


def _unpack_prediction(
    entry: Any, expected: Value | None, rows: _Rows
) -> Value | Sketch:
    """Restore an answer from its JSON and, if a tensor, the next piece of a row."""
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
