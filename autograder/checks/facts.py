"""Describe a value in plain data: its kind, its shape, and facts about it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch

from autograder.checks.values import same_values

_MOST_PARTS = 4  # of a tuple that are described
_LONGEST = 40  # characters of a number or a text
_ALL_VALUES = 120  # items, and characters, of a collection that is printed
_MOST_ENTRIES = 16  # of a mask or a tensor of integers that is printed
_NEAR = 1e-3

Summary = dict[str, Any]  # plain data: it leaves a sandbox as JSON


def summary(value: object) -> Summary:
    """Describe a value as plain data: a dictionary with its ``kind``.

    A tensor also has a ``shape``, a ``dtype`` and ``facts`` (see `facts`), and a
    collection a ``length`` and ``parts``. Most short values have a ``text``.
    """
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided or value.is_meta:
            return {"kind": "other"}
        description = {"kind": "tensor", "shape": list(value.shape)}
        if value.numel() == 1:
            description["text"] = repr(value.item())[:_LONGEST]
        elif not value.is_floating_point() and 0 < value.numel() <= _MOST_ENTRIES:
            entries = value.int() if value.dtype == torch.bool else value
            description["text"] = str(entries.tolist())[:_ALL_VALUES]
        dtype = str(value.dtype).split(".")[1]
        return description | {"dtype": dtype, "facts": facts(value)}
    if value is None or isinstance(value, bool | int | float | str):
        description = {"kind": type(value).__name__, "text": repr(value)[:_LONGEST]}
        return description | ({"length": len(value)} if isinstance(value, str) else {})
    if isinstance(value, tuple | list | dict):
        values = value.values() if isinstance(value, dict) else value
        parts = [summary(part) for part in itertools.islice(values, _MOST_PARTS)]
        kind = "list" if isinstance(value, list) else type(value).__name__
        described: Summary = {"kind": kind, "length": len(value), "parts": parts}
        return described | _render_collection(value)
    return {"kind": "function" if callable(value) else "other"}


def _render_collection(value: tuple[Any, ...] | list[Any] | dict[Any, Any]) -> Summary:
    """A short collection of numbers and texts as ``{"text": ...}``; {} for others.

    Floats are rounded to three digits.
    """
    if len(value) > _ALL_VALUES or not _is_plain(value):
        return {}
    text = repr(_rounded(value))
    return {"text": text} if len(text) <= _ALL_VALUES else {}


def _rounded(value: Any) -> Any:
    """Round the floats in nested collections to three digits."""
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        # A named tuple cannot be made from one sequence of items: it becomes "".
        return type(value)(map(_rounded, value)) if type(value) in (tuple, list) else ""
    return value


def is_told(kind: str, dtype: str, text: str, facts: Collection[str]) -> bool:
    """Return whether a value's `summary` is enough to tell a person what the value is.

    The arguments are entries of the summary, empty if they are missing.
    """
    if kind == "tensor":
        return dtype != "bool" or bool(text) or not MASKS.isdisjoint(facts)
    return bool(text)


def facts(value: torch.Tensor) -> list[str]:
    """List what is true of a tensor, like "causal" or "rows sum to one"."""
    if value.is_complex() or not value.dim() or not value.numel():
        return []
    value = value.detach()
    return [name for name, holds in FACTS.items() if holds(value)]


def _sums_to_one(value: torch.Tensor, dim: int) -> bool:
    if value.dim() < -dim:
        return False
    sums = value.double().sum(dim)
    return bool(torch.allclose(sums, torch.ones_like(sums), rtol=_NEAR))


def _open(value: torch.Tensor) -> torch.Tensor:
    """A boolean mask of the entries that are not zero; a vector becomes one row."""
    mask: torch.Tensor = torch.atleast_2d(value != 0)
    return mask


def _is_causal(value: torch.Tensor) -> bool:
    """Whether a square matrix is zero exactly above its diagonal."""
    square = value.dim() > 1 and value.size(-1) == value.size(-2) > 1
    return square and bool(((value != 0) == torch.ones_like(value).tril().bool()).all())


MASKS = frozenset({"causal", "last key off", "all true", "all false"})
FACTS: Mapping[str, Callable[[torch.Tensor], bool]] = {
    "rows sum to one": lambda v: _sums_to_one(v, -1),
    "columns sum to one": lambda v: _sums_to_one(v, -2),
    "minus infinity": lambda v: bool((v == -torch.inf).any()),
    "nan": lambda v: bool(v.isnan().any()),
    "negative": lambda v: bool((v < 0).any()),
    "nothing above": lambda v: not _open(v).triu(1).any(),  # the main diagonal
    "something below": lambda v: bool(_open(v).tril(-1).any()),
    "causal": _is_causal,
    "last key off": lambda v: bool((v[..., :-1] != 0).all() and not v[..., -1].any()),
    "all true": lambda v: bool((v != 0).all()),
    "all false": lambda v: not bool((v != 0).any()),
}


def tensors(value: object) -> list[torch.Tensor]:
    """The tensors of a result: itself, or the parts of a tuple, list or dictionary."""
    parts = _parts(value)
    return [part.detach() for part in parts if isinstance(part, torch.Tensor)]


def _parts(value: object) -> list[object]:
    values = [*value.values()] if isinstance(value, dict) else value
    return [*values] if isinstance(values, tuple | list) else [values]


def difference(before: object, after: object) -> Summary:
    """Describe how the later of two results differs from the earlier one.

    Returns:
        ``{"same": True}`` if they agree, ``{"near": True}`` if that is uncertain.
        For other tensors, lists with an entry for each: ``turned``, whether its
        last two dimensions are swapped, and ``factors``, by what all its entries
        are multiplied, or None. For other values, {}.
    """
    olds, news = tensors(before), tensors(after)
    if not olds or len(olds) != len(news) or type(before) is not type(after):
        return _of_other_things(before, after)
    pairs = list(zip(olds, news, strict=True))
    if any(old.dtype != new.dtype for old, new in pairs):
        return {"near": True}
    plain_parts = [
        [part for part in _parts(value) if not isinstance(part, torch.Tensor)]
        for value in (before, after)
    ]
    is_same = _of_other_things(*plain_parts) == {"same": True}
    if is_same and all(_close(old, new) for old, new in pairs):
        return {"same": True}
    # If other values came beside the tensors, what has changed is uncertain.
    if plain_parts[0] or all(
        _close(old, new, rtol=1e-2, atol=1e-3) for old, new in pairs
    ):
        return {"near": True}
    return {
        "turned": [old.dim() > 1 and _close(old.mT, new) for old, new in pairs],
        "factors": [_factor(old, new) for old, new in pairs],
    }


def _of_other_things(before: object, after: object) -> Summary:
    """Compare two results that are not tensors, as `difference` does.

    Returns {"same": True}, {"near": True} if they are equal up to rounding or cannot
    be compared, or {} if they differ.
    """
    if not (_is_plain(before) and _is_plain(after)):
        return {"near": True}  # other objects cannot be compared
    if isinstance(before, float) and isinstance(after, float):
        if math.isclose(before, after, rel_tol=1e-6):
            return {"same": True}
        return {"near": True} if math.isclose(before, after, rel_tol=1e-3) else {}
    return {"same": True} if type(before) is type(after) and before == after else {}


def _is_plain(value: object, depth: int = 3) -> bool:
    """Whether `==` compares a value's content: numbers, texts, collections of them."""
    if isinstance(value, tuple | list | set | frozenset):
        return bool(depth) and all(_is_plain(part, depth - 1) for part in value)
    if isinstance(value, dict):
        return _is_plain([*value, *value.values()], depth)
    return value is None or isinstance(value, bool | int | float | str | bytes)


def _close(
    old: torch.Tensor, new: torch.Tensor, rtol: float = 1e-5, atol: float = 1e-6
) -> bool:
    return old.shape == new.shape and same_values(new, old, atol, rtol)


def _factor(old: torch.Tensor, new: torch.Tensor) -> float | None:
    """The factor by which all entries are multiplied; None if there is none."""
    if old.shape != new.shape or not old.numel():
        return None
    if not old.is_floating_point() or not old.isfinite().all() or not old.any():
        return None
    largest = old.abs().argmax()
    factor = float(new.flatten()[largest] / old.flatten()[largest])
    # One entry gives a factor; it counts only if it is that of all entries.
    exact = math.isfinite(factor) and _close(old * factor, new, rtol=_NEAR, atol=1e-4)
    return round(factor, 4) if exact else None
