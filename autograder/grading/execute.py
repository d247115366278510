"""Run a submission's cells in the box, and have its checks decided by the judge."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import secrets
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty

import zmq
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_core.utils import run_sync
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade, is_solution
from traitlets import Bool, Dict, Float, Integer, List, Unicode
from traitlets.config import Config

from autograder.course import ROOT, manifest, units
from autograder.errors import CourseError
from autograder.grading.intake import Refused
from autograder.grading.judge import Judge, fingerprint
from autograder.grading.record import Record
from autograder.grading.work import course_secret, environment
from autograder.kernel.client import run_directory
from autograder.kernel.confine import ConfinementError
from autograder.student.demo import LEFT_OUT
from autograder.student.exercise import Verdict
from autograder.student.panel import as_html

VERDICT = "autograder"  # output metadata that marks what the trusted side put there
_GRACE = 1.0  # seconds a verdict may take once its cell has ended
_PATIENCE = 120.0  # seconds after which a judge counts as lost
_SHOWING = (
    "stream", "display_data", "execute_result", "error", "update_display_data"
)  # fmt: skip
_CELLS_IN_FULL = 8  # times what a cell may show is what a notebook may
_LARGEST_MESSAGE = 16 << 20  # bytes; a larger one ends the kernel's connection
_MESSAGES_WAITING = 32
# What jupyter_client and nbclient raise over messages that a kernel's code has forged.
_NONSENSE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_TIMEOUT = "CellTimeoutError"  # nbgrader's word for it
_IDLE_SECONDS = 10.0  # for a cell to end when it is interrupted
_NO_BOX = (
    "this machine gives no box to run submissions in ({}); use another machine, or "
    "accept it with --JudgedExecute.allow_unconfined=True"
)


@dataclass(frozen=True)
class Check:
    """A judged check: the exercise, and the expression that is checked."""

    exercise: str
    expression: str


def judged_check(cell: NotebookNode) -> Check | None:
    """The check that a trusted grade cell consists of; None if it is something else."""
    # A graded answer is the student's own code, even where it calls `check`.
    if cell.cell_type != "code" or not is_grade(cell) or is_solution(cell):
        return None
    try:
        statements = ast.parse(cell.source).body
    except SyntaxError:
        return None
    found = [_check_call(statement) for statement in statements]
    if not found or None in found or len({check for check in found}) != 1:
        return None
    return found[0]


def _check_call(statement: ast.stmt) -> Check | None:
    match statement:
        case ast.Expr(ast.Call(func, [ast.Constant(str(name)), answer], [])):
            if ast.unparse(func) in ("check", "check.hidden"):
                return Check(name, ast.unparse(answer))
    return None


class PromptClient(AsyncKernelClient):
    """A client that is ready once the kernel is: the original waits 0.2 s more."""

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Ask the kernel for its info until its reply and its output have come.

        Raises:
            RuntimeError: it has died, or takes longer (seconds).
        """
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        while not await self._answered(self.kernel_info(), deadline):
            if not await self.is_alive():
                raise RuntimeError("Kernel died before replying to kernel_info")
            if time.monotonic() > deadline:
                raise RuntimeError(f"Kernel didn't respond in {timeout} seconds")

    async def _answered(self, request: str, deadline: float) -> bool:
        """Whether the end of a request shows on iopub, so that we are subscribed.

        Other messages may come without end: the deadline holds for them, too.
        """
        try:
            state = ""
            while state != "idle" and time.monotonic() < deadline:
                message = await self.get_iopub_msg(timeout=0.2)
                if message["parent_header"].get("msg_id") == request:
                    state = message["content"].get("execution_state", "")
            while state == "idle" and time.monotonic() < deadline:
                message = await self.get_shell_msg(timeout=1)
                if message["parent_header"].get("msg_id") == request:
                    self._handle_kernel_info_reply(message)
                    return True
        except Empty:
            pass
        return False


