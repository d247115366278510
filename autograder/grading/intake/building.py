"""Put the student's answers into the course's own notebook."""

from __future__ import annotations

import re

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder.course.notebooks import GENERATED
from autograder.grading.intake.common import (
    DEFAULTS,
    Repair,
    SizeLimits,
    join_names,
    limit_repairs,
)
from autograder.grading.intake.invited import is_invited
from autograder.grading.intake.matching import Match, Slot, defined, same_text, slots_of
from autograder.grading.intake.reading import StudentCell, StudentNotebook, read


def rebuild(
    source: NotebookNode,
    release: NotebookNode,
    submission: bytes | None,
    limits: SizeLimits = DEFAULTS,
) -> tuple[NotebookNode, tuple[Repair, ...]]:
    """Build the notebook that is graded: the course's, with the student's answers.

    An exercise without an answer holds the release's stub. The student's own cells
    are usually kept, without their outputs and metadata.

    Args:
        source, release: the instructor's notebook, and the students' made of it.
        submission: the student's notebook as a file; None if there is none.

    Raises:
        RefusedError: the submission cannot be read as a notebook.
        CourseError: source and release do not belong together.
    """
    slots = slots_of(source, release)
    student_notebook = (
        StudentNotebook(()) if submission is None else read(submission, limits)
    )
    match = Match(slots, student_notebook.cells)
    builder = _Builder(match, limits)
    # Not by `new_notebook`, which would validate the course's cells against the schema;
    # the student's own are validated when they are made.
    keys = source.metadata.keys() & {"kernelspec", "language_info"}
    metadata = {key: source.metadata[key] for key in sorted(keys)}
    notebook = NotebookNode(
        cells=builder.cells(), metadata=nbformat.from_dict(metadata),
        nbformat=4, nbformat_minor=5,
    )  # fmt: skip
    repairs = list(builder.repairs)
    if student_notebook.language and "python" not in student_notebook.language:
        message = "The notebook's kernel was set back to Python."
        repairs.append(Repair("kernel", message))
    if student_notebook.personal:
        message = "Names and ids added by Colab were removed."
        repairs.append(Repair("personal data", message))
    return notebook, limit_repairs(repairs if student_notebook.cells else ())


