"""Run a submission's cells in the box, and have its checks decided by the judge."""

from __future__ import annotations

import copy
import json
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from traitlets import Bool, Dict, Float
from traitlets.config import Config

from autograder.course.errors import CourseError
from autograder.grading import carrying
from autograder.grading.beside import (
    earlier_solutions,
    refuse_large,
    shipped,
    submission_key,
)
from autograder.grading.boxed import BoxedExecute
from autograder.grading.check_cell import CheckCell, check_cell
from autograder.grading.faults import Undecided
from autograder.grading.grade import environment
from autograder.grading.judge import Decision, Exchange, Judge, Question
from autograder.grading.judging import fingerprint
from autograder.grading.record import Record
from autograder.grading.referee import Referee
from autograder.grading.secret import course_secret
from autograder.grading.task import identity
from autograder.kernel.client import run_directory
from autograder.kernel.confine import ConfinementError
from autograder.kernel.meter import Span
from autograder.student.check import NOT_SOLVED
from autograder.student.demo import LEFT_OUT
from autograder.student.exercise import Verdict
from autograder.student.panel import as_html

VERDICT = "autograder"  # output metadata that marks what the trusted side put there
_NO_BOX = (
    "this machine gives no box to run submissions in ({}); use another machine, or "
    "accept it with --JudgedExecute.allow_unconfined=True"
)


