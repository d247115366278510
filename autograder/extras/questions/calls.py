"""Describe the call that the questions of a sheet are about."""

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


def call_of(listing: CodeListing, observation: Observation) -> str:
    """Describe the observed call, with the shapes or values of its arguments."""
    arguments = _arguments(observation)
    names = ", ".join(name for name, _ in arguments)
    called = f"`{listing.target}({names})`"
    if listing.method:
        method = "" if listing.method == "forward" else f".{listing.method}"
        called = (
            f"`module = {observation.construction}` and then `module{method}({names})`"
        )
    descriptions = [f"`{name}` {_value(value)}" for name, value in arguments]
    return f"{called} with {_join_words(descriptions)}" if descriptions else called


def find_untellable(observation: Observation) -> list[str]:
    """The names of arguments that cannot be described in a line, as a sheet needs."""
    return [name for name, value in _arguments(observation) if not value.is_told]


def _arguments(observation: Observation) -> list[tuple[str, Seen]]:
    return [(name, seen) for name, seen in observation.call if seen.kind != "NoneType"]


def _value(value: Seen) -> str:
    """Describe a value: a tensor by its shape, if need be with its entries."""
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


def _join_words(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
