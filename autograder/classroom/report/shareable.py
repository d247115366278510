"""Make a report that can be shared: no students, and no groups that identify any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from autograder.classroom.report.rows import Band, MistakeRow, Overview, Tally

FEWEST = 5  # submissions, the least for a shareable report
RARE = 3  # groups of fewer people are merged or left out in a shareable report


def anonymous(overview: Overview) -> Overview:
    """Remove students' names, and counts so small that they might identify someone."""
    # A reason for a refusal may identify a student, so only the number is kept.
    refused = sum(row.count for row in overview.refused)
    exercises = [
        replace(
            row,
            full=None,
            part=None,
            none=None,
            blank=None,
            failed=(),
            without_points=(),
        )
        for row in overview.exercises
    ]
    return replace(
        overview,
        mistakes=tuple(_common_mistakes(overview.mistakes)),
        repairs=_common(overview.repairs),
        refused=_common((Tally("could not be read", refused),) if refused else ()),
        levels=_common(overview.levels),
        uncounted=overview.uncounted if overview.uncounted >= RARE else 0,
        bands=_wide_bands(overview.bands),
        exercises=tuple(exercises),
    )


def _common_mistakes(rows: Sequence[MistakeRow]) -> Iterator[MistakeRow]:
    """Yield the recognised mistakes that several students made, without names.

    The other reasons in an exercise are merged into at most one row.
    """
    common = [row for row in rows if row.name and row.count >= RARE]
    for row in common:
        yield MistakeRow(row.exercise, row.name, row.message, row.count)
    rare_counts: Counter[Any] = Counter()
    for row in rows:
        rare_counts[row.exercise] += 0 if row in common else row.count
    for exercise, count in rare_counts.most_common():
        if count >= RARE:
            yield MistakeRow(exercise, "", "other reasons, each of them rare", count)


def _common(rows: Sequence[Tally]) -> tuple[Tally, ...]:
    """Remove names, and merge the rows that count fewer than ``RARE`` submissions.

    If the merged row still counts fewer, it is left out.
    """
    common = [Tally(row.label, row.count) for row in rows if row.count >= RARE]
    rare_count = sum(row.count for row in rows if row.count < RARE)
    others = [Tally("others", rare_count)] if rare_count >= RARE else []
    return (*common, *others)


def _wide_bands(bands: Sequence[Band]) -> tuple[Band, ...]:
    """Merge neighbouring bands until each is empty or holds at least ``RARE``."""
    wide: list[Band] = []
    for band in bands:
        if wide and 0 < wide[-1].count < RARE:
            last = wide.pop()
            band = Band(last.low, band.high, last.count + band.count)
        wide.append(band)
    while len(wide) > 1 and 0 < wide[-1].count < RARE:
        last, before = wide.pop(), wide.pop()
        wide.append(Band(before.low, last.high, before.count + last.count))
    return tuple(wide)
