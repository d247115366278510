"""Write scores to the gradebook: from verdicts, else by nbgrader's own rule."""

from __future__ import annotations

import logging
import math
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry
from nbgrader.plugins import BasePlugin
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from nbgrader.utils import (
    compute_checksum,
    determine_grade,
    is_grade,
    is_solution,
    is_task,
)
from traitlets import Float, Instance

from autograder.grading.checks import reference_metadata
from autograder.grading.checks.check_cell import check_cell
from autograder.grading.dates import how_late
from autograder.grading.extra_cells import find_handler
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.gradebook.book import Row, rows_of, set_score
from autograder.grading.gradebook.late_days import LateBudget, balance_of
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import GradingMetadata
from autograder.grading.settings import Processed, Resources
from autograder.grading.task import identity

_ROUNDING = 0.01  # points
_SILENT = logging.getLogger(f"{__name__}.silent")
_SILENT.setLevel(logging.CRITICAL + 1)  # disabling does not last


class SaveVerdicts(SaveAutoGrades):  # type: ignore[misc]
    """nbgrader's SaveAutoGrades, which scores a judged check only by its verdict."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Set the scores and automatic comments of all cells in one transaction."""
        metadata = GradingMetadata.of_run(nb, resources)
        self._verdicts = dict(metadata.checks)
        self._submission = identity(resources)
        context = resources["nbgrader"]
        names = context["student"], context["assignment"], context["notebook"]
        with Gradebook(context["db_url"]) as book:
            grades = rows_of(book, Grade, *names)
            comments = rows_of(book, Comment, *names)
            for cell in nb.cells:
                if is_grade(cell):
                    self._set_score(cell, _find_row(cell, grades))
                if is_solution(cell) or is_task(cell):  # as nbgrader comments
                    checksum = cell.metadata.nbgrader.get("checksum")
                    untouched = not is_task(cell) and checksum == compute_checksum(cell)
                    comment = "No response." if untouched else None
                    _find_row(cell, comments).auto_comment = comment
            book.db.commit()
        metadata.checks = self._verdicts
        return nb, resources

    def _set_score(self, cell: NotebookNode, grade: Grade) -> None:
        """Set a cell's score; a check that is undecided keeps its old one."""
        score = self._score(cell)
        verdict = self._verdicts.get(cell.metadata.nbgrader.grade_id)
        undecided = verdict is not None and verdict.decided == "person"
        set_score(grade, grade.auto_score if undecided else score)
        grade.needs_manual_grade |= undecided

    def _score(self, cell: NotebookNode) -> float | None:
        """Return the score of a cell; None if a person must decide.

        A check that only ran inside the sandbox gets a verdict that is marked "inside".
        """
        grade_id = cell.metadata.nbgrader.grade_id
        if exercise := _find_exercise(cell):
            if grade_id not in self._verdicts:
                raise GradingInfrastructureError(f"{grade_id} came without a verdict")
            verdict = self._verdicts[grade_id]
            self._refuse_strange(verdict, exercise, cell)
            return None if verdict.decided == "person" else verdict.points
        score = unjudged_score(cell)
        if score is not None and not is_solution(cell):
            points = float(cell.metadata.nbgrader.points)
            inside = Verdict(grade_id, score, points, decided="inside")
            self._verdicts[grade_id] = inside
        return score

    def _refuse_strange(
        self, verdict: Verdict, exercise: str, cell: NotebookNode
    ) -> None:
        """Check again that a verdict belongs to its cell, whatever was checked before.

        Raises:
            GradingInfrastructureError: it does not, or has more points than possible.
        """
        name, most = cell.metadata.nbgrader.grade_id, most_points(exercise, cell)
        if verdict.exercise != exercise:
            strange = f"the verdict on {verdict.exercise}"
        elif verdict.submission != self._submission:
            strange = "the verdict on a different submission"
        elif not 0.0 <= verdict.points <= most + _ROUNDING:
            strange = f"{verdict.points:g} of {most:g} points"
        else:
            return
        raise GradingInfrastructureError(f"{name} came with {strange}")


def _find_exercise(cell: NotebookNode) -> str:
    """The exercise whose verdict scores a cell; "" if nbgrader's own rule does."""
    if check := check_cell(cell):
        return check.exercise
    handler = find_handler(cell)
    return handler.EXERCISE if handler else ""


def _find_row(cell: NotebookNode, rows: dict[str, Row]) -> Row:
    """Find the row of a cell. Raises MissingEntry: the gradebook has none."""
    name = cell.metadata.nbgrader.grade_id
    if name not in rows:
        raise MissingEntry(f"the gradebook has no row for {name}")
    return rows[name]


def most_points(exercise: str, cell: NotebookNode) -> float:
    """The most points that a check can give, including a bonus."""
    most = 1.0 if find_handler(cell) else reference_metadata.largest_share(exercise)
    return float(cell.metadata.nbgrader.points) * most


def unjudged_score(cell: NotebookNode) -> float | None:
    """Return the score of a cell without a verdict; None if a person must decide.

    Unlike in nbgrader, an error costs all points, and text on stderr costs nothing.
    """
    if cell.cell_type != "code" or is_solution(cell):
        score: float | None = determine_grade(cell, None)[0]
        return score
    if any(output.output_type == "error" for output in cell.outputs):
        return 0.0
    points = float(cell.metadata.nbgrader.points)
    for output in cell.outputs:
        if output.output_type == "execute_result":
            return _partial_credit(output.data.get("text/plain"), points)
    return points


def _partial_credit(text: object, points: float) -> float:
    """The points for the value of a cell's last line.

    A number within range is a partial credit; other text earns all points.
    """
    try:
        value = float(str(text))
    except ValueError:
        return points if text else 0.0
    return value if math.isfinite(value) and 0 <= value <= points else 0.0


class _BeyondLateDays(BasePlugin):  # type: ignore[misc]
    """Wraps a late policy, and hides the first ``free`` seconds of lateness from it."""

    policy = Instance(BasePlugin)
    free = Float()

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The policy's penalty for what is left of the lateness; None if nothing is."""
        seconds = total_seconds_late - self.free
        if seconds <= 0:
            return None
        penalty: float | None
        penalty = self.policy.late_submission_penalty(student_id, score, seconds)
        return penalty


class LatePenalties(AssignLatePenalties):  # type: ignore[misc]
    """nbgrader's late penalties, with a log line on the lateness and its cost."""

    log: Any
    plugin_inst: BasePlugin

    def init_plugin(self) -> None:
        """Make the policy ignore the lateness that the student's late days cover."""
        super().init_plugin()
        if budget := LateBudget(config=self.config).days:
            with Gradebook(self.db_url) as book:
                balance = balance_of(book, budget, self.student_id)
            free, policy = balance.free_for(self.assignment_id), self.plugin_inst
            self.plugin_inst = _BeyondLateDays(parent=self, policy=policy, free=free)

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Record the late penalty as nbgrader does, but log it in a single line."""
        # nbgrader logs several lines for each late submission; ours is the one below.
        logger, self.log = self.log, _SILENT
        try:
            nb, resources = super().preprocess(nb, resources)
        finally:
            self.log = logger
        names = self.assignment_id, self.student_id
        with Gradebook(self.db_url) as book:
            late = how_late(book.find_submission(*names).total_seconds_late)
            notebook = book.find_submission_notebook(self.notebook_id, *names)
            penalty = notebook.late_submission_penalty
        if late:
            costs = f", {penalty:g} points off" if penalty else ""
            self.log.warning(f"{self.student_id}: {late}{costs}")
        return nb, resources
