"""From what a student handed in to the notebook that is graded.

Nothing here runs student code, follows a link or writes a file. ``take`` reads a
submission's folder, ``find_notebook`` picks the unit's notebook by its content,
``rebuild`` lays the student's answers into the course's own notebook, and
``handed_in`` tells when it came. What had to be put right is told in ``Repair``s.
"""

from __future__ import annotations

import datetime
import fnmatch
import json
import os
import re
import stat
import zoneinfo
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum, is_grade, is_solution

from autograder.errors import CourseError


class Refused(Exception):
    """A submission cannot be graded. The text is the plain reason, for the student."""


@dataclass(frozen=True)
class Repair:
    """Something that was put right: ``kind`` for counting, ``says`` for reading."""

    kind: str
    says: str


@dataclass(frozen=True)
class Limits:
    """How much of a submission is taken; sizes in bytes unless they say otherwise."""

    file: int = 32 << 20
    total: int = 64 << 20
    files: int = 500
    folders_deep: int = 8
    notebook: int = 24 << 20
    cells: int = 2000
    cell_characters: int = 200_000
    text_characters: int = 2_000_000


@dataclass(frozen=True)
class File:
    """A regular file of a submission: what it holds and when it was last changed."""

    data: bytes
    time: float = 0.0


@dataclass(frozen=True)
class Taken:
    """What was taken of a folder: relative path -> file, and what was left out."""

    files: Mapping[str, File]
    repairs: tuple[Repair, ...] = ()


DEFAULTS = Limits()

# --- files -------------------------------------------------------------------

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def take(folder: Path, limits: Limits = DEFAULTS, ignore: Sequence[str] = ()) -> Taken:
    """Read the regular files of a submission's folder.

    Links, FIFOs, sockets, devices, unreadable or too large files and names that are
    not plain text are left out and reported. Notebooks come first, so that no heap of
    other files can crowd them out.

    Args:
        ignore: file name patterns to skip silently (``CourseDirectory.ignore``).

    Raises:
        Refused: the folder itself is a link, no folder, or unreadable.
    """
    left_out: dict[str, list[str]] = {}
    paths = sorted(
        _walk(folder, limits, ignore, left_out),
        key=lambda path: (not path.lower().endswith(".ipynb"), path),
    )
    files: dict[str, File] = {}
    room = limits.total
    for path in paths:
        try:
            files[path] = _read(folder / path, min(limits.file, room))
            room -= len(files[path].data)
        except Refused as reason:
            left_out.setdefault(str(reason), []).append(path)
    return Taken(files, tuple(_left_out(left_out)))


def _walk(
    folder: Path, limits: Limits, ignore: Sequence[str], left_out: dict[str, list[str]]
) -> Iterator[str]:
    """Relative paths of what look like regular files; reasons go to ``left_out``."""
    if folder.is_symlink() or not folder.is_dir():
        raise Refused("the submission is not a folder")
    waiting, seen = [""], 0
    while waiting:
        here = waiting.pop()
        try:
            entries = _entries(folder / here, limits.files + 1)
        except OSError:
            if not here:
                raise Refused("the submission's folder cannot be read") from None
            left_out.setdefault("cannot be read", []).append(here)
            continue
        for entry in entries:
            seen += 1
            if seen > limits.files:
                left_out.setdefault("are too many files", []).append(f"{here or '.'}/…")
                return
            path = f"{here}/{entry.name}".lstrip("/")
            if any(fnmatch.fnmatch(entry.name, pattern) for pattern in ignore):
                continue
            reason = _objection(entry, path, limits)
            if reason:
                left_out.setdefault(reason, []).append(path)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                yield path


def _entries(folder: Path, most: int) -> list[os.DirEntry]:
    with os.scandir(folder) as scan:
        found = [entry for entry, _ in zip(scan, range(most), strict=False)]
    return sorted(found, key=lambda entry: entry.name)


def _objection(entry: os.DirEntry, path: str, limits: Limits) -> str:
    if not entry.name.isprintable() or len(path) > 1000:
        return "has a name that is not plain text"
    if entry.is_symlink():
        return "is a link"
    if entry.is_dir(follow_symlinks=False):
        return "lies too deep" if path.count("/") >= limits.folders_deep else ""
    return "" if entry.is_file(follow_symlinks=False) else "is not a regular file"


