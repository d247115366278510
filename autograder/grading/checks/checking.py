"""Run check cells: the judge asks questions, which the notebook's sandbox answers.

PyTorch is imported only inside functions, as most submissions do without it.
"""

from __future__ import annotations

import copy
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from autograder.grading.cells.sandboxed_execute import SandboxedExecute
from autograder.grading.checks.check_cell import CheckCell, check_cell
from autograder.grading.checks.error_carried_forward import (
    find_answers,
    find_prerequisites,
    find_uses,
    find_withheld_keys,
    is_better,
    titles,
)
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.judge.exchange import Exchange, Question, Seconds
from autograder.grading.judge.handle import Judge
from autograder.grading.judge.verdict import CaseEvidence, RenderedVerdict, Verdict
from autograder.grading.metadata import as_output

log = logging.getLogger(__name__)
_AGENT = "__import__('autograder.checks.agent', fromlist=['serve'])"


class Checks:
    """Runs the check cells of one notebook, and keeps the judge's verdicts.

    Args:
        key: seeds the inputs that are drawn for this submission.
        seconds: limits on the CPU time of the sandbox's answers.
        explained: the grade id of a check whose inputs and answers are kept in
            the attribute `evidence`; "" for none.
    """

    def __init__(
        self, cells: SandboxedExecute, judge: Judge, submission: str, key: str,
        seconds: Seconds, explained: str = "",
    ):  # fmt: skip
        self._cells, self._judge = cells, judge
        self._submission, self._key, self._seconds = submission, key, seconds
        self._explained = explained
        self.evidence: tuple[CaseEvidence, ...] = ()
        self.verdicts: dict[str, Verdict] = {}  # by grade id
        self._panels: dict[int, NotebookNode] = {}
        self._reached: int | None = None  # how far `repeat_with_solutions` has run
        self._been_in_place: set[str] = set()  # exercises whose solutions it has seen

    def write_verdicts(self, notebook: NotebookNode) -> None:
        """Write the verdicts into the notebook, as outputs of their cells.

        Call this only after all cells, because a cell can change earlier outputs.
        """
        for index, output in self._panels.items():
            notebook.cells[index].outputs = [output]

    def run(self, cell: NotebookNode, check: CheckCell, index: int) -> None:
        """Run a check cell, and keep the judge's verdict on it.

        If the notebook has been stopped, the verdict gives no points and says why.
        """
        if not self._cells.has_sandbox(index) and (ended := self._cells.ended(index)):
            from autograder.grading.judge.rendered import without_sandbox

            points = float(cell.metadata.nbgrader.points)
            rendered = without_sandbox(check.exercise, points, ended, self._submission)
            self._keep(cell, index, rendered)
            return
        question = Question(
            check.exercise, self._submission, self._key, self._seconds,
            with_evidence=cell.metadata.nbgrader.grade_id == self._explained,
        )  # fmt: skip
        rendered = self._decide(question, cell, check, index)
        self.evidence = rendered.evidence or self.evidence
        if ended := self._cells.ended(index):  # why the sandbox has not answered
            note, reason = ended.explanation, ended.reason
            verdict = replace(rendered.verdict, note=note, ended=reason)
            rendered = replace(rendered, verdict=verdict)
        self._keep(cell, index, rendered)

    def repeat_with_solutions(self, notebook: NotebookNode) -> None:
        """Repeat the failed checks that build on failed exercises, in a second sandbox.

        There, the course's solutions replace the student's failed ones.
        """
        failed, self._reached = self._failed(), None
        if all(verdict.is_unsolved for verdict in failed.values()):
            return
        uses = find_uses(notebook.cells)
        for index, cell in enumerate(notebook.cells):
            check = check_cell(cell)
            before = failed.get(check.exercise) if check else None
            if check is None or before is None or before.is_unsolved:
                continue
            # Keys are earlier exercises whose solutions would answer this one: they are
            # replaced only once the student has solved most of them.
            prerequisites = find_prerequisites(check.exercise, failed, uses)
            keys = find_withheld_keys(check.exercise, self._failed())
            if not self._been_in_place.isdisjoint(keys):
                self._reached = None  # this sandbox has seen the solution of one
            if names := [name for name in prerequisites if name not in keys]:
                cells = notebook.cells[: index + 1]
                answers = find_answers(cells, check.exercise, names, uses)
                self._try_again(index, copy.deepcopy(cell), check, names, answers)
            if withheld := [name for name in prerequisites if name in keys]:
                self._note_withheld(index, cell.metadata.nbgrader.grade_id, withheld)

    def _failed(self) -> Mapping[str, Verdict]:
        """Map each failed exercise to the verdict on it."""
        return {
            verdict.exercise: verdict
            for verdict in self.verdicts.values()
            if verdict.points < verdict.max_points
        }

    def _note_withheld(self, index: int, grade_id: str, keys: list[str]) -> None:
        """Tell the student why some solutions were not used to repeat a failed check.

        Those of the exercises ``keys`` would give its answer away.
        """
        from autograder.checks.boxes import ORANGE, boxed
        from autograder.checks.rows import inline

        verdict = self.verdicts[grade_id]
        if verdict.points >= verdict.max_points:
            return
        sentence = (
            f"Not tried with the course's version of {titles(keys)}, which would give "
            "the answer away: solve most of it first."
        )
        note = f"{verdict.note} {sentence}".strip()
        self.verdicts[grade_id] = replace(verdict, note=note)
        self._panels[index].data["text/html"] += boxed(ORANGE, inline(sentence))

    def _has_second_sandbox(self, index: int) -> bool:
        """Run the cells before a check in the second sandbox; False if that fails."""
        if self._reached is None:
            self._been_in_place.clear()
            self._cells.leave_sandbox()
        else:
            self._cells.run_again(self._reached, index)
        self._reached = index
        return self._cells.has_sandbox(index)

    def _try_again(
        self, index: int, cell: NotebookNode, check: CheckCell, names: list[str],
        answers: list[str],
    ) -> None:  # fmt: skip
        """Run a check again with the course's version of the exercises ``names``.

        ``answers`` that build on them are run again, too. The better verdict counts.
        """
        if not self._has_second_sandbox(index):
            return
        self._been_in_place.update(names)
        question = Question(
            check.exercise, self._submission, self._key, self._seconds, tuple(names)
        )
        # A display update could change the notebook.
        with self._cells.discarding_outputs():
            rendered = self._decide(question, cell, check, index, answers)
        before = self.verdicts[cell.metadata.nbgrader.grade_id]
        if is_better(rendered.verdict, before):
            self._keep(cell, index, rendered)

    def _decide(
        self, question: Question, cell: NotebookNode, check: CheckCell, index: int,
        answers: Sequence[str] = (),
    ) -> RenderedVerdict:  # fmt: skip
        """Run a check cell, and return the judge's verdict on its answers.

        Raises:
            GradingInfrastructureError: a fault of the grader or of the machine.
        """
        with self._judge.exchange(question) as exchange:
            self._ask(exchange, cell, check, index, answers)
            verdict = exchange.settle().verdict
            log.debug(
                "%s: %g of %g points, %.3f s for its answers",
                verdict.exercise, verdict.points, verdict.max_points, exchange.took,
            )  # fmt: skip
            self._cells.count(exchange.took)
            if not exchange.complete:
                self._cells.leave_sandbox()
            if exchange.hindered and not self._cells.final:
                late = "an answer came late on a busy machine"
                raise GradingInfrastructureError(late)
            return exchange.await_mistake()

    def _ask(
        self, exchange: Exchange, cell: NotebookNode, check: CheckCell, index: int,
        answers: Sequence[str],
    ) -> None:  # fmt: skip
        """Let the sandbox answer the judge's questions about an exercise.

        ``answers`` are the student's cells that build on replaced exercises.
        """
        ticket, source = secrets.token_hex(8), cell.source
        sandbox = self._cells.sandbox
        assert sandbox.judge_socket, "it has started"
        exchange.ask(sandbox.judge_socket, sandbox.supervisor, ticket)
        # In place of its own code, the cell runs the sandbox's end of the exchange.
        cell.source = (
            f"{_AGENT}.serve({check.exercise!r}, {ticket!r},"
            f" lambda: ({check.expression}))"
        )
        if code := exchange.code:
            arguments = f"{code!r}, globals(), {list(answers)!r}"  # as literals
            cell.source = f"with {_AGENT}.in_place({arguments}): {cell.source}"
        try:
            self._cells.run(cell, index, exchange.reason_to_end)
        finally:
            cell.source = source

    def _keep(self, cell: NotebookNode, index: int, rendered: RenderedVerdict) -> None:
        """Store a verdict, and a panel that is to replace its check cell's output."""
        points = min(rendered.verdict.points, float(cell.metadata.nbgrader.points))
        self._panels[index] = as_output(points, rendered.html)
        self.verdicts[cell.metadata.nbgrader.grade_id] = rendered.verdict
