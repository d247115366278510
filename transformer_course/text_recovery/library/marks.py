"""Outputs that a person has sorted by hand, as a table of kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def table(kinds: Mapping[str, Sequence[int]], count: int) -> str:
    """The kinds with their outputs as a Markdown table, the most frequent one first.

    Args:
        kinds: numbers of outputs, by kind of mistake.
        count: outputs, numbered from 1.
    """
    numbers = {kind: sorted(set(of)) for kind, of in kinds.items() if of}
    rows = [
        f"| {_cell(kind)} | {len(of)} | {_join_numbers(of)} |"
        for kind, of in sorted(numbers.items(), key=lambda row: -len(row[1]))
    ]
    remarks = [f"- {text}" for text in _remarks(numbers, count)]
    head = ["| kind | outputs | numbers |", "|:---|---:|:---|"]
    return "\n".join([*head, *rows, "", *remarks])


def _remarks(numbers: Mapping[str, Sequence[int]], count: int) -> Iterator[str]:
    sorted_ones = {number for of in numbers.values() for number in of}
    places = range(1, count + 1)
    if unsorted := [place for place in places if place not in sorted_ones]:
        listing = _join_numbers(unsorted)
        yield f"{len(unsorted)} of {count} outputs have no kind yet: {listing}."
    else:
        yield f"All {count} outputs have a kind."
    if strange := sorted(sorted_ones - set(places)):
        yield f"There is no output {_join_numbers(strange)}: they go from 1 to {count}."


def _join_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _cell(text: str) -> str:
    """A kind's name as a cell of a Markdown table: on one line, with `|` escaped."""
    return " ".join(text.split()).replace("|", "\\|")