def _read(path: Path, most: int) -> File:
    """A regular file of at most ``most`` bytes.

    Raises:
        Refused: what it is instead.
    """
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        raise Refused("cannot be read") from None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refused("is not a regular file")
        if status.st_size > most:
            raise Refused("is too large")
        try:
            data = file.read(most + 1)
        except OSError:
            raise Refused("cannot be read") from None
    if len(data) > most:
        raise Refused("is too large")
    return File(data, status.st_mtime)


def _left_out(reasons: Mapping[str, list[str]]) -> Iterator[Repair]:
    for reason, paths in reasons.items():
        yield Repair("file left out", f"Left out: {_listed(paths)} ({reason}).")


def _listed(names: Sequence[object], most: int = 3) -> str:
    """The names, safe to print, the first few of many."""
    shown = [re.sub(r"[^ -~]", "?", str(name))[:60] for name in names[:most]]
    rest = len(names) - most
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


# --- time --------------------------------------------------------------------

_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)"
    r"(?: ?(Z|[+-]\d\d:?\d\d|[A-Za-z]+(?:[/_-][A-Za-z]+)*))?"
)
_SKEW = datetime.timedelta(minutes=5)  # the clocks of two honest machines may differ


def handed_in(folder: Path) -> tuple[datetime.datetime | None, tuple[Repair, ...]]:
    """When a submission was handed in (UTC, without zone), None if nobody wrote it.

    The rule: ``timestamp.txt``, which nbgrader's collecting puts there, is believed if
    it is a plain time between the year 2000 and the collection. The collection is the
    latest change of the folder's or the file's inode, a time that the system sets and
    no archive or copy can choose. An unreadable or later stamp counts as the time of
    collection and is reported (up to five minutes later, clocks just differ: not
    reported). Without a stamp no time is known, and nothing counts as late.
    """
    path = folder / "timestamp.txt"
    try:
        text = _read(path, 100).data.decode("ascii", "replace").strip()
        status = (folder.stat(), path.stat())
    except (Refused, OSError):
        if os.path.lexists(path):
            text, status = "", (folder.lstat(), path.lstat())
        else:
            return None, ()
    latest = max(change.st_ctime for change in status)
    collected = datetime.datetime.fromtimestamp(latest, datetime.UTC)
    collected = collected.replace(tzinfo=None)
    stamp = parse_stamp(text)
    if stamp and stamp.year >= 2000 and stamp <= collected:
        return stamp, ()
    if stamp and collected < stamp <= collected + _SKEW:
        return collected, ()
    says = "The time of submission was unreadable; the time of collection counts."
    return collected, (Repair("time", says),)


def parse_stamp(text: str) -> datetime.datetime | None:
    """A time as nbgrader writes it, in UTC without zone; None if it is not one."""
    found = _STAMP.fullmatch(text)
    if not found:
        return None
    zone = found[2] or "UTC"
    try:
        if zone[0] in "+-" or zone in ("Z", "UTC"):
            offset = "+00:00" if zone in ("Z", "UTC") else zone
            time = datetime.datetime.fromisoformat(found[1] + offset)
        else:
            time = datetime.datetime.fromisoformat(found[1])
            time = time.replace(tzinfo=zoneinfo.ZoneInfo(zone))
        return time.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


# --- reading a notebook ------------------------------------------------------

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")


@dataclass(frozen=True)
class Cell:
    """A student's cell, as far as it is read: all else of the file is dropped."""

    kind: str
    source: str
    grade_id: str = ""
    ids: tuple[str, ...] = ()
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Submission:
    """A student's notebook; ``personal`` says that Colab put a name into it."""

    cells: tuple[Cell, ...]
    language: str = ""
    personal: bool = False


def read(data: bytes, limits: Limits = DEFAULTS) -> Submission:
    """The cells of a notebook of any version, from whoever wrote it.

    Raises:
        Refused: too large, not JSON, nested too deeply, or not a notebook.
    """
    document = _json(data, limits)
    raw = _raw_cells(document)
    if raw is None:
        raise Refused("it is not a notebook")
    if len(raw) > limits.cells:
        raise Refused(f"it has more than {limits.cells} cells")
    cells = [cell for cell in map(_cell, raw) if cell]
    if sum(len(cell.source) for cell in cells) > limits.text_characters:
        raise Refused(f"it holds more than {limits.text_characters} characters of text")
    metadata = _dict(document.get("metadata"))
    kernel = _dict(metadata.get("kernelspec"))
    language = _text(_dict(metadata.get("language_info")).get("name"))
    language = language or _text(kernel.get("language"))
    return Submission(tuple(cells), language.lower(), _is_personal(raw))


