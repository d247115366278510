"""The summary at the top of a page: scores, what a teacher must grade, lateness."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.preprocessors import GetGrades
from nbgrader.utils import compute_checksum, is_grade, is_solution

from autograder.checks.aspects import by_aspect
from autograder.checks.words import PARTLY, sign
from autograder.course import grade_ids
from autograder.course.printable import format_count
from autograder.grading.dates import how_late
from autograder.grading.gradebook import changes
from autograder.grading.gradebook.late_days import LateBudget, balance_of
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import KEY, GradingMetadata
from autograder.grading.sentences import group_of
from autograder.grading.settings import Processed, Resources
from autograder.grading.titles import heading, number, title

_WHY = {
    changes.NEW: "you handed in again",
    changes.MENDED: "a check was mended",
    changes.OTHER_POINTS: "an exercise is worth other points now",
    changes.LEFT_OUT: "an exercise was left out",
    changes.ADDED: "an exercise was added",
    changes.BY_HAND: "a teacher looked at it",
    changes.DECIDED: "a check was decided at last",
    changes.LATENESS: "your deadline or what lateness costs has changed",
}
_NONE = Verdict("", 0.0, 0.0)  # of a cell without a verdict
_HEADING = re.compile(r"^#+ +(.+)", re.MULTILINE)  # linear, whatever a student writes


@dataclass(frozen=True)
class Block:
    """Cells that follow each other: an exercise's answer and check, or text.

    Attributes:
        name: a grade id, "own" for cells that the student added, "" for the course's
            text.
        row: the exercise's line in the table at the top, if it has one.
    """

    name: str
    row: Mapping[str, Any] | None
    cells: list[NotebookNode] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """The first heading in the block's Markdown cells, or a general description."""
        texts = [cell.source for cell in self.cells if cell.cell_type == "markdown"]
        match = _HEADING.search("\n".join(texts))
        return match[1][:80].strip() if match else "text and demonstrations"

    @property
    def checks(self) -> list[NotebookNode]:
        return [cell for cell in self.cells if _is_check(cell)]

    @property
    def answers(self) -> list[NotebookNode]:
        return [cell for cell in self.cells if not _is_check(cell)]

    @property
    def is_unfolded(self) -> bool:
        """Whether the page shows the block unfolded, as it needs attention."""
        is_full = self.row is None or self.row["sign"] == "✓"
        return not is_full or any(
            nbgrader_of(cell).get("comment")
            or any(o.output_type == "error" for o in cell.get("outputs", ()))
            for cell in self.cells
        )


class Scores(GetGrades):  # type: ignore[misc]
    """nbgrader's GetGrades, which also makes the summary at the top of the page."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Read the scores, and put the summary for the page into ``resources``."""
        nb, resources = super().preprocess(nb, resources)
        metadata = GradingMetadata.of_run(nb, resources)
        if metadata.refused:  # show the student's own cells only
            nb.cells = [cell for cell in nb.cells if _is_theirs(cell)]
        with Gradebook(self.db_url) as gradebook:
            notebook = gradebook.find_submission_notebook(
                self.notebook_id, self.assignment_id, self.student_id
            )
            sentences, unit = resources.get("sentences", {}), self.assignment_id
            resources[KEY] = {
                **_summary(nb, notebook, metadata, unit, sentences),
                "changes": _describe_changes(resources.get("changes", ()), unit),
                "late_days": self._describe_late_days(gradebook),
            }
        return nb, resources

    def _describe_late_days(self, book: Gradebook) -> str:
        """Describe the late days that are left to the student; "" without a budget."""
        budget = LateBudget(config=self.config).days
        if not budget:
            return ""
        balance = balance_of(book, budget, self.student_id)
        used = balance.spent.get(self.assignment_id, 0)
        in_unit = f"; this unit used {used}" if used else ""
        days = format_count(budget, "late day")
        return f"{balance.left} of your {days} left{in_unit}"

    def _get_score(self, cell: NotebookNode, resources: Resources) -> None:
        """Read a cell's score, and note whether it still waits for a person."""
        super()._get_score(cell, resources)
        mark = cell.metadata.nbgrader
        names = self.notebook_id, self.assignment_id, self.student_id
        grade = self.gradebook.find_grade(mark.grade_id, *names)
        mark["waiting"] = grade.auto_score is None and grade.manual_score is None

    def _get_comment(self, cell: NotebookNode, resources: Resources) -> None:
        """Read a teacher's comment, and drop nbgrader's own "No response."."""
        super()._get_comment(cell, resources)
        if cell.metadata.nbgrader["comment"] == "No response.":
            cell.metadata.nbgrader["comment"] = ""


