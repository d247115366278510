"""What stands at the top of a page: scores, what waits for a teacher, lateness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.preprocessors import GetGrades
from nbgrader.utils import compute_checksum, is_solution

from autograder.checks.aspects import by_aspect
from autograder.checks.words import PARTLY, sign
from autograder.grading.dates import how_late
from autograder.grading.gradebook import changes
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import KEY, GradingMetadata
from autograder.grading.sentences import group_of
from autograder.grading.settings import Processed, Resources
from autograder.grading.titles import number, title

_WHY = {
    changes.NEW: "you handed in again",
    changes.MENDED: "a check was mended",
    changes.BY_HAND: "a teacher looked at it",
    changes.DECIDED: "a check was decided at last",
    changes.LATENESS: "your deadline or what lateness costs has changed",
}
_NONE = Verdict("", 0.0, 0.0)  # of what no check has decided


class Scores(GetGrades):  # type: ignore[misc]
    """nbgrader's GetGrades, which also knows what waits for a teacher, and lateness."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        nb, resources = super().preprocess(nb, resources)
        metadata = GradingMetadata.of_run(nb, resources)
        if metadata.refused:  # the rest is the course's alone
            nb.cells = [cell for cell in nb.cells if _is_theirs(cell)]
        with Gradebook(self.db_url) as gradebook:
            notebook = gradebook.find_submission_notebook(
                self.notebook_id, self.assignment_id, self.student_id
            )
            sentences = resources.get("sentences", {})
            changed = resources.get("changes", ())
            resources[KEY] = {
                **_summary(nb, notebook, metadata, self.assignment_id, sentences),
                "changes": _describe_changes(changed, self.assignment_id),
            }
        return nb, resources

    def _get_score(self, cell: NotebookNode, resources: Resources) -> None:
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id,
            self.notebook_id, self.assignment_id, self.student_id,
        )  # fmt: skip
        cell.metadata.nbgrader["waiting"] = (
            grade.auto_score is None and grade.manual_score is None
        )


def _summary(
    nb: NotebookNode, notebook: SubmittedNotebook, metadata: GradingMetadata,
    assignment: str, sentences: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """What stands at the top of a page."""
    graded = [cell for cell in nb.cells if "score" in nbgrader_of(cell)]
    rows = [_row(cell, metadata.checks, assignment, sentences) for cell in graded]
    student = notebook.assignment.student
    name = f"{student.first_name or ''} {student.last_name or ''}".strip()
    return {
        "student": name or student.id,
        "refused": metadata.refused,
        "repairs": [repair.says for repair in metadata.repairs],
        "late": how_late(notebook.assignment.total_seconds_late),
        "penalty": notebook.late_submission_penalty or 0.0,
        "waiting": sum(row["points"] for row in rows if not row["sign"]),
        "rows": rows,
        "next": next((row for row in rows if row["sign"] == "✗"), None),
        "titles": {row["name"]: row["title"] for row in rows},
        "done": {row["name"] for row in rows if row["sign"] == "✓"},
    }


def _describe_changes(changed: Sequence[changes.Change], assignment: str) -> list[str]:
    """Describe the last change of each score in a sentence."""
    last = {change.cell: change for change in changed}
    none = "not graded yet"
    return [
        f"{_name_of(change, assignment)}: "
        f"{change.before or none} → {change.after or none} ({_WHY[change.why]}, "
        f"{change.time[:10]})"
        for change in last.values()
        if change.why in _WHY
    ]


def _name_of(change: changes.Change, assignment: str) -> str:
    """What people call the cell of a change, or the penalty."""
    is_penalty = change.cell == changes.PENALTY
    return change.cell if is_penalty else title(assignment, change.cell)


def _row(
    cell: NotebookNode, checks: Mapping[str, Verdict], assignment: str,
    sentences: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """A line of the table at the top; ``sign`` is "" while nobody has graded it."""
    mark = nbgrader_of(cell)
    name, waits = mark["grade_id"], mark.get("waiting")
    is_full = not waits and mark["score"] >= mark["points"]
    verdict = checks.get(name, _NONE)
    right = sum(not case.problem for case in verdict.cases)
    return {
        "cell": cell,
        "name": name,
        "points": mark["points"],
        "number": number(assignment, name),
        "title": title(assignment, name),
        "sign": "" if waits else sign(is_full, _is_partial(verdict)),
        "cases": f"{right} of {len(verdict.cases)}" if verdict.cases else "",
        "remark": "" if is_full else verdict.says or verdict.note,
        "said": sentences.get(group_of(verdict), ""),
        "aspects": "" if is_full else by_aspect(verdict.aspects),
    }


def _is_partial(verdict: Verdict) -> bool:
    """Whether nothing is wrong, but a measured answer could earn more."""
    problems = {case.problem for case in verdict.cases if case.problem}
    return problems == {PARTLY}


def _is_theirs(cell: NotebookNode) -> bool:
    """Whether a student wrote what is in a cell."""
    if is_solution(cell):  # the checksum is that of the stub
        return bool(nbgrader_of(cell).get("checksum") != compute_checksum(cell))
    return bool(cell.metadata.get(KEY) == "own")


def nbgrader_of(cell: NotebookNode) -> Mapping[str, Any]:
    """What nbgrader noted of a cell."""
    mark: Mapping[str, Any] = cell.metadata.get("nbgrader", {})
    return mark