def _json(data: bytes, limits: Limits) -> dict:
    if len(data) > limits.notebook:
        raise Refused(f"it is larger than {limits.notebook >> 20} MB")
    if not data.strip():
        raise Refused("it is empty")
    text = data.decode(json.detect_encoding(data), "replace")
    try:
        # Python refuses to read an integer of thousands of digits; none matters here.
        document = json.loads(text, parse_int=lambda digits: int(digits[:18]))
    except RecursionError:
        raise Refused("it is nested too deeply") from None
    except (ValueError, MemoryError):
        raise Refused("it is not readable; perhaps it was cut off") from None
    return _dict(document)


def _raw_cells(document: dict) -> list | None:
    cells = document.get("cells")
    if not isinstance(cells, list) and isinstance(document.get("worksheets"), list):
        sheets = [_dict(sheet).get("cells") for sheet in document["worksheets"]]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    return cells if isinstance(cells, list) else None


def _cell(raw: object) -> Cell | None:
    if not isinstance(raw, dict):
        return None
    metadata = _dict(raw.get("metadata"))
    kind = raw.get("cell_type")
    source = _text(raw.get("source", raw.get("input")))
    if kind == "heading":  # nbformat 3
        level = raw.get("level")
        kind = "markdown"
        source = "#" * (level if level in (1, 2, 3, 4, 5, 6) else 1) + " " + source
    ids = [_text(raw.get("id")), _text(metadata.get("id"))]
    return Cell(
        kind if kind in ("code", "markdown") else "raw",
        source,
        _text(_dict(metadata.get("nbgrader")).get("grade_id")),
        tuple(identifier for identifier in ids if identifier),
        _attachments(raw.get("attachments")),
    )


def _dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """A string or a list of lines as text that can be written again."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    if not isinstance(value, str):
        return ""
    value = value.replace("\r\n", "\n").replace("\x00", "")
    return value.encode("utf-8", "replace").decode("utf-8")


def _attachments(value: object) -> dict[str, dict[str, str]]:
    """The pictures that were dropped into a text cell."""
    kept = {}
    for name, bundle in _dict(value).items():
        for kind, data in _dict(bundle).items():
            if kind in _PICTURES and _BASE64.fullmatch(_text(data)):
                kept[_text(name)] = {kind: _text(data)}
    return kept


def _is_personal(raw: list) -> bool:
    metadata = (_dict(_dict(cell).get("metadata")) for cell in raw)
    return any(_dict(data.get("executionInfo")).get("user") for data in metadata)


# --- matching with the course's notebook -------------------------------------

_DEFINITION = re.compile(
    r"^(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)"
    r"|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class _Slot:
    """A cell of the course's notebook, as it is graded and as it was released."""

    source: NotebookNode
    release: NotebookNode

    @property
    def grade_id(self) -> str:
        return self.source.metadata.get("nbgrader", {}).get("grade_id", "")

    @property
    def name(self) -> str:
        return self.grade_id.removesuffix("-answer")

    @property
    def is_answer(self) -> bool:
        return bool(is_solution(self.source))

    @property
    def is_test(self) -> bool:
        return bool(is_grade(self.source)) and not self.is_answer

    @property
    def targets(self) -> set[str]:
        code = self.release.cell_type == "code"
        return _defined(self.release.source) if code else set()


def _slots(source: NotebookNode, release: NotebookNode) -> list[_Slot]:
    slots = [_Slot(*pair) for pair in zip(source.cells, release.cells, strict=False)]
    same = len(source.cells) == len(release.cells) and all(
        slot.grade_id == _Slot(slot.release, slot.release).grade_id for slot in slots
    )
    if not same:
        raise CourseError(
            "source and release notebooks differ; build and release the unit again"
        )
    return slots


def _defined(code: str) -> set[str]:
    """The names that code defines at its top level, found without parsing it."""
    return {name for pair in _DEFINITION.findall(code) for name in pair if name}