class JudgedExecute(Execute):
    """nbgrader's Execute with the kernel in a box and the verdicts from outside it."""

    notebook_seconds = Float(900.0, help="Wall-clock limit of a notebook.").tag(
        config=True
    )
    memory_mb = Integer(2048, help="Memory of a submission.").tag(config=True)
    disk_mb = Integer(256, help="What a submission may write, in all.").tag(config=True)
    file_mb = Integer(64, help="What it may write to one file.").tag(config=True)
    processes = Integer(128, help="Processes and threads at once.").tag(config=True)
    open_files = Integer(512, help="Open files at once.").tag(config=True)
    output_kb = Integer(
        1024, help="Output kept of a cell; the rest is dropped as it arrives."
    ).tag(config=True)
    answer_seconds = Float(
        20.0, help="How long a checked object may take on one case."
    ).tag(config=True)
    allow_unconfined = Bool(
        False, help="Grade even where no confinement works on this machine."
    ).tag(config=True)
    level = Unicode("", help="Force a level of confinement; default: strongest.").tag(
        config=True
    )
    unit_limits = Dict(
        help='Other limits for a unit: {"05_sequence_reversal": {"timeout": 300}}'
    ).tag(config=True)
    demonstrations = Bool(
        False, help="Run the notebook's own demonstrations and draw its figures, too."
    ).tag(config=True)
    readable = List(Unicode(), help="More paths that a box may read.").tag(config=True)

    _judge: Judge | None = None
    _secret = b""

    def preprocess(self, nb: NotebookNode, resources: dict, km=None):
        """Run all cells; verdicts go to ``nb.metadata.autograder`` and the cells."""
        self._apply_unit_limits(resources["nbgrader"]["assignment"])
        ours = resources.get("autograder", {})  # nbgrader's own converter has nothing
        self._secret = ours.get("secret") or course_secret(Path.cwd())
        folder = Path(resources["metadata"]["path"])
        self._refuse_large(folder)
        self._key = submission_key(nb, folder)
        self._dead, self._spent, self._box = "", {}, None
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
        nb.metadata[VERDICT]["box"] = {
            "level": getattr(self._box, "level", "none"),
            **(getattr(self._box, "usage", None) or {}),
        }
        return nb, resources

    def _apply_unit_limits(self, assignment: str) -> None:
        # As configuration: nbclient initialises itself again when a notebook starts,
        # and takes its `timeout` from there.
        limits = self.unit_limits.get(assignment, {})
        self.update_config(Config({type(self).__name__: dict(limits)}))

    def _policy(self, resources: dict) -> dict:
        names = ("memory_mb", "disk_mb", "file_mb", "processes", "open_files",
                 "notebook_seconds", "allow_unconfined", "level")  # fmt: skip
        assignment = resources["nbgrader"]["assignment"]
        return {name: getattr(self, name) for name in names} | {
            "readable": [
                *self.readable, *earlier_solutions(assignment), *shipped(assignment)
            ]
        }  # fmt: skip

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int):
        """Run one cell; a judged check is replaced by our question, then restored."""
        self._box = self.km.provisioner
        if cell.cell_type != "code":
            return cell, resources
        if check := judged_check(cell):
            self._run_check(cell, check, index)
        else:
            self._run(cell, index)
        return cell, resources

    def _refuse_large(self, folder: Path) -> None:
        """Half of a box's disk is for what the submission writes.

        Raises:
            Refused: its files take more than the other half.
        """
        size = sum(path.stat().st_size for path in _files(folder)) / (1 << 20)
        if size > self.disk_mb / 2:
            raise Refused(
                f"its files take {size:.0f} MB, and at most {self.disk_mb // 2} MB "
                "can lie beside a notebook"
            )

    def _run(self, cell: NotebookNode, index: int) -> None:
        """Execute a cell; a kernel that died leaves a reason in those after it."""
        if not self._dead:
            try:
                self.execute_cell(cell, index, store_history=True)
                if any(o.get("ename") == _TIMEOUT for o in cell.outputs):
                    self._expect_idle()
                return
            except DeadKernelError:
                self._dead = self._reason()
            except _NONSENSE:
                self._dead = "The notebook stopped here: its messages made no sense."
        cell.outputs = [
            new_output(
                "error", ename="Stopped", evalue=self._dead, traceback=[self._dead]
            )
        ]

    def _expect_idle(self) -> None:
        """See that an interrupted cell has ended; if not, the later ones would wait."""
        try:
            run_sync(self.kc.wait_for_ready)(timeout=_IDLE_SECONDS)
        except RuntimeError:
            self._dead = "The notebook stopped here: a cell could not be interrupted."

    def _reason(self) -> str:
        usage = getattr(self._box, "usage", None) or {}
        reason = usage.get("reason", "its process ended")
        return f"The notebook stopped here: {reason}."

    def _run_check(self, cell: NotebookNode, check: Check, index: int) -> None:
        points = float(cell.metadata.nbgrader.points)
        if self._dead:
            verdict = Verdict(check.exercise, "", 0.0, points, note=self._dead)
            record = Record(check.exercise, 0.0, points, note=self._dead)
            self._keep(cell, index, record, as_html(verdict))
            return
        ticket, source = secrets.token_hex(8), cell.source
        channel = self._box.judge_socket
        checks = self.nb.metadata[VERDICT]["checks"].values()
        failed = [r["exercise"] for r in checks if r["points"] < r["max_points"]]
        self.judge.ask(check.exercise, ticket, self._key, channel, failed)
        cell.source = (
            "__import__('autograder.student.agent', fromlist=['serve'])"
            f".serve({check.exercise!r}, {ticket!r}, lambda: ({check.expression}))"
        )
        try:
            self._run(cell, index)
        finally:
            cell.source = source
        self._keep(cell, index, *self._await_verdict())

    def _await_verdict(self) -> tuple[Record, str]:
        found = self.judge.verdict(_GRACE)
        if found is None:
            self.judge.over()
            found = self.judge.verdict(_PATIENCE)
        if found is None:
            raise RuntimeError("the judge does not answer")
        return found

    def _keep(self, cell: NotebookNode, index: int, record: Record, panel: str) -> None:
        """Keep a verdict, to stand in place of what the box printed under the check."""
        points = min(record.points, float(cell.metadata.nbgrader.points))
        data = {"text/plain": repr(points), "text/html": panel}
        self._panels[index] = new_output(
            "execute_result", data, metadata={VERDICT: "verdict"}
        )
        self.nb.metadata[VERDICT]["checks"][cell.metadata.nbgrader.grade_id] = (
            record.to_json()
        )

    @property
    def judge(self) -> Judge:
        """The judge process, one for all notebooks that this process grades."""
        judge = JudgedExecute._judge
        if judge is None:
            judge = JudgedExecute._judge = Judge(self._secret)
        judge.secret, judge.answer_seconds = self._secret, self.answer_seconds
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

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int):
        """Take an output message, unless its cell has printed its share already.

        Any process of the box can send anything: what makes no sense is dropped.
        """
        try:
            if msg["msg_type"] in _SHOWING and self._is_too_much(msg, cell, cell_index):
                return None
            if not isinstance(msg["content"].get("execution_count", 0), int):
                return None
            return super().process_message(msg, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # nbclient and nbformat have many for a message's faults
            return None

    def _is_too_much(self, msg: dict, cell: NotebookNode, index: int) -> bool:
        most = self.output_kb * 1024
        before = self._spent.get(index, 0)
        self._spent[index] = before + _size(msg["content"])
        if sum(min(n, most) for n in self._spent.values()) > _CELLS_IN_FULL * most:
            return True
        if before <= most < self._spent[index]:
            text = f"[output cut after {self.output_kb} kB]\n"
            cell.outputs.append(new_output("stream", name="stdout", text=text))
        return self._spent[index] > most

    def handle_comm_msg(self, outs: list, msg: dict, cell_index: int) -> None:
        """Nothing: widgets have no state here, and none can take outputs for itself."""

    def create_kernel_manager(self):
        """nbclient's, for a kernel in a box, whose messages it does not queue up."""
        manager = super().create_kernel_manager()
        # Not by the environment: a Jupyter server's other kernels are not for a box.
        manager.kernel_spec.metadata["kernel_provisioner"] = {
            "provisioner_name": "autograder-box"
        }
        manager.client_class = f"{__name__}.{PromptClient.__name__}"
        manager.context.setsockopt(zmq.MAXMSGSIZE, _LARGEST_MESSAGE)
        manager.context.setsockopt(zmq.RCVHWM, _MESSAGES_WAITING)
        return manager


def _size(content: object) -> int:
    """About how many bytes a message's content takes."""
    if isinstance(content, dict):
        return _size([*content, *content.values()])
    if isinstance(content, list | tuple):
        return sum(_size(value) for value in content)
    return len(content) if isinstance(content, str | bytes) else 8


def submission_key(nb: NotebookNode, folder: Path) -> str:
    """A digest of a submission's code and of the files beside it.

    Its fresh inputs depend on this and the secret: who has seen those of one submission
    cannot use them in another.
    """
    text = json.dumps([cell.source for cell in nb.cells if cell.cell_type == "code"])
    digest = hashlib.sha256(text.encode())
    for path in _files(folder):
        name = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
        for part in (name, path.read_bytes()):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def earlier_solutions(assignment: str) -> list[str]:
    """The reference modules that a notebook may import: those of units before."""
    folder = ROOT / "autograder" / "solutions"
    names = ["__init__", *(u.name for u in units() if u.label < assignment)]
    return [str(folder / f"{name}.py") for name in names]


def shipped(assignment: str) -> list[str]:
    """What students get with a unit beside the package: a trained model, say."""
    found = [unit for unit in units() if unit.label == assignment]
    return [str(path) for unit in found for path in manifest.read(unit).ships]
