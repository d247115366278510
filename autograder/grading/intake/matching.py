"""Match a student's cells to the cells of the course's notebook."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from autograder.course import grade_ids
from autograder.course.errors import CourseError
from autograder.grading.intake.common import (
    DEFAULTS,
    RefusedError,
    Repair,
    SizeLimits,
    join_names,
)
from autograder.grading.intake.explaining import (
    GradeIds,
    about_choice,
    about_damage,
    is_other_units,
    why_none,
)
from autograder.grading.intake.files import File
from autograder.grading.intake.reading import StudentCell, read
from autograder.root import ALIASES

_DEFINITION = re.compile(
    r"^(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)"
    r"|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)
# Replacements that hide the kit's publisher, version and former module names.
_KIT = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        *((rf"\b{re.escape(old)}\b", new) for old, new in ALIASES.items()),
        (r"\b(github|github(?:usercontent)?\.com)/[\w-]+/", r"\1/"),
        (r"\]\(\S{0,200}/student\.md", "](student.md"),
        (r'(require_checks\(\d+), "[\d.]+"', r"\1"),
        (r'install -q [^"]+', "install -q"),
    )
)


@dataclass(frozen=True)
class Slot:
    """A cell of the course's notebook, as it is graded and as it was released."""

    source: NotebookNode
    release: NotebookNode

    @property
    def grade_id(self) -> str:
        return str(self.source.metadata.get("nbgrader", {}).get("grade_id", ""))

    @property
    def name(self) -> str:
        return grade_ids.check_of(self.grade_id)

    @property
    def is_answer(self) -> bool:
        return bool(is_solution(self.source))

    @property
    def is_test(self) -> bool:
        return bool(is_grade(self.source)) and not self.is_answer

    @property
    def targets(self) -> set[str]:  # names that an answer should define
        code = self.release.cell_type == "code"
        return defined(self.release.source) if code else set()


def slots_of(source: NotebookNode, release: NotebookNode) -> list[Slot]:
    """Pair the cells of source and release; CourseError if they do not correspond."""
    slots = [Slot(*pair) for pair in zip(source.cells, release.cells, strict=False)]
    ids = [Slot(slot.release, slot.release).grade_id for slot in slots]
    is_aligned = len(source.cells) == len(release.cells)
    if not is_aligned or ids != [slot.grade_id for slot in slots]:
        raise CourseError("source and release differ; build and release the unit again")
    return slots


def defined(code: str) -> set[str]:
    """The names that code defines at its top level, found without parsing it."""
    return {name for pair in _DEFINITION.findall(code) for name in pair if name}


def _plain(text: str) -> str:
    """Normalise a cell's text, so that only what a student wrote makes it differ."""
    for pattern, replacement in _KIT:
        text = pattern.sub(replacement, text)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    # Only imports are sorted, as editors do; other lines keep their order.
    lines.sort(key=lambda line: line if line.startswith(("import ", "from ")) else "~")
    return "\n".join(lines)


def same_text(first: str, second: str) -> bool:
    """Return whether two texts agree, up to what editors and student kits change."""
    return first == second or _plain(first) == _plain(second)


