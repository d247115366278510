"""Write true and false statements for the options of multiple-choice questions.

They say how a change to the code would affect what a call returns, or describe
a value inside a call. A run in a sandbox has shown which of them are true.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.extras.questions.observations import EditOutcome, Observation, Seen

ROWS, COLUMNS, ABOVE = "rows sum to one", "columns sum to one", "nothing above"


@dataclass(frozen=True)
class Statement:
    """A sentence that may be an option of a question, and whether it is true.

    ``kind`` is what it is about, such as "shape", or "rows" for sums of rows.
    """

    kind: str
    text: str
    true: bool


# Groups of kinds that may imply each other, so that only one is among the options.
_IMPLIED = (
    {"rows", "columns", "nan", "factor"}, {"shape", "turned"}, {"true", "triangle"},
    {"empty", "shorter", "longer"},
)  # fmt: skip


def implied(kind: str, kinds: Sequence[str]) -> bool:
    """Return whether a statement of a kind may imply, or follow from, one of ``kinds``.

    If so, a question offers only one of them, as it has only one correct option.
    """
    return any(kind in group and not group.isdisjoint(kinds) for group in _IMPLIED)


def shape_of(shape: Sequence[int]) -> str:
    """A shape as code: ``(2, 3)``."""
    return f"`{tuple(shape)}`"


def other_shapes(shape: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """List wrong shapes that somebody who misunderstands the code might expect.

    ``shape`` is the correct one; ``sizes`` are those of other tensors' dimensions.
    """
    dims, shapes = tuple(shape), list[tuple[int, ...]]()
    if len(dims) > 1:
        shapes.append((*dims[:-2], dims[-1], dims[-2]))
        shapes.append(dims[:-1])
        shapes.append((*dims[:-1], dims[-2]))
    if len(dims) > 2:
        shapes.append((dims[1], dims[0], *dims[2:]))
        shapes.append((*dims[:-3], dims[-2], dims[-3], dims[-1]))
        shapes.append((*dims[:-3], dims[-3] * dims[-2], dims[-1]))
    shapes += [(*dims[:-1], size) for size in sizes]
    shapes += [(*dims[:-1], 1), (1, *dims), (*dims, 1)]
    return [new for new in dict.fromkeys(shapes) if new not in ((), dims)]


def after_edit(
    before: Observation, after: EditOutcome, names: Sequence[str]
) -> list[Statement]:
    """List true and false statements on how a change affects the result of a call.

    The most informative come first; the first true one is the correct option.
    ``names`` are what they call the parts of the result.
    """
    parts = before.result.results
    claims = [
        s for i in range(len(parts)) for s in _of_part(before, after, i, names[i])
    ]
    claims += _of_positions(before, after, names[0])
    ordered = sorted(claims, key=lambda claim: _ORDER.index(claim.kind))
    ordered.append(Statement("error", "It stops with an error.", bool(after.raised)))
    if not all(part.number is not None for part in parts):
        only_values = _keeps_shapes(before, after) and not after.is_same
        ordered.append(Statement("values", _other_values(before, names), only_values))
    text = "Nothing: it returns the same values."
    return [*ordered, Statement("nothing", text, after.is_same)]


_ORDER = (
    "larger", "smaller", "empty", "longer", "shorter", "columns", "rows", "nan",
    "sees", "triangle", "true", "turned", "factor", "shape",
)  # fmt: skip


def _other_values(before: Observation, names: Sequence[str]) -> str:
    """Write the statement that only values change, and say what stays the same."""
    rows = _first_with_rows(before)
    if rows is not None:
        if len(before.result.results[rows].shape) > 2:
            along = "along its last dimension"
            return f"Only values change; {names[rows]} still sums to 1 {along}."
        return f"Only values change; the rows of {names[rows]} still sum to 1."
    if any(part.is_tensor for part in before.result.results):
        return "Only values change; every shape stays the same."
    if all(part.length is not None for part in before.result.results):
        return "It returns a different value of the same type and length."
    return "It returns a different value of the same type."


def _first_with_rows(before: Observation) -> int | None:
    """The index of the first part of the result whose rows sum to 1; None for none."""
    parts = before.result.results
    return next((i for i, part in enumerate(parts) if ROWS in part.facts), None)


def _keeps_shapes(before: Observation, after: EditOutcome) -> bool:
    """Return whether an edit changes nothing but values: no kind, shape or length.

    It is also False if rows that summed to 1 no longer do.
    """
    if after.raised or after.result is None:
        return False
    olds, news = before.result.results, after.result.results
    rows = _first_with_rows(before)
    if len(olds) != len(news) or (rows is not None and ROWS not in news[rows].facts):
        return False
    return [(old.kind, old.shape, old.length) for old in olds] == [
        (new.kind, new.shape, new.length) for new in news
    ]


def _of_part(
    before: Observation, after: EditOutcome, index: int, name: str
) -> Iterator[Statement]:
    """List statements on how an edit changes part ``index`` of the result."""
    olds, news = before.result.results, after.result.results if after.result else ()
    old, new = olds[index], news[index] if len(news) == len(olds) else None
    if old.number is not None:
        yield from _of_numbers(name, old.number, new)
    elif not old.is_tensor:
        yield from _of_lengths(name, old, new)
    else:
        yield from _of_shapes(before, name, old, new)
        yield from _of_entries(name, old, new)
        # The report may be forged, so its lists may be too short.
        turned = after.turned[index : index + 1] == (True,)
        if len(old.shape) > 1:
            text = f"The last two dimensions of {name} are swapped; the values stay."
            yield Statement("turned", text, turned)
        factor = (*after.factors[index : index + 1], None)[0]
        if factor not in (None, 0.0, 1.0):
            yield Statement("factor", _times(name, factor or 0.0), True)


def _of_shapes(
    before: Observation, name: str, old: Seen, new: Seen | None
) -> Iterator[Statement]:
    """List statements on the shape that a tensor of the result has after an edit."""
    opening = f"{_capital(name)} now has the shape"
    shape = new.shape if new and new.is_tensor else None
    if shape is not None and shape != old.shape:
        yield Statement("shape", f"{opening} {shape_of(shape)}.", True)
    sizes = [size for _, value in before.call for size in value.shape]
    for candidate in other_shapes(old.shape, sizes):
        if candidate != shape:
            yield Statement("shape", f"{opening} {shape_of(candidate)}.", False)


def _of_entries(name: str, old: Seen, new: Seen | None) -> Iterator[Statement]:
    """List statements on the entries that a tensor of the result has after an edit."""
    if new and new.is_tensor and new.shape != old.shape:
        return  # its axes mean something else now
    facts = new.facts if new else frozenset[str]()
    lost = old.facts - facts if new and new.is_tensor else frozenset[str]()
    if old.dtype == "bool":
        for value in ("True", "False"):
            text = f"Every entry of {name} is `{value}`."
            yield Statement("true", text, f"all {value.lower()}" in facts)
    elif ROWS in old.facts and old.shape[-1] > 1:
        text = no_longer_sums(name, old)
        yield Statement("rows", text, ROWS in lost)
        axis = "second-to-last" if len(old.shape) > 2 else "first"
        text = (
            f"{_capital(name)} now sums to 1 along its {axis} dimension, and no "
            "longer along its last one."
        )
        yield Statement("columns", text, ROWS in lost and COLUMNS in facts)
    if old.is_float and "nan" not in old.facts:
        yield Statement("nan", f"Some entries of {name} become NaN.", "nan" in facts)
    if {ABOVE, "something below"} <= old.facts and min(old.shape[-2:]) > 1:
        text = f"{_capital(name)} no longer has only zeros above its diagonal."
        yield Statement("triangle", text, ABOVE in lost)


def no_longer_sums(name: str, value: Seen) -> str:
    """A sentence: the last dimension of a part of the result no longer sums to 1."""
    if len(value.shape) > 2:
        return f"{_capital(name)} no longer sums to 1 along its last dimension."
    return f"The rows of {name} no longer sum to 1."


def _of_numbers(name: str, old: float, new: Seen | None) -> Iterator[Statement]:
    """List statements on a result that is a single number."""
    number = new.number if new else None
    larger = number is not None and number > old
    smaller = number is not None and number < old
    yield Statement("larger", f"{_capital(name)} becomes larger.", larger)
    yield Statement("smaller", f"{_capital(name)} becomes smaller.", smaller)
    lost = number is not None and math.isnan(number)
    yield Statement("nan", f"{_capital(name)} becomes NaN.", lost)


def _of_lengths(name: str, old: Seen, new: Seen | None) -> Iterator[Statement]:
    """List statements on the length of a list or a dictionary."""
    if old.length is None or old.kind == "str":
        return
    length = new.length if new and new.kind == old.kind else None
    longer = length is not None and length > old.length
    shorter = length is not None and length < old.length
    yield Statement("longer", f"{_capital(name)} becomes longer.", longer)
    yield Statement("shorter", f"{_capital(name)} becomes shorter.", shorter)
    yield Statement("empty", f"{_capital(name)} is empty.", length == 0)


def _of_positions(
    before: Observation, after: EditOutcome, name: str
) -> Iterator[Statement]:
    """List statements on whether row 0 of a result depends on an argument's last row.

    Instead of rows, a batch has positions of sequences; see `positions`.
    """
    for argument, (first, last) in positions(before).items():
        depends = after.moved.get(argument)
        if not before.moved[argument]:
            text = f"{_capital(first)} of {name} now depends on {last}."
            yield Statement("sees", text, depends is True)
        else:
            text = f"{_capital(first)} of {name} no longer depends on {last}"
            batch = len(before.result.results[0].shape) > 2
            text += ", in any sequence." if batch else "."
            yield Statement("sees", text, depends is False)


def positions(before: Observation) -> dict[str, tuple[str, str]]:
    """Name a position of the result, and one of each argument that may influence it.

    Positions lie along the second-to-last axis.

    Returns:
        For each suitable argument, a pair such as ("row 0", "row 3 of `keys`").
    """
    shape = before.result.results[0].shape
    alike = {
        name: value.shape for name, value in before.call
        if name in before.moved and len(value.shape) == len(shape) > 1
        and value.shape[:-2] == shape[:-2]
    }  # fmt: skip
    # If no argument has as many rows as the result, their rows do not correspond.
    if shape[-2:-1] not in {argument_shape[-2:-1] for argument_shape in alike.values()}:
        return {}
    word = "row" if len(shape) == 2 else "position"
    return {
        name: (f"{word} 0", f"{word} {argument_shape[-2] - 1} of `{name}`")
        for name, argument_shape in alike.items()
    }


def _times(name: str, factor: float) -> str:
    """A sentence: all entries are multiplied by a factor."""
    if factor == -1:
        return f"Every entry of {name} changes its sign."
    direction = "larger" if abs(factor) > 1 else "smaller"
    return (
        f"All entries of {name} become {direction} in absolute value, by one common "
        f"factor (about {max(abs(factor), 1 / abs(factor)):.3g})."
    )


def _capital(name: str) -> str:
    return f"{name[:1].upper()}{name[1:]}"


def of_value(value: Seen) -> list[Statement]:
    """List statements on a tensor inside a call, the most informative first."""
    facts, two = value.facts, len(value.shape) > 1
    above = "It has only zeros (or `False`) above its diagonal."
    infinite = "minus infinity" in facts
    claims = [Statement("infinity", "Some of its entries are `-inf`.", infinite)]
    if value.dtype != "bool" and value.shape[-1] > 1:
        claims.append(Statement("rows", "Each of its rows sums to 1.", ROWS in facts))
    if two and value.dtype != "bool" and value.shape[-2] > 1:
        columns = "Each of its columns sums to 1."
        claims.append(Statement("columns", columns, COLUMNS in facts))
    if two and min(value.shape[-2:]) > 1:
        claims.append(Statement("triangle", above, ABOVE in facts))
    booleans = value.dtype == "bool"
    claims.append(Statement("booleans", "Its entries are booleans.", booleans))
    negative = "negative" in facts
    if value.is_float and (negative or "nan" not in facts):
        text = "None of its entries is negative."
        claims.append(Statement("sign", text, not negative))
    return claims
