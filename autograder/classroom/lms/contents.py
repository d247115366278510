"""Read the files of a student's attempt, and choose the path where each is stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from autograder.classroom.lms.archive import Member, NotPlacedError, Source
from autograder.classroom.lms.layouts import Attempt, unused
from autograder.classroom.lms.sources import inside, strip_top
from autograder.course import notebooks
from autograder.grading import intake

ONLINE_TEXT = "onlinetext.html"  # text typed into Moodle, which adds it to the files
# The marks that browsers and systems add to the names of copies.
_DECORATION = re.compile(r"^(?:copy[ _]of[ _])*(.+?)(?:-\d+|\s?\(\d+\))*$", re.I)


@dataclass(frozen=True)
class AttemptFiles:
    """What a student handed in at one time.

    Attributes:
        files: contents by path, earlier uploads first.
        notes: remarks on the files for a person to read.
        fault: why they cannot be graded, "" if they can.
    """

    files: Mapping[str, bytes]
    notes: Sequence[str] = ()
    fault: str = ""


def contents(archive: Source, attempt: Attempt, unit: str, root: Path) -> AttemptFiles:
    """Read the files of an attempt, within the limits of grading.

    If there is no notebook, zips among the files are unpacked as well.

    Raises:
        NotPlacedError: the attempt is too large or damaged, or has no file.
    """
    limits, notes = intake.DEFAULTS, []
    if len(attempt.files) > limits.files:
        raise NotPlacedError(f"it has more than {limits.files} files")
    # In bytes: what may still be kept, and what notebooks may still have before
    # their outputs are left out.
    remaining, spare, files = limits.total, limits.saved, {}
    for path, member in attempt.files.items():
        if path.rpartition("/")[2].casefold() in intake.OF_NBGRADER:
            notes.append(f"left out: {path}, which students do not write")
            continue
        try:
            within = replace(limits, saved=spare)
            data, size = _read(archive, member, within, min(limits.file, remaining))
        except NotPlacedError as reason:
            raise NotPlacedError(f"{path}: {reason}") from None
        remaining, spare = remaining - len(data), spare - size
        files[path] = data
        notes += [intake.describe_slimming(path, size)] * bool(size)
    if not _notebooks(files):
        remaining = limits.total  # for all of them together
        for path, member in attempt.files.items():
            if path in files and path.lower().endswith(".zip"):
                try:
                    unpacked = _unpacked(archive, member, limits, remaining)
                    remaining -= sum(map(len, unpacked.values()))
                    for inner, data in unpacked.items():
                        files[unused(inner, files)] = data
                except NotPlacedError as reason:
                    notes.append(f"{path} cannot be unpacked: {reason}")
    if set(files) == {ONLINE_TEXT}:
        raise NotPlacedError("it is text typed into the LMS, without a file")
    stored: dict[str, bytes] = {}
    for path, data in files.items():
        stored[unused(_shorten(path), stored)] = data
    path, fault, remarks = _notebook(stored, unit, root)
    return AttemptFiles(_rename_notebook(stored, unit, path), [*notes, *remarks], fault)


def _notebook(
    files: Mapping[str, bytes], unit: str, root: Path
) -> tuple[str, str, list[str]]:
    """Find the unit's notebook among the files.

    Returns:
        Its path, "" if there is none; why the files cannot be graded, "" if they
        can; and remarks for a person to read.
    """
    path = root / "source" / unit / f"{unit}.ipynb"
    if not path.is_file():  # not one of our units: its notebooks may have any names
        submitted = _notebooks(files)
        missing = [] if submitted else ["there is no notebook in it"]
        return "".join(submitted[:1]), "", missing
    source = notebooks.read(path)
    handed_in = {path: intake.File(data) for path, data in files.items()}
    course_ids = partial(intake.grade_ids, root)
    try:
        chosen, repairs = intake.find_notebook(
            handed_in, f"{unit}.ipynb", source, course_ids=course_ids
        )
    except intake.RefusedError as reason:
        return "", str(reason), []
    # Of the repairs, only this one is worth telling now: work has been lost.
    notes = [r.says.removesuffix(".") for r in repairs if r.kind == "cut off"]
    release = root / "release" / unit / f"{unit}.ipynb"
    if release.is_file() and intake.is_unanswered(
        files[chosen], notebooks.read(release)
    ):
        notes.append("nothing in it is answered")
    return chosen, "", notes


def _read(
    source: Source, member: Member, limits: intake.SizeLimits, most: int
) -> tuple[bytes, int]:
    """Read a member; if it is a notebook that is too large, leave out its outputs.

    Returns:
        The content; and the original size if outputs were left out, else 0.
    """
    if member.size <= limits.notebook or not _notebooks([member.name]):
        return source.read(member, most), 0
    try:
        with source.open_member(member) as file:
            return intake.read_slim(file, limits, most)
    except intake.RefusedError as reason:
        raise NotPlacedError(str(reason)) from None


def _shorten(path: str) -> str:
    """Shorten the names in a path that are too long for a disk, each in its middle."""
    return "/".join(
        name if len(name.encode()) <= 255 else f"{name[:40]}...{name[-10:]}"
        for name in path.split("/")
    )


def _notebooks(files: Iterable[str]) -> list[str]:
    return [path for path in files if path.lower().endswith(".ipynb")]


def _unpacked(
    archive: Source, member: Member, limits: intake.SizeLimits, most_bytes: int
) -> dict[str, bytes]:
    """Unpack a zip that was handed in instead of a notebook; map paths to contents."""
    files: dict[str, bytes] = {}
    with inside(archive, member, limits.total) as packed:
        strip_top(packed)
        # Notebooks first, as only so many files are taken.
        members = sorted(
            packed.members, key=lambda inner: intake.notebooks_first(inner.name)
        )
        for inner in members[: limits.files]:
            if inner.name.rpartition("/")[2].casefold() not in intake.OF_NBGRADER:
                files[inner.name], size = _read(packed, inner, limits, most_bytes)
                most_bytes -= len(files[inner.name])
                limits = replace(limits, saved=limits.saved - size)
    return files


def _rename_notebook(
    files: Mapping[str, bytes], unit: str, path: str
) -> dict[str, bytes]:
    """Give the unit's notebook the name that grading expects; return the new files.

    Unless it is the only one and in no folder, only marks of copies, such as
    " (1)", are removed from names.
    """
    if _notebooks(files) == [path] and "/" not in path:
        return {(f"{unit}.ipynb" if p == path else p): d for p, d in files.items()}
    plain = {path: _undecorated(path) for path in files}
    # Unless two files would get the same name.
    if len(set(plain.values())) == len(files):
        return {plain[path]: data for path, data in files.items()}
    return dict(files)


def _undecorated(path: str) -> str:
    """Remove "Copy of ", " (1)" and "-1" from the name of a notebook in a path."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if not dot or suffix.lower() != "ipynb":
        return path
    plain = _DECORATION.sub(r"\1", stem)
    return f"{folder}/{plain}.{suffix}".lstrip("/")
