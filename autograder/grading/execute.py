"""Run a submission: its cells in sandboxes, its checks by the judge (see checks/)."""

from __future__ import annotations

import hmac
import sys
from pathlib import Path

from nbformat import NotebookNode
from traitlets import Bool, Dict, Float
from traitlets.config import Config

from autograder.course.errors import CourseError
from autograder.grading.cells.sandboxed_execute import SandboxedExecute
from autograder.grading.cells.submission_files import refuse_large, submission_key
from autograder.grading.checks import reference_metadata
from autograder.grading.checks.check_cell import check_cell
from autograder.grading.checks.checking import Checks
from autograder.grading.fingerprint import fingerprint
from autograder.grading.judge.exchange import Seconds
from autograder.grading.judge.handle import Judge
from autograder.grading.judge.verdict import CaseEvidence
from autograder.grading.metadata import GradingMetadata
from autograder.grading.secret import course_secret
from autograder.grading.settings import Processed, Resources
from autograder.grading.task import identity
from autograder.grading.warmable import Stage, Warmable
from autograder.sandbox import client
from autograder.sandbox.confine import ConfinementError
from autograder.sandbox.slot import NoRoomError

_NO_SANDBOX = (
    "this machine gives no sandbox to run submissions in ({}); use another machine, or "
    "accept it with --JudgedExecute.allow_unconfined=True"
)


class JudgedExecute(SandboxedExecute, Stage):
    """nbgrader's Execute with kernels in sandboxes and verdicts from the judge."""

    answer_seconds = Float(
        20.0, help="CPU seconds that a checked object may take on one case."
    ).tag(config=True)
    check_seconds = Float(
        60.0,
        help="CPU seconds for all answers to one check, and of the judge for what it "
        "is asked meanwhile.",
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

    explained = ""  # the grade id of a check: cells after it do not run (`replay`)
    evidence: tuple[CaseEvidence, ...] = ()  # for its verdict
    _judge: Judge | None = None
    _secret = b""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Run all cells of a submission, and store the judge's verdicts on its checks.

        Raises:
            GradingInfrastructureError: a fault of the grader, or of the machine.
            RefusedError: the files beside the notebook take too much room.
            CourseError: there is no sandbox, judge or course secret to grade with.
        """
        assignment = resources["nbgrader"]["assignment"]
        self.apply_unit_limits(assignment)
        ours = resources.get("autograder", {})  # absent in nbgrader's own converter
        self._secret = ours.get("secret") or course_secret(Path.cwd())
        self.final = ours.get("final", True)
        folder = Path(resources["metadata"]["path"])
        refuse_large(folder, self.disk_mb)
        # The judge does its imports while a sandbox is started.
        self.judge.preload(_unit(assignment))
        _SandboxServer(self.level).preload()
        key = submission_key(nb, folder)
        self._checks = Checks(
            self, self.judge, identity(resources), key,
            Seconds(self.answer_seconds, self.check_seconds), self.explained,
        )  # fmt: skip
        # All sandboxes have the same random numbers, so that neither a second sandbox
        # nor a second grading is a second chance.
        seed = hmac.new(self._secret, f"dice/{key}".encode(), "sha256").hexdigest()
        try:
            nb, resources = self.execute_notebook(nb, resources, assignment, seed)
        except ConfinementError as error:
            raise CourseError(_no_sandbox(error)) from error
        self.refuse_full()
        self._checks.write_verdicts(nb)
        metadata = GradingMetadata.of_run(nb, resources)
        metadata.checks, metadata.sandbox = self._checks.verdicts, self.usage
        self.evidence = self._checks.evidence
        return nb, resources

    def apply_unit_limits(self, assignment: str) -> None:
        """Apply the unit's own limits from the setting ``unit_limits``, if any."""
        # As configuration: nbclient initialises itself again when a notebook starts,
        # and takes its `timeout` from there.
        limits = self.unit_limits.get(assignment, {})
        self.update_config(Config({type(self).__name__: dict(limits)}))

    def preprocess_cell(
        self, cell: NotebookNode, resources: Resources, index: int
    ) -> Processed:
        """Run one cell; if it is a check, let the judge ask questions instead.

        After the last cell, failed checks that follow from earlier errors may be
        repeated.
        """
        # To explain a check, the cells after it are not needed.
        if index > self._last:
            return cell, resources
        if check := check_cell(cell):
            self._checks.run(cell, check, index)
        elif cell.cell_type == "code":
            self.run(cell, index)
        if self.carry_errors and index == self._last:
            self._checks.repeat_with_solutions(self.nb)
        return cell, resources

    @property
    def _last(self) -> int:
        """The index of the last cell that runs: the check to explain, or the end."""
        marks = [c.metadata.get("nbgrader", {}).get("grade_id") for c in self.nb.cells]
        explained = self.explained
        return marks.index(explained) if explained in marks else len(marks) - 1

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
        """Make all notebooks of this process use a judge that is already running."""
        cls._judge = judge

    @classmethod
    def depends_on(cls, assignment: str) -> str:
        """A digest of what verdicts depend on; if it changes, grading is repeated."""
        unit = _unit(assignment)
        reference_metadata.refuse_damaged(unit)
        return fingerprint(unit)

    @classmethod
    def warmable(cls, config: Config) -> Warmable:
        """Return a handle on the server that starts sandboxes, to preload it."""
        return _SandboxServer(cls(config=config).level)


class _SandboxServer:
    """The sandbox server of this process and of all processes that it starts."""

    def __init__(self, level: str):
        self._level = level

    def preload(self) -> None:
        if sys.platform == "linux":
            client.preload(self._level)

    def wait(self) -> None:
        """Wait for the server. Raises CourseError: this machine gives no sandboxes."""
        if sys.platform == "linux":
            try:
                client.run_directory(self._level)
            except ConfinementError as error:
                raise CourseError(_no_sandbox(error)) from error


def _no_sandbox(error: ConfinementError) -> str:
    """An error's text, with advice to allow weaker isolation if that would help."""
    plain = isinstance(error, client.NotStartedError | NoRoomError)
    return str(error) if plain else _NO_SANDBOX.format(error)


def _unit(assignment: str) -> str:
    """The name of an assignment's unit: "attention" for "02_attention"."""
    return assignment.split("_", 1)[-1]