def _plain(text: str) -> str:
    """Text without what editors change: trailing blanks and blank lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _same(one: str, other: str) -> bool:
    return _plain(one) == _plain(other)


class _Match:
    """Which cell of a submission belongs to which slot, and how it was told."""

    def __init__(self, slots: Sequence[_Slot], cells: Sequence[Cell]):
        self.slots, self.cells = slots, cells
        self.slot_of: dict[int, int] = {}
        self.restored: list[int] = []  # answers told by something else than grade_id
        self.moved_in: list[int] = []  # answers found in cells of the student's own
        self._defined = [_defined(cell.source) for cell in cells]
        self._by_grade_id()
        self._by_id()
        self._by_text()
        self._by_definition()
        self._by_place()

    def of(self, slot: int) -> list[int]:
        """The numbers of the cells of a slot, in the student's order."""
        return sorted(cell for cell, there in self.slot_of.items() if there == slot)

    def is_filled(self, cell: int) -> bool:
        stub = self.slots[self.slot_of[cell]].release.source
        text = self.cells[cell].source
        return bool(text.strip()) and not _same(text, stub)

    def filled(self, slot: int) -> list[int]:
        return [cell for cell in self.of(slot) if self.is_filled(cell)]

    def _free(self) -> list[int]:
        return [n for n in range(len(self.cells)) if n not in self.slot_of]

    def _by_grade_id(self) -> None:
        known = {slot.grade_id: n for n, slot in enumerate(self.slots) if slot.grade_id}
        for number, cell in enumerate(self.cells):
            if cell.grade_id in known:
                self.slot_of[number] = known[cell.grade_id]

    def _by_id(self) -> None:
        known = {slot.source.get("id", ""): n for n, slot in enumerate(self.slots)}
        known.pop("", None)
        for number in self._free():
            slots = [known[i] for i in self.cells[number].ids if i in known]
            if slots:
                self._restore(number, slots[0])

    def _by_text(self) -> None:
        taken = set(self.slot_of.values())
        known = {
            _plain(slot.release.source): n
            for n, slot in enumerate(self.slots)
            if n not in taken and slot.release.source.strip()
        }
        for number in self._free():
            slot = known.pop(_plain(self.cells[number].source), None)
            if slot is not None:
                self._restore(number, slot)

    def _by_definition(self) -> None:
        for n, slot in enumerate(self.slots):
            if not slot.is_answer or not slot.targets or self.filled(n):
                continue
            found = [
                number
                for number in self._free()
                if self.cells[number].kind == "code"
                and self._defined[number] & slot.targets
            ]
            if found:
                self.slot_of[found[-1]] = n
                self.moved_in.append(n)

    def _by_place(self) -> None:
        """An answer without a mark, alone between the two neighbours it should have."""
        for n, slot in enumerate(self.slots):
            if slot.is_answer and not self.of(n):
                kind = slot.source.cell_type
                free = [c for c in self._gap(n) if c not in self.slot_of]
                alike = [cell for cell in free if self.cells[cell].kind == kind]
                if len(alike) == 1:
                    self._restore(alike[0], n)

    def _gap(self, n: int) -> range:
        """The cells between those of the slots before and behind; none if unknown."""
        before = [-1] if n == 0 else self.of(n - 1)
        last = n + 1 == len(self.slots)
        behind = [len(self.cells)] if last else self.of(n + 1)
        return range(before[-1] + 1, behind[0]) if before and behind else range(0)

    def _restore(self, number: int, slot: int) -> None:
        self.slot_of[number] = slot
        if self.slots[slot].is_answer:
            self.restored.append(slot)

    def in_place(self) -> set[int]:
        """The largest set of matched cells that stand in the course's order."""
        ends: list[int] = []  # smallest last slot of a run of each length
        last: list[int] = []  # the cell that ends it
        before: dict[int, int | None] = {}
        for cell in sorted(self.slot_of):
            slot = self.slot_of[cell]
            length = bisect_left(ends, slot)
            before[cell] = last[length - 1] if length else None
            ends[length : length + 1] = [slot]
            last[length : length + 1] = [cell]
        run, cell = set(), last[-1] if last else None
        while cell is not None:
            run.add(cell)
            cell = before[cell]
        return run

    def recognised(self) -> int:
        """How many graded or answered slots have a cell."""
        graded = {n for n, slot in enumerate(self.slots) if slot.grade_id}
        return len(graded & set(self.slot_of.values()))

    def belongs(self) -> bool:
        """Whether this can be the unit's notebook at all."""
        told = {slot for slot in self.slot_of.values()}
        return self.recognised() > 0 or 5 * len(told) > len(self.slots)


