"""The call that a sheet looks at, in words."""

from __future__ import annotations

from autograder.extras.questions.listing import CodeListing
from autograder.extras.questions.observations import Observation, Seen

_DTYPES = {"bool": " of booleans", "int64": " of integers", "float64": " in float64"}
_MASKS = {
    "causal": ", causal: `True` on the diagonal and below",
    "last key off": ", `False` for the last key alone",
    "all true": ", all `True`",
    "all false": ", all `False`",
}


def call_of(shown: CodeListing, seen: Observation) -> str:
    """The call that is looked at: its arguments with their shapes or values."""
    given = _given(seen)
    names = ", ".join(name for name, _ in given)
    called = f"`{shown.target}({names})`"
    if shown.method:
        method = "" if shown.method == "forward" else f".{shown.method}"
        called = f"`module = {seen.made}` and then `module{method}({names})`"
    told = [f"`{name}` {_value(value)}" for name, value in given]
    return f"{called} with {_listed(told)}" if told else called


def untold(seen: Observation) -> list[str]:
    """The arguments that cannot be told in a line: nothing is asked about the call."""
    return [name for name, value in _given(seen) if not value.is_told]


def _given(seen: Observation) -> list[tuple[str, Seen]]:
    return [(name, value) for name, value in seen.call if value.kind != "NoneType"]


def _value(value: Seen) -> str:
    if not value.is_tensor:
        number = value.number if value.kind == "float" else None
        return f"= `{value.text if number is None else f'{number:.6g}'}`"
    kind = _DTYPES.get(value.dtype, "")
    shape = f"of shape `{value.shape}`{kind}"
    words = next((_MASKS[name] for name in _MASKS if name in value.facts), "")
    if value.dtype == "bool" and words:
        return f"{shape}{words}"
    if kind and value.text and value.shape and not value.is_float:
        ones = ", written as 0 and 1:" if value.dtype == "bool" else ":"
        return f"{shape}{ones} `{value.text}`"
    return shape


def _listed(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