class _Builder:
    """Builds the cells of one notebook, and records what it had to correct."""

    def __init__(self, match: Match, limits: SizeLimits):
        self.match, self.limits = match, limits
        self.repairs: list[Repair] = []
        self.own_count = 0

    def cells(self) -> list[NotebookNode]:
        """Build all cells of the notebook, in order, and record the repairs."""
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
        """Return the index of the student's cell that answers slot ``n``, or None.

        A slot is a cell of the course. Of several cells, the last one usually counts.
        """
        cells = self.match.cells_of(n)
        filled = [
            cell for cell in self.match.filled_cells_of(n) if not self._too_long(cell)
        ]
        # Best are cells that define what is asked for, then any that are filled.
        targets = self.match.slots[n].targets
        fitting = [c for c in filled if defined(self._text(c)) & targets]
        chosen = fitting or filled or cells
        return chosen[-1] if chosen else None

    def _text(self, cell: int) -> str:
        return self.match.cells[cell].source

    def _too_long(self, cell: int) -> bool:
        return len(self._text(cell)) > self.limits.cell_characters

    def _course_cell(self, slot: Slot, answer: int | None) -> NotebookNode:
        """A cell of the course, filled with the student's answer if there is one."""
        cell: NotebookNode = nbformat.from_dict(slot.source)
        cell.metadata.pop("autograder", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if slot.is_answer:
            cell.source = slot.release.source
        if slot.grade_id:
            # The checksum of the stub, so that nbgrader recognises an unchanged answer.
            cell.metadata["nbgrader"]["checksum"] = compute_checksum(cell)
        if answer is not None and not self._too_long(answer):
            self._fill(cell, answer, slot)
        return cell

    def _fill(self, cell: NotebookNode, answer: int, slot: Slot) -> None:
        """Put the student's answer into a cell, unless it is still the stub."""
        if not self.match.is_filled(answer):
            return
        student_cell = self.match.cells[answer]
        cell.source = student_cell.source
        if cell.cell_type == "code":
            cell.source = self._without_installs(student_cell.source, slot.name)
        elif student_cell.attachments:
            cell.attachments = nbformat.from_dict(student_cell.attachments)
        if student_cell.kind != "code" and cell.cell_type == "code":
            self._note("cell type", f"Your answer {slot.name} is code again.")

    def _extras(self, answers: set[int]) -> dict[int, list[int]]:
        """Map each slot (a cell of the course) to the student's own cells after it.

        The key -1 has the cells before the first slot.
        """
        in_place, anchor = self.match.in_place(), -1
        extras: dict[int, list[int]] = {}
        for cell_index in range(len(self.match.cells)):
            slot = self.match.slot_of.get(cell_index)
            if slot is not None and cell_index in in_place:
                anchor = slot
            if cell_index not in answers and self._is_kept(cell_index, slot):
                extras.setdefault(anchor, []).append(cell_index)
        return extras

    def _is_kept(self, cell_index: int, slot: int | None) -> bool:
        """Decide whether to keep a cell that is not used as an answer; record repairs.

        ``slot`` is the cell of the course to which it belongs, if any.
        """
        cell = self.match.cells[cell_index]
        # Colab adds a badge when it saves to GitHub.
        is_badge = "view-in-github" in cell.ids or cell.source.startswith(_BADGE)
        if not cell.source.strip() or is_badge:
            return False
        if self._too_long(cell_index):
            most = self.limits.cell_characters
            message = f"A cell of more than {most} characters was left out."
            self._note("cell left out", message)
            return False
        return slot is None or self._is_kept_copy(cell_index, self.match.slots[slot])

    def _is_kept_copy(self, cell_index: int, slot: Slot) -> bool:
        """Decide whether to keep a student's version of a cell of the course."""
        if slot.release.get("id") in GENERATED:  # each kit has its own
            return False
        cell, slot_index = self.match.cells[cell_index], self.match.slot_of[cell_index]
        changed = not same_text(cell.source, slot.release.source)
        if slot.is_answer:
            return self._is_kept_answer(cell, slot, changed, slot_index)
        if slot.is_test:
            # The first one stands for the check itself: the course's own replaces it.
            return changed and cell_index != self.match.cells_of(slot_index)[0]
        is_reported = not is_invited(cell.source, slot.release.source)
        if changed and is_reported and cell.kind == "code":
            first = join_names([cell.source.strip().splitlines()[0]])
            message = (
                f'Your change of the course\'s cell "{first}" runs after the original.'
            )
            self._note("course cell", message)
        return changed and cell.kind == "code"

    def _is_kept_answer(
        self, cell: StudentCell, slot: Slot, changed: bool, slot_index: int
    ) -> bool:
        """Decide whether to keep a second cell for an answer, and record the decision.

        ``changed`` says whether it differs from the stub.
        """
        if changed and not defined(cell.source) & slot.targets:
            self._note("copy kept", f"A second cell of {slot.name} was kept as yours.")
            return True
        # A stub is not worth a note if the answer was found in another cell.
        if changed or slot_index not in self.match.moved_in:
            self._note("copy ignored", f"Your copied cell of {slot.name} was ignored.")
        return False

    def _own_cell(self, cell_index: int) -> NotebookNode:
        """A new cell with the content of one of the student's own cells."""
        cell = self.match.cells[cell_index]
        self.own_count += 1
        if cell.kind == "code":
            text = self._without_installs(cell.source, "a cell of yours")
            built: NotebookNode = nbformat.v4.new_code_cell(text)
        else:
            # Raw cells would reach HTML pages unescaped: they become plain text.
            raw = cell.kind == "raw"
            text = re.sub("^", "    ", cell.source, flags=re.M) if raw else cell.source
            built = nbformat.v4.new_markdown_cell(text)
            if cell.attachments:
                built.attachments = nbformat.from_dict(cell.attachments)
        built.id = f"own-{self.own_count}"
        built.metadata = NotebookNode(autograder="own")
        return built

    def _without_installs(self, code: str, place: str) -> str:
        """Disable lines that need Colab or a network; return the resulting code.

        A repair lists these lines; ``place`` says in words where they are.
        """
        code, lines = without_installs(code)
        if lines:
            message = f"Not run while grading, in {place}: {join_names(lines)}."
            self._note("install", message)
        return code

    def _about_tests(self) -> None:
        """Record which checks were deleted, changed or copied."""
        if not self.match.cells:
            return
        tests = [n for n, slot in enumerate(self.match.slots) if slot.is_test]
        for n in tests:
            slot, cells = self.match.slots[n], self.match.cells_of(n)
            if not cells:
                self._note("test returned", f"The deleted check {slot.name} is back.")
            elif not any(same_text(self._text(c), slot.release.source) for c in cells):
                message = (
                    f"The check {slot.name} was changed; the course's own is used."
                )
                self._note("test restored", message)
            elif len(cells) > 1:
                fate = "kept" if any(self._is_kept(c, n) for c in cells) else "ignored"
                message = f"Your copied check {slot.name} was {fate}."
                self._note(f"copy {fate}", message)

    def _about_answers(self) -> None:
        """Record which answers were restored, found elsewhere, missing or too long."""
        slots = self.match.slots
        if self.match.restored:
            names = [slots[n].name for n in sorted(set(self.match.restored))]
            message = f"Lost grading marks were restored for {join_names(names)}."
            self._note("metadata restored", message)
        for n in self.match.moved_in:
            message = f"Your answer {slots[n].name} was found in a cell of your own."
            self._note("answer found", message)
        missing = [
            slots[n].name for n in self._answer_slots() if not self.match.cells_of(n)
        ]
        if missing and self.match.cells:
            message = f"No cell for {join_names(missing)} was found."
            self._note("answer missing", message)
        for n in self._answer_slots():
            if any(self._too_long(cell) for cell in self.match.cells_of(n)):
                self._note("cell left out", f"Your answer {slots[n].name} is too long.")

    def _note(self, kind: str, message: str) -> None:
        """Record a repair, unless it has been recorded already."""
        repair = Repair(kind, message)
        if repair not in self.repairs:
            self.repairs.append(repair)


_BADGE = '<a href="https://colab.research.google.com/github'
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
    """Disable lines that need Colab or a network; return the new code and the lines.

    Each becomes ``pass`` with a comment, so that the block around it remains valid.
    """
    lines, removed, indent = [], [], ""
    # A statement that goes on over several lines is disabled as a whole.
    open_brackets, continued = 0, False
    for line in code.split("\n"):
        match = _INSTALL.match(line)
        if not (open_brackets or continued or match):
            lines.append(line)
            continue
        if match and not (open_brackets or continued):
            indent = match["indent"]
        lines.append(f"{indent}pass  # not run while grading: {line.strip()}")
        removed.append(line.strip())
        # In a shell command, brackets do not make it go on.
        if line.lstrip()[:1] not in ("!", "%"):
            open_brackets = max(0, open_brackets + line.count("(") - line.count(")"))
        continued = line.rstrip().endswith("\\")
    return "\n".join(lines), removed