def find_notebook(
    files: Mapping[str, File],
    name: str,
    release: NotebookNode,
    limits: Limits = DEFAULTS,
) -> tuple[str, tuple[Repair, ...]]:
    """The path of the file that is the unit's notebook, told by its content.

    Of several, the one with most of the unit's cells counts, then the one with most
    answers, then the newest.

    Args:
        name: the name it should have, like "02_attention.ipynb".

    Raises:
        Refused: no file is a readable notebook of this unit.
    """
    ranked, broken = [], []
    candidates = [path for path in files if _looks_like_notebook(path, files[path])]
    candidates.sort(key=lambda path: (path != name, not path.endswith(".ipynb"), path))
    slots = _slots(release, release)
    for path in candidates[:20]:
        try:
            match = _Match(slots, read(files[path].data, limits).cells)
        except Refused as reason:
            broken.append(f'"{_listed([path])}": {reason}')
            continue
        if match.belongs():
            answers = sum(bool(match.filled(n)) for n in range(len(slots)))
            rank = (match.recognised(), answers, files[path].time, path == name)
            ranked.append((rank, path))
    if not ranked:
        raise Refused(_why_none(candidates, broken))
    best = max(ranked)[1]
    return best, tuple(_about_choice(best, name, [path for _, path in ranked]))


def _looks_like_notebook(path: str, file: File) -> bool:
    if path.lower().endswith(".ipynb"):
        return True
    return file.data[:64].lstrip().startswith(b"{") and b'"nbformat"' in file.data


def _why_none(candidates: Sequence[str], broken: Sequence[str]) -> str:
    if broken:
        return f"the notebook cannot be read: {broken[0]}"
    if candidates:
        return f"no notebook of this unit is among the files: {_listed(candidates)}"
    return "there is no notebook in the submission"


def _about_choice(best: str, name: str, found: Sequence[str]) -> Iterator[Repair]:
    if best != name:
        yield Repair("renamed", f'"{_listed([best])}" was taken as "{name}".')
    others = [path for path in found if path != best]
    if others:
        says = f'Of several notebooks, "{_listed([best])}" was graded, not'
        yield Repair("several notebooks", f"{says} {_listed(others)}.")


# --- rebuilding --------------------------------------------------------------


def rebuild(
    source: NotebookNode,
    release: NotebookNode,
    submission: bytes | None,
    limits: Limits = DEFAULTS,
) -> tuple[NotebookNode, tuple[Repair, ...]]:
    """The notebook that is graded: the course's, with the student's answers.

    Tests, texts, ids, metadata and the order of cells are the source's; answers come
    from the submission, and the student's own cells stand behind the same neighbour
    as before. An exercise without an answer holds the release's stub. Outputs and all
    metadata of the student's are dropped.

    Args:
        source: the instructor's notebook, with hidden tests.
        release: the students' notebook made of it.
        submission: the student's notebook as a file; None if there is none.

    Raises:
        Refused: the submission cannot be read as a notebook.
        CourseError: source and release do not belong together.
    """
    slots = _slots(source, release)
    given = Submission(()) if submission is None else read(submission, limits)
    match = _Match(slots, given.cells)
    builder = _Builder(match, limits)
    notebook = nbformat.v4.new_notebook(
        cells=builder.cells(), metadata=_course_metadata(source)
    )
    notebook.nbformat_minor = 5
    repairs = [*builder.repairs, *_about_whole(given)] if given.cells else []
    return notebook, tuple(repairs)


def _course_metadata(source: NotebookNode) -> dict:
    kept = ("kernelspec", "language_info")
    return {key: source.metadata[key] for key in kept if key in source.metadata}


def _about_whole(given: Submission) -> Iterator[Repair]:
    if given.language and "python" not in given.language:
        yield Repair("kernel", "The notebook's kernel was set back to Python.")
    if given.personal:
        yield Repair("personal data", "Names and ids added by Colab were removed.")