class Match:
    """The matching of a student's cells with slots, the cells of the course.

    A cell without its grade id is recognised by its text or position, for example.

    Attributes:
        slot_of: the index of the slot, by the index of the student's cell.
        restored: the slots of answers that were recognised without a grade id.
        moved_in: the slots of answers that were in cells of the student's own.
    """

    def __init__(self, slots: Sequence[Slot], cells: Sequence[StudentCell]):
        self.slots, self.cells = slots, cells
        self.slot_of: dict[int, int] = {}
        self.restored: list[int] = []  # answers recognised without a grade_id
        self.moved_in: list[int] = []  # answers found in cells of the student's own
        self._defined = [defined(cell.source) for cell in cells]
        self._by_grade_id()
        self._by_id()  # the id of the cell
        self._by_text()  # the text of a released cell
        self._by_definition()  # answers in cells of the student's own
        self._by_place()

    def cells_of(self, slot: int) -> list[int]:
        """The indices of the student's cells that belong to a slot, in their order."""
        return sorted(c for c, matched in self.slot_of.items() if matched == slot)

    def is_filled(self, cell: int) -> bool:  # is it more than the stub?
        stub = self.slots[self.slot_of[cell]].release.source
        text = self.cells[cell].source
        return bool(text.strip()) and not same_text(text, stub)

    def filled_cells_of(self, slot: int) -> list[int]:
        return [cell for cell in self.cells_of(slot) if self.is_filled(cell)]

    def _free(self) -> list[int]:
        return [n for n in range(len(self.cells)) if n not in self.slot_of]

    def _by_grade_id(self) -> None:
        """Match cells that still have the grade id by which nbgrader names a slot."""
        slot_by_grade_id = {slot.grade_id: n for n, slot in enumerate(self.slots)}
        slot_by_grade_id.pop("", None)
        for number, cell in enumerate(self.cells):
            if cell.grade_id in slot_by_grade_id:
                self.slot_of[number] = slot_by_grade_id[cell.grade_id]

    def _by_id(self) -> None:
        """Match cells that lost their grade id, but kept the cell's own id."""
        slot_by_id = {slot.source.get("id", ""): n for n, slot in enumerate(self.slots)}
        slot_by_id.pop("", None)
        for number in self._free():
            slots = [slot_by_id[i] for i in self.cells[number].ids if i in slot_by_id]
            if slots:
                self._restore(number, slots[0])

    def _by_text(self) -> None:
        """Match cells whose text is that of a released cell."""
        matched = set(self.slot_of.values())
        slot_by_text = {
            _plain(slot.release.source): n
            for n, slot in enumerate(self.slots)
            if n not in matched and slot.release.source.strip()
        }
        for number in self._free():
            slot = slot_by_text.pop(_plain(self.cells[number].source), None)
            if slot is not None:
                self._restore(number, slot)

    def _by_definition(self) -> None:
        """Match an unfilled answer to the last free code cell that defines its name."""
        for n, slot in enumerate(self.slots):
            if not slot.is_answer or not slot.targets or self.filled_cells_of(n):
                continue
            free = [c for c in self._free() if self.cells[c].kind == "code"]
            if candidates := [c for c in free if self._defined[c] & slot.targets]:
                self.slot_of[candidates[-1]] = n
                self.moved_in.append(n)

    def _by_place(self) -> None:
        """Match an answer by its position, if it is alone between its neighbours."""
        for n, slot in enumerate(self.slots):
            if slot.is_answer and not self.cells_of(n):
                kind = slot.source.cell_type
                free = [c for c in self._gap(n) if c not in self.slot_of]
                alike = [cell for cell in free if self.cells[cell].kind == kind]
                if len(alike) == 1:
                    self._restore(alike[0], n)

    def _gap(self, n: int) -> range:
        """Return the indices of the cells between those of slots n - 1 and n + 1.

        The range is empty if one of these two slots has no cell.
        """
        before = [-1] if n == 0 else self.cells_of(n - 1)
        last = n + 1 == len(self.slots)
        behind = [len(self.cells)] if last else self.cells_of(n + 1)
        return range(before[-1] + 1, behind[0]) if before and behind else range(0)

    def _restore(self, number: int, slot: int) -> None:  # lacks its grade id
        self.slot_of[number] = slot
        if self.slots[slot].is_answer:
            self.restored.append(slot)

    def in_place(self) -> set[int]:
        """Find the largest set of matched cells that are in the order of the course.

        Returns their indices in the submission; other cells were moved or copied.
        """
        # The longest increasing subsequence of slots, in n log n steps.
        last_slots: list[int] = []  # smallest last slot of a run of each length
        last: list[int] = []  # the cell that ends it
        before: dict[int, int | None] = {}
        for cell in sorted(self.slot_of):
            slot = self.slot_of[cell]
            length = bisect_left(last_slots, slot)
            before[cell] = last[length - 1] if length else None
            last_slots[length : length + 1] = [slot]
            last[length : length + 1] = [cell]
        run: set[int] = set()
        end = last[-1] if last else None
        while end is not None:
            run.add(end)
            end = before[end]
        return run

    def recognised(self) -> int:
        """Count the slots with a grade id to which a cell belongs."""
        graded = {n for n, slot in enumerate(self.slots) if slot.grade_id}
        return len(graded & set(self.slot_of.values()))

    def belongs(self) -> bool:
        """Return whether enough cells match for this to be the unit's notebook.

        One graded cell is enough, or else more than a fifth of all cells.
        """
        matched = set(self.slot_of.values())
        return self.recognised() > 0 or 5 * len(matched) > len(self.slots)


def find_notebook(
    files: Mapping[str, File],
    name: str,
    release: NotebookNode,
    limits: SizeLimits = DEFAULTS,
    course_ids: Callable[[], GradeIds] = dict,
) -> tuple[str, tuple[Repair, ...]]:
    """Find, by its content, the file that is the unit's notebook.

    Args:
        name: the name it should have, like "02_attention.ipynb".
        course_ids: reads the grade ids of the course's assignments.

    Returns:
        The path of the file, and repairs that report what was unusual.

    Raises:
        RefusedError: no file is a readable notebook of this unit.
    """
    ranked, broken, strange, cut = [], [], {}, {}
    candidates = [path for path in files if _looks_like_notebook(path, files[path])]
    candidates.sort(key=lambda path: (path != name, not path.endswith(".ipynb"), path))
    slots = slots_of(release, release)
    unit_ids = {slot.grade_id for slot in slots}
    for path in candidates[:20]:
        try:
            notebook = read(files[path].data, limits)
        except RefusedError as reason:
            broken.append(f'"{join_names([path])}": {reason}')
            continue
        match = Match(slots, notebook.cells)
        strange[path] = {cell.grade_id for cell in notebook.cells}
        if notebook.is_cut:
            cut[path] = len(notebook.cells)
        if match.belongs() and not is_other_units(
            strange[path], unit_ids, match.recognised(), course_ids
        ):
            answers = sum(bool(match.filled_cells_of(n)) for n in range(len(slots)))
            # In this order: cells recognised, answers, the newest file, the right name.
            rank = (match.recognised(), answers, files[path].time, path == name)
            ranked.append((rank, path))
    if not ranked:
        broken += [
            f'"{join_names([path])}": it is damaged or incomplete' for path in cut
        ]
        raise RefusedError(why_none(files, candidates, broken, strange, course_ids))
    best = max(ranked)[1]
    repairs = [*about_choice(best, name, [path for _, path in ranked])]
    if best in cut:
        message = about_damage(best, files[best].data, cut[best])
        repairs.append(Repair("cut off", message))
    return best, tuple(repairs)


def _looks_like_notebook(path: str, file: File) -> bool:
    if path.lower().endswith(".ipynb"):
        return True
    return file.data[:64].lstrip().startswith(b"{") and b'"nbformat"' in file.data


def is_unanswered(submission: bytes, release: NotebookNode) -> bool:
    """Whether a readable notebook of the unit has no answer filled in."""
    # To match cells, the release will do in place of the source.
    match = Match(slots_of(release, release), read(submission).cells)
    return not any(
        match.filled_cells_of(n) for n, slot in enumerate(match.slots) if slot.is_answer
    )
