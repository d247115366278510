"""Types that all of intake uses: refusals, repairs and limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.course.errors import CourseError
from autograder.course.printable import printable

STAMP, SECRET = "timestamp.txt", "submission_secret.txt"
OF_NBGRADER = (STAMP, SECRET)  # beside a submission; not written by students


class RefusedError(Exception):
    """A submission cannot be graded. The text is the plain reason, for the student."""


class UnreadableError(CourseError):
    """This account may not read what was handed in: no fault of the student's."""

    def __init__(self, path: Path | str, error: OSError):
        super().__init__(f"{path}: {error.strerror}; see to its owner and its mode")


@dataclass(frozen=True)
class Repair:
    """A correction of a hand-in: ``says`` describes it, ``kind`` is for counting."""

    kind: str
    says: str


@dataclass(frozen=True)
class SizeLimits:
    """Limits on the size of a submission, in bytes unless their names say otherwise.

    ``saved`` limits notebook files with their saved outputs. A notebook larger than
    ``notebook`` is read without its outputs, and refused if it is still too large.
    """

    file: int = 32 << 20
    total: int = 64 << 20
    files: int = 500
    folders_deep: int = 8
    notebook: int = 24 << 20
    saved: int = 512 << 20
    cells: int = 2000
    cell_characters: int = 200_000
    text_characters: int = 2_000_000


DEFAULTS = SizeLimits()
_MAX_ALIKE = 3  # repairs of a kind that a student reads


def join_names(names: Sequence[object], most: int = 3) -> str:
    """Join the first names, made safe to print, and say how many more there are."""
    texts = [printable(str(name))[:60] for name in names[:most]]
    omitted = len(names) - most
    return ", ".join(texts) + (f" and {omitted} more" if omitted > 0 else "")


def dump_repairs(repairs: Iterable[Repair]) -> list[dict[str, str]]:
    """Turn repairs into plain JSON values."""
    return [asdict(repair) for repair in repairs]


def limit_repairs(repairs: Iterable[Repair]) -> tuple[Repair, ...]:
    """Keep the first repairs of each kind, and say how many more there are of it."""
    kinds: dict[str, list[Repair]] = {}
    for repair in repairs:
        kinds.setdefault(repair.kind, []).append(repair)
    limited: list[Repair] = []
    for kind, group in kinds.items():
        limited += group[:_MAX_ALIKE]
        if (omitted := len(group) - _MAX_ALIKE) > 0:
            limited.append(Repair(kind, f"And {omitted:,} more like this."))
    return tuple(limited)


def load_repairs(values: Iterable[dict[str, str]]) -> tuple[Repair, ...]:
    """Turn the JSON values of `dump_repairs` into repairs again."""
    return tuple(Repair(**value) for value in values)