class _Builder:
    """Puts the cells of one notebook together, and notes what it had to put right."""

    def __init__(self, match: _Match, limits: Limits):
        self.match, self.limits = match, limits
        self.repairs: list[Repair] = []
        self.own = 0

    def cells(self) -> list[NotebookNode]:
        answers = {n: self._answer(n) for n in self._answer_slots()}
        extras = self._extras({cell for cell in answers.values() if cell is not None})
        built = [self._own_cell(cell) for cell in extras.get(-1, [])]
        for n, slot in enumerate(self.match.slots):
            cell = self._course_cell(slot, answers.get(n))
            cell.setdefault("id", f"course-{n}")
            built.append(cell)
            built += [self._own_cell(cell) for cell in extras.get(n, [])]
        self._about_tests()
        self._about_answers()
        return built

    def _answer_slots(self) -> list[int]:
        return [n for n, slot in enumerate(self.match.slots) if slot.is_answer]

    def _answer(self, n: int) -> int | None:
        """Of the cells of an exercise, the number of the one that answers it."""
        cells = self.match.of(n)
        filled = [cell for cell in self.match.filled(n) if not self._too_long(cell)]
        targets = self.match.slots[n].targets
        fitting = [c for c in filled if _defined(self._text(c)) & targets]
        return ((fitting or filled or cells)[-1:] or [None])[0]

    def _text(self, cell: int) -> str:
        return self.match.cells[cell].source

    def _too_long(self, cell: int) -> bool:
        return len(self._text(cell)) > self.limits.cell_characters

    def _course_cell(self, slot: _Slot, answer: int | None) -> NotebookNode:
        cell = nbformat.from_dict(slot.source)
        cell.metadata.pop("autograder", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if slot.is_answer:
            cell.source = slot.release.source
        if slot.grade_id:
            # The checksum is the stub's: by it nbgrader tells an unchanged answer.
            cell.metadata["nbgrader"]["checksum"] = compute_checksum(cell)
        if answer is not None and not self._too_long(answer):
            self._fill(cell, answer, slot)
        return cell

    def _fill(self, cell: NotebookNode, answer: int, slot: _Slot) -> None:
        if not self.match.is_filled(answer):
            return
        given = self.match.cells[answer]
        cell.source = given.source
        if cell.cell_type == "code":
            cell.source = self._without_installs(given.source, slot.name)
        elif given.attachments:
            cell.attachments = nbformat.from_dict(given.attachments)
        if given.kind != "code" and cell.cell_type == "code":
            self._note("cell type", f"Your answer {slot.name} is code again.")

    def _extras(self, answers: set[int]) -> dict[int, list[int]]:
        """The student's own cells, by the slot that they stand behind."""
        in_place, anchor = self.match.in_place(), -1
        extras: dict[int, list[int]] = {}
        for number in range(len(self.match.cells)):
            slot = self.match.slot_of.get(number)
            if number in in_place:
                anchor = slot
            if number not in answers and self._is_kept(number, slot):
                extras.setdefault(anchor, []).append(number)
        return extras

    def _is_kept(self, number: int, slot: int | None) -> bool:
        cell = self.match.cells[number]
        if not cell.source.strip() or _is_badge(cell):
            return False
        if self._too_long(number):
            says = f"A cell of more than {self.limits.cell_characters} characters"
            self._note("cell left out", f"{says} was left out.")
            return False
        return slot is None or self._is_kept_copy(number, self.match.slots[slot])

    def _is_kept_copy(self, number: int, slot: _Slot) -> bool:
        """Whether a cell that belongs to a slot, but does not fill it, is kept."""
        cell, there = self.match.cells[number], self.match.slot_of[number]
        changed = not _same(cell.source, slot.release.source)
        if slot.is_answer:
            return self._is_kept_answer(cell, slot, changed, there)
        if slot.is_test:
            return changed and number != self.match.of(there)[0]
        if changed and cell.kind == "code":
            first = _listed([cell.source.strip().splitlines()[0]])
            says = (
                f'Your change of the course\'s cell "{first}" runs after the original.'
            )
            self._note("course cell", says)
        return changed and cell.kind == "code"

    def _is_kept_answer(
        self, cell: Cell, slot: _Slot, changed: bool, there: int
    ) -> bool:
        if changed and not _defined(cell.source) & slot.targets:
            self._note("copy kept", f"A second cell of {slot.name} was kept as yours.")
            return True
        if changed or there not in self.match.moved_in:
            self._note("copy ignored", f"Your copied cell of {slot.name} was ignored.")
        return False

    def _own_cell(self, number: int) -> NotebookNode:
        cell = self.match.cells[number]
        self.own += 1
        if cell.kind == "code":
            text = self._without_installs(cell.source, "a cell of yours")
            built = nbformat.v4.new_code_cell(text)
        else:
            # Raw cells would reach HTML pages unescaped: they become plain text.
            raw = cell.kind == "raw"
            text = re.sub("^", "    ", cell.source, flags=re.M) if raw else cell.source
            built = nbformat.v4.new_markdown_cell(text)
            if cell.attachments:
                built.attachments = nbformat.from_dict(cell.attachments)
        built.id = f"own-{self.own}"
        built.metadata = NotebookNode(autograder="own")
        return built

    def _without_installs(self, code: str, where: str) -> str:
        code, lines = without_installs(code)
        if lines:
            says = f"Not run while grading, in {where}: {_listed(lines)}."
            self._note("install", says)
        return code

    def _about_tests(self) -> None:
        if not self.match.cells:
            return
        tests = [n for n, slot in enumerate(self.match.slots) if slot.is_test]
        for n in tests:
            slot, cells = self.match.slots[n], self.match.of(n)
            if not cells:
                self._note("test returned", f"The deleted check {slot.name} is back.")
            elif not any(_same(self._text(c), slot.release.source) for c in cells):
                says = f"The check {slot.name} was changed; the course's own is used."
                self._note("test restored", says)
            elif len(cells) > 1:
                says = f"Your copied check {slot.name} was ignored."
                self._note("copy ignored", says)

    def _about_answers(self) -> None:
        slots = self.match.slots
        if self.match.restored:
            names = [slots[n].name for n in sorted(set(self.match.restored))]
            says = "Lost grading marks were restored for"
            self._note("metadata restored", f"{says} {_listed(names)}.")
        for n in self.match.moved_in:
            says = f"Your answer {slots[n].name} was found in a cell of your own."
            self._note("answer found", says)
        missing = [slots[n].name for n in self._answer_slots() if not self.match.of(n)]
        if missing and self.match.cells:
            self._note("answer missing", f"No cell for {_listed(missing)} was found.")
        for n in self._answer_slots():
            if any(self._too_long(cell) for cell in self.match.of(n)):
                self._note("cell left out", f"Your answer {slots[n].name} is too long.")

    def _note(self, kind: str, says: str) -> None:
        repair = Repair(kind, says)
        if repair not in self.repairs:
            self.repairs.append(repair)


def _is_badge(cell: Cell) -> bool:
    """Whether Colab put this cell on top when it saved to GitHub."""
    return "view-in-github" in cell.ids or cell.source.startswith(
        '<a href="https://colab.research.google.com/github'
    )


# --- installs and drives -----------------------------------------------------

_INSTALL = re.compile(
    r"""^(?P<indent>[ \t]*)(?:
      # No two repetitions of blanks beside each other: a line may be long.
      [!%]{1,2}[ \t]*(?:(?:\{?sys\.executable\}?|python3?)[ \t]+)?(?:-m[ \t]+)?
        (?:pip3?|conda|mamba|uv|apt(?:-get)?)\b
      | get_ipython\(\)\.(?:system|run_line_magic)\(.{0,9}\b(?:pip3?|conda)\b
      | (?:from|import)\s+google\.colab\b | google\.colab\.
      | (?:\w+\s*=\s*)?drive\.(?:mount|flush_and_unmount)\(
      | files\.(?:upload|download)\( | output\.(?:enable|clear)\w*\(
    )""",
    re.VERBOSE,
)


def without_installs(code: str) -> tuple[str, list[str]]:
    """Code with the lines that need Colab or a network made harmless, and those lines.

    Each becomes ``pass`` with a comment, so that a block around it stays whole.
    """
    kept, removed, indent = [], [], ""
    open_brackets, continued = 0, False
    for line in code.split("\n"):
        found = _INSTALL.match(line)
        if not (open_brackets or continued or found):
            kept.append(line)
            continue
        if not (open_brackets or continued):
            indent = found["indent"]
        kept.append(f"{indent}pass  # not run while grading: {line.strip()}")
        removed.append(line.strip())
        if line.lstrip()[:1] not in ("!", "%"):
            open_brackets = max(0, open_brackets + line.count("(") - line.count(")"))
        continued = line.rstrip().endswith("\\")
    return "\n".join(kept), removed


def say(repairs: Iterable[Repair]) -> list[dict[str, str]]:
    """Repairs as plain JSON values."""
    return [{"kind": repair.kind, "says": repair.says} for repair in repairs]