def _summary(
    nb: NotebookNode, notebook: SubmittedNotebook, metadata: GradingMetadata,
    assignment: str, sentences: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """Return the values that the page's template needs, by name.

    ``sentences`` are what teachers say about groups of answers, by a group's id.
    """
    graded = [cell for cell in nb.cells if "score" in nbgrader_of(cell)]
    rows = [_row(cell, metadata.checks, assignment, sentences) for cell in graded]
    # An exercise with a teacher's comment is shown even if it is still a stub.
    commented = {
        grade_ids.check_of(nbgrader_of(cell)["grade_id"])
        for cell in nb.cells
        if nbgrader_of(cell).get("comment")
    }
    for row in rows:
        row["is_tried"] |= row["name"] in commented
    student = notebook.assignment.student
    name = f"{student.first_name or ''} {student.last_name or ''}".strip()
    return {
        "title": heading(assignment),
        "student": name or student.id,
        "refused": metadata.refused,
        "repairs": [repair.says for repair in metadata.repairs],
        "late": how_late(notebook.assignment.total_seconds_late),
        "penalty": notebook.late_submission_penalty or 0.0,
        "waiting": sum(row["points"] for row in rows if not row["sign"]),
        "rows": rows,
        "next": next((row for row in rows if row["sign"] == "✗"), None),
        "untried": [row for row in rows if not row["is_tried"]],
        "blocks": _group(nb.cells, {row["name"]: row for row in rows}),
    }


def _group(
    cells: Sequence[NotebookNode], rows: Mapping[str, Mapping[str, Any]]
) -> list[Block]:
    """Group a page's cells into blocks, without exercises that are still stubs."""
    blocks: list[Block] = []
    for cell in cells:
        name = ""
        if cell.metadata.get(KEY) == "own":
            # Cells that a student added below an answer belong to that exercise.
            is_below = blocks and is_solution(blocks[-1].cells[-1])
            name = (is_below and blocks[-1].name) or "own"
        elif is_grade(cell) or is_solution(cell):
            name = grade_ids.check_of(nbgrader_of(cell)["grade_id"])
            if not rows.get(name, {"is_tried": True})["is_tried"]:
                continue
        if not blocks or blocks[-1].name != name:
            blocks.append(Block(name, rows.get(name)))
        blocks[-1].cells.append(cell)
    return blocks


def _is_check(cell: NotebookNode) -> bool:
    return bool(is_grade(cell) and not is_solution(cell))


def _describe_changes(changed: Sequence[changes.Change], assignment: str) -> list[str]:
    """Describe the last change of each changed score, in a sentence each."""
    last = {change.cell: change for change in changed}
    none, penalty = "not graded yet", changes.PENALTY
    return [
        f"{cell if cell == penalty else title(assignment, cell)}: "
        f"{change.before or none} → {change.after or none} ({_WHY[change.why]}, "
        f"{change.time[:10]})"
        for cell, change in last.items()
        if change.why in _WHY
    ]


def _row(
    cell: NotebookNode, checks: Mapping[str, Verdict], assignment: str,
    sentences: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """Return the values of an exercise's row in the page's table, by name.

    "sign" is "" as long as a person has yet to grade the answer, and "cases" says
    how many cases passed. "remark" is what the verdict tells the student, and
    "said" is the teacher's sentence about answers of this kind.

    ``cell`` is the one that holds the points: a check, or a written answer.
    """
    mark = nbgrader_of(cell)
    name, waits = mark["grade_id"], mark.get("waiting")
    is_full = not waits and mark["score"] >= mark["points"]
    verdict = checks.get(name, _NONE)
    problems = [case.problem for case in verdict.cases]
    # Nothing is wrong, but a measured answer could earn more.
    is_partial = {*problems} - {""} == {PARTLY}
    return {
        "cell": cell,
        "name": name,
        "points": mark["points"],
        "number": number(assignment, name),
        "title": title(assignment, name),
        "sign": "" if waits else sign(is_full, is_partial),
        "is_tried": _is_tried(cell, verdict),
        "cases": f"{problems.count('')} of {len(problems)}" if problems else "",
        "remark": "" if is_full else verdict.says or verdict.note,
        "said": sentences.get(group_of(verdict), ""),
        "aspects": "" if is_full else by_aspect(verdict.aspects),
    }


def _is_tried(cell: NotebookNode, verdict: Verdict) -> bool:
    """Whether the answer is more than the stub, or has points nevertheless."""
    if is_solution(cell):  # an answer in words
        return bool(_is_theirs(cell) or nbgrader_of(cell)["score"])
    return not verdict.is_unsolved


def _is_theirs(cell: NotebookNode) -> bool:
    """Whether a cell contains anything that a student wrote."""
    if is_solution(cell):  # the checksum is that of the stub
        return bool(nbgrader_of(cell).get("checksum") != compute_checksum(cell))
    return bool(cell.metadata.get(KEY) == "own")


def nbgrader_of(cell: NotebookNode) -> Mapping[str, Any]:
    """The metadata that nbgrader has stored in a cell."""
    mark: Mapping[str, Any] = cell.metadata.get("nbgrader", {})
    return mark