class JudgedExecute(BoxedExecute):
    """nbgrader's Execute with the kernel in a box and the verdicts from outside it."""

    answer_seconds = Float(
        20.0, help="CPU seconds that a checked object may take on one case."
    ).tag(config=True)
    judge_seconds = Float(
        600.0,
        help="Seconds for which the judge may be silent before it counts as lost.",
    ).tag(config=True)
    unit_limits = Dict(
        help='Other limits for a unit: {"05_sequence_reversal": {"timeout": 300}}'
    ).tag(config=True)
    carry_errors = Bool(
        True,
        help="Try an exercise again, with the course's version of failed ones that it "
        "builds on; an error then costs once.",
    ).tag(config=True)
    demonstrations = Bool(
        False, help="Run the notebook's own demonstrations and draw its figures, too."
    ).tag(config=True)

    _judge: Judge | None = None
    _secret = b""

    def preprocess(
        self,
        nb: NotebookNode,
        resources: dict[str, Any],
        km: AsyncKernelManager | None = None,
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run all cells; verdicts go to ``nb.metadata.autograder`` and the cells.

        Raises:
            Undecided: a fault of ours, or of the machine.
            Refused: the files beside the notebook take too much room.
        """
        self._apply_unit_limits(resources["nbgrader"]["assignment"])
        ours = resources.get("autograder", {})  # nbgrader's own converter has nothing
        self._secret = ours.get("secret") or course_secret(Path.cwd())
        self.final = ours.get("final", True)
        self._submission = identity(resources)
        folder = Path(resources["metadata"]["path"])
        refuse_large(folder, self.disk_mb)
        self._key = submission_key(nb, folder)
        self.begin()
        self.judge.start()
        self._panels: dict[int, NotebookNode] = {}
        nb.metadata.setdefault(VERDICT, {})["checks"] = {}
        policy = json.dumps(self._policy(resources))
        left_out = "0" if self.demonstrations else "1"
        try:
            with environment(**{"AUTOGRADER_BOX": policy, LEFT_OUT: left_out}):
                nb, resources = super().preprocess(nb, resources, km)
        except ConfinementError as error:
            raise CourseError(_NO_BOX.format(error)) from error
        # Only now: while cells run, a display update can reach any output before it.
        for index, output in self._panels.items():
            nb.cells[index].outputs = [output]
        nb.metadata[VERDICT]["box"] = {"level": self.box_level, **self.usage}
        return nb, resources

    def _apply_unit_limits(self, assignment: str) -> None:
        # As configuration: nbclient initialises itself again when a notebook starts,
        # and takes its `timeout` from there.
        limits = self.unit_limits.get(assignment, {})
        self.update_config(Config({type(self).__name__: dict(limits)}))

    def _policy(self, resources: dict[str, Any]) -> dict[str, Any]:
        names = ("memory_mb", "disk_mb", "file_mb", "processes", "open_files",
                 "notebook_seconds", "allow_unconfined", "level")  # fmt: skip
        assignment = resources["nbgrader"]["assignment"]
        return {name: getattr(self, name) for name in names} | {
            "readable": [
                *self.readable, *earlier_solutions(assignment), *shipped(assignment)
            ]
        }  # fmt: skip

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run one cell; a judged check is replaced by our question, then restored."""
        if check := cell.cell_type == "code" and check_cell(cell):
            self._run_check(cell, check, index)
        elif cell.cell_type == "code":
            self.run(cell, index)
        if self.carry_errors and index == len(self.nb.cells) - 1:
            self._carry()
        return cell, resources

    def _carry(self) -> None:
        """Try what follows from other failures again, in a fresh box (see carrying)."""
        records = self.nb.metadata[VERDICT]["checks"]
        failed = {
            r["exercise"]: r["note"]
            for r in records.values()
            if r["points"] < r["max_points"]
        }
        for index, cell in enumerate(self.nb.cells):
            check = check_cell(cell)
            note = failed.get(check.exercise) if check else None
            if check is None or note is None or note.startswith(NOT_SOLVED):
                continue
            if names := carrying.missing(check.exercise, failed):
                self._try_again(index, copy.deepcopy(cell), check, names)

    def _try_again(
        self, index: int, cell: NotebookNode, check: CheckCell, names: list[str]
    ) -> None:
        """Run a check again with the course's version of some exercises before it.

        The better of the two verdicts counts; nothing else leaves this box.
        """
        self.leave_box()
        if not self.has_box(index):
            return
        self._deaf = True  # or an update of a display would reach the notebook
        try:
            self._ask_again(index, cell, check, names)
        finally:
            self._deaf = False

    def _ask_again(
        self, index: int, cell: NotebookNode, check: CheckCell, names: list[str]
    ) -> None:
        course = new_code_cell(carrying.course_version(names))
        self._run(course, index, Span.over)
        question = Question(
            check.exercise, self._submission, f"{self._key} again", self.answer_seconds
        )
        with self.judge.exchange(question) as exchange:
            self._ask(exchange, cell, check, index)
            decision = exchange.settle()
            if decision.hindered and not self.final:
                raise Undecided("an answer came late on a busy machine")
            decision = exchange.named()
        before = self.nb.metadata[VERDICT]["checks"][cell.metadata.nbgrader.grade_id]
        if decision.record.points > before["points"]:
            self._keep(cell, index, carrying.given(decision, names))

    def _run_check(self, cell: NotebookNode, check: CheckCell, index: int) -> None:
        question = Question(
            check.exercise, self._submission, self._key, self.answer_seconds
        )
        if not self.has_box(index):
            self._keep(cell, index, self._stopped_decision(cell, check, index))
            return
        with self.judge.exchange(question) as exchange:
            self._ask(exchange, cell, check, index)
            decision = exchange.settle()
            if not decision.complete:
                self.leave_box()
            if decision.hindered and not self.final:
                raise Undecided("an answer came late on a busy machine")
            self._keep(cell, index, self._with_reason(exchange.named(), index))

    def _ask(
        self, exchange: Exchange, cell: NotebookNode, check: CheckCell, index: int
    ) -> None:
        """Have the box answer the judge, until the cell has ended."""
        ticket, source = secrets.token_hex(8), cell.source
        box = self._boxes[-1]
        supervisor = getattr(box, "supervisor", None)
        exchange.ask(box.judge_socket, supervisor, ticket)
        cell.source = (
            "__import__('autograder.student.agent', fromlist=['serve'])"
            f".serve({check.exercise!r}, {ticket!r}, lambda: ({check.expression}))"
        )
        try:
            referee = Referee(exchange, box.judge_socket, self.judge_seconds)
            self.run(cell, index, referee.look)
        finally:
            cell.source = source

    def _with_reason(self, decision: Decision, index: int) -> Decision:
        """The decision, and why the box has not answered if its cell was ended."""
        if not (says := self.ended(index)):
            return decision
        return replace(decision, record=replace(decision.record, note=says))

    def _stopped_decision(
        self, cell: NotebookNode, check: CheckCell, index: int
    ) -> Decision:
        points = float(cell.metadata.nbgrader.points)
        note = self.ended(index)
        verdict = Verdict(check.exercise, "", 0.0, points, note=note)
        record = Record(
            check.exercise, 0.0, points, note=note, submission=self._submission
        )
        return Decision(record, as_html(verdict))

    def _keep(self, cell: NotebookNode, index: int, decision: Decision) -> None:
        """Keep a verdict, to stand in place of what the box printed under the check."""
        points = min(decision.record.points, float(cell.metadata.nbgrader.points))
        data = {"text/plain": repr(points), "text/html": decision.panel}
        self._panels[index] = new_output(
            "execute_result", data, metadata={VERDICT: "verdict"}
        )
        self.nb.metadata[VERDICT]["checks"][cell.metadata.nbgrader.grade_id] = (
            decision.record.to_json()
        )

    @property
    def judge(self) -> Judge:
        """The judge process, one for all notebooks that this process grades."""
        judge = JudgedExecute._judge
        if judge is None:
            judge = JudgedExecute._judge = Judge(self._secret)
        judge.secret, judge.patience = self._secret, self.judge_seconds
        return judge

    @classmethod
    def adopt(cls, judge: Judge) -> None:
        """Have all notebooks of this process judged by a judge that has started."""
        cls._judge = judge

    @classmethod
    def depends_on(cls, assignment: str) -> str:
        """What verdicts on a unit depend on; if it changes, all are graded again."""
        return fingerprint(assignment.split("_", 1)[-1])

    @classmethod
    def warm_up(cls, config: Config) -> None:
        """Start the server of boxes, to be shared with processes started from here.

        Raises:
            CourseError: this machine gives no boxes.
        """
        if sys.platform == "linux":
            try:
                run_directory(cls(config=config).level)
            except ConfinementError as error:
                raise CourseError(_NO_BOX.format(error)) from error
