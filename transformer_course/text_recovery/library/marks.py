"""A table of outputs that a student has classified by kinds of mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def table(kinds: Mapping[str, Sequence[int]], count: int) -> str:
    """Make a Markdown table of kinds of mistakes and their outputs, commonest first.

    ``kinds`` maps a kind to the numbers of its outputs, from 1 to ``count``.
    """
    by_kind = {kind: sorted(set(outputs)) for kind, outputs in kinds.items() if outputs}
    rows = [
        f"| {_write_cell(kind)} | {len(outputs)} | {_join_numbers(outputs)} |"
        for kind, outputs in sorted(by_kind.items(), key=lambda row: -len(row[1]))
    ]
    remarks = [f"- {text}" for text in _write_remarks(by_kind, count)]
    head = ["| kind | outputs | numbers |", "|:---|---:|:---|"]
    return "\n".join([*head, *rows, "", *remarks])


def _write_remarks(by_kind: Mapping[str, Sequence[int]], count: int) -> Iterator[str]:
    """Yield sentences about outputs without a kind, and about numbers of no output."""
    classified = {number for outputs in by_kind.values() for number in outputs}
    numbers = range(1, count + 1)
    if unclassified := [number for number in numbers if number not in classified]:
        listing = _join_numbers(unclassified)
        yield f"{len(unclassified)} of {count} outputs have no kind yet: {listing}."
    else:
        yield f"All {count} outputs have a kind."
    if invalid := sorted(classified - set(numbers)):
        yield f"There is no output {_join_numbers(invalid)}: they go from 1 to {count}."


def _join_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _write_cell(text: str) -> str:
    """A kind's name as a cell of a Markdown table: on one line, with `|` escaped."""
    return " ".join(text.split()).replace("|", "\\|")
