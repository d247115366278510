"""Run a notebook's cells in sandboxes, so that a cell can end only its own sandbox."""

from __future__ import annotations

import contextlib
import copy
import logging
import signal
from collections.abc import Callable, Iterator
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution
from traitlets import Bool, Float, Integer, List, Unicode

from autograder.checks.words import LEFT_OUT
from autograder.grading.cells.one_cell import TIMEOUT, OneCell
from autograder.grading.cells.outputs import CappedOutputs
from autograder.grading.cells.prompt_client import PromptClient
from autograder.grading.cells.submission_files import earlier_solutions, shipped
from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.grade import environment
from autograder.grading.settings import Processed, Resources
from autograder.sandbox.confine import Policy
from autograder.sandbox.ending import Ended, EndReason
from autograder.sandbox.meter import Budget, Meter, Span, usual_budget
from autograder.sandbox.provisioner import SandboxProvisioner, in_sandbox
from autograder.sandbox.warm import select_on_demand

log = logging.getLogger(__name__)

_LIMITS = (
    "memory_mb", "disk_mb", "file_mb", "processes", "open_files", "notebook_seconds",
    "allow_unconfined", "level",
)  # fmt: skip
_TO_END = Budget(cpu=10.0, clock=20.0)  # for a cell to end when it is interrupted
# What jupyter_client and nbclient raise over messages that a kernel's code has forged.
_NONSENSE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_USED_UP = "it has used up its time"

# Called now and then while a cell runs; returns a reason to end it, or None.
Look = Callable[[Span], EndReason | None]


class SandboxedExecute(CappedOutputs):
    """Executes cells in a sandbox; if a cell ends it, a fresh one runs the next cells.

    The fresh sandbox first reruns the earlier code cells, but no tests and no cells
    that ended a sandbox.
    """

    timeout = Integer(60, help="CPU seconds of a cell.").tag(config=True)
    notebook_seconds = Float(900.0, help="CPU seconds of a notebook.").tag(config=True)
    memory_mb = Integer(2048, help="Memory of a submission.").tag(config=True)
    disk_mb = Integer(256, help="What a submission may write, in all.").tag(config=True)
    file_mb = Integer(64, help="What it may write to one file.").tag(config=True)
    processes = Integer(128, help="Processes and threads at once.").tag(config=True)
    open_files = Integer(512, help="Open files at once.").tag(config=True)
    most_sandboxes = Integer(
        12, help="Sandboxes in all, when cells end theirs; then the notebook stops."
    ).tag(config=True)
    allow_unconfined = Bool(
        False, help="Grade even where no confinement works on this machine."
    ).tag(config=True)
    level = Unicode("", help="Force this level of confinement.").tag(config=True)
    readable = List(Unicode(), help="Further paths to read.").tag(config=True)
    demonstrations = Bool(
        False, help="Run the notebook's own demonstrations and draw its figures, too."
    ).tag(config=True)
    startup_timeout = Integer(
        300, help="Seconds that a sandbox may take to start."
    ).tag(config=True)
    iopub_timeout = Integer(
        30, help="Seconds that a cell's output may come later than its end."
    ).tag(config=True)

    final = True  # whether there is no second try
    _stopped: Ended | None = None  # why the whole notebook was stopped, if it was
    _used_up = False  # whether nothing more may be run in the current sandbox
    _ended_cells: dict[int, Ended]  # cells that were ended for good, by their index
    _sandboxes: list[SandboxProvisioner]  # their provisioners; the last one is in use
    _meter: Meter  # of the last one
    _policy: Policy  # of all sandboxes

    def reset(self) -> None:
        """Forget the notebook that was executed before this one."""
        self._spent, self._ended_cells = {}, {}
        self._stopped, self._used_up, self._ignores_outputs = None, False, False
        self._meter, self._sandboxes = Meter(None), []
        self._cpu_before = self._clock_before = 0.0

    def execute_notebook(
        self, nb: NotebookNode, resources: Resources, assignment: str, seed: str
    ) -> Processed:
        """Run all cells of an assignment's notebook and store their outputs in it.

        Each sandbox seeds its random number generators with ``seed``.

        Raises:
            ConfinementError: no sandbox is available on this machine.
        """
        self.reset()
        code = [cell.source for cell in nb.cells if cell.cell_type == "code"]
        runs = [source for source in code if not source.startswith("@demo")]
        imports = tuple(select_on_demand(code if self.demonstrations else runs))
        ours = (*earlier_solutions(assignment), *shipped(assignment))
        self._policy = Policy(
            **{name: getattr(self, name) for name in _LIMITS},
            readable=(*self.readable, *ours), imports=imports, seed=seed,
        )  # fmt: skip
        left_out = "0" if self.demonstrations else "1"
        with environment(**{LEFT_OUT: left_out}):
            processed: Processed = super().preprocess(nb, resources)
        return processed

    def preprocess_cell(
        self, cell: NotebookNode, resources: Resources, index: int
    ) -> Processed:
        """Run one cell, in a fresh sandbox if an earlier cell has ended its own."""
        return self.run(cell, index), resources

    @property
    def usage(self) -> dict[str, Any]:
        """What the sandboxes of the notebook have used, for its metadata.

        It has the isolation "level" and the `Usage` of the last sandbox that ended, but
        with "utime" and "stime" of all, and their number as "sandboxes".
        """
        level = {"level": self._sandboxes[-1].level if self._sandboxes else "none"}
        used: list[dict[str, Any]] = [{**b.usage} for b in self._sandboxes if b.usage]
        if not used:
            return level
        times = {k: sum(usage[k] for usage in used) for k in ("utime", "stime")}
        return level | used[-1] | times | {"sandboxes": len(used)}

    def refuse_full(self) -> None:
        """Check that no sandbox was ended because the host's disk was full.

        Raises:
            GradingInfrastructureError: one was; cells may have failed because of it.
        """
        for sandbox in self._sandboxes:
            if sandbox.usage and sandbox.usage["ended"] is EndReason.HOST_DISK:
                raise GradingInfrastructureError(sandbox.usage["reason"])

    def run(
        self, cell: NotebookNode, index: int, look: Look | None = None
    ) -> NotebookNode:
        """Execute a cell in a usable sandbox, and return it.

        ``look`` is called regularly with the time that the cell has used, and may
        return a reason to end it. By default, this is the time limit.

        Raises:
            GradingInfrastructureError: a fault of the grader or of the machine.
        """
        if self.has_sandbox(index):
            self._run(cell, index, look or Span.exceeded_limit)
        if ended := self.ended(index):
            cell.outputs = [_error("Stopped", ended.explanation)]
        return cell

    def ended(self, index: int) -> Ended | None:
        """Say why a cell, or the whole notebook, was stopped; None if neither was."""
        return self._ended_cells.get(index, self._stopped)

    def has_sandbox(self, index: int) -> bool:
        """Provide a usable sandbox for a cell; False if the notebook was stopped.

        If the current sandbox is used up, a new one first reruns the earlier cells.
        """
        self._note_sandbox()
        while self._used_up and not self._stopped:
            self._start_anew()
            self.run_again(0, index)
        return not self._stopped

    @property
    def sandbox(self) -> SandboxProvisioner:
        """The provisioner of the sandbox that is in use."""
        return self._sandboxes[-1]

    @contextlib.contextmanager
    def discarding_outputs(self) -> Iterator[None]:
        """Discard new outputs in this context: cells that rerun already have some."""
        before, self._ignores_outputs = self._ignores_outputs, True
        try:
            yield
        finally:
            self._ignores_outputs = before

    def run_again(self, start: int, end: int) -> None:
        """Rerun cells [start, end), but no tests and no cells that ended a sandbox.

        Their outputs are discarded. It stops if the sandbox can no longer be used.
        """
        with self.discarding_outputs():
            for index, cell in enumerate(self.nb.cells[start:end], start):
                is_test = is_grade(cell) and not is_solution(cell)
                is_skipped = is_test or index in self._ended_cells
                if self._used_up or self._stopped:
                    return
                if cell.cell_type == "code" and not is_skipped:
                    self._run(copy.deepcopy(cell), index, Span.exceeded_limit)

    def leave_sandbox(self) -> None:
        """Use the current sandbox no more; the next cell gets a fresh one."""
        self._used_up = True

    def count(self, seconds: float) -> None:
        """Add the seconds that a check's answers took to the notebook's time."""
        self._clock_before += seconds

    def _note_sandbox(self) -> None:  # if it is new
        sandbox = self.km.provisioner
        assert isinstance(sandbox, SandboxProvisioner), "create_kernel_manager says so"
        if not self._sandboxes or self._sandboxes[-1] is not sandbox:
            self._sandboxes.append(sandbox)
            self._meter = Meter(sandbox.supervisor)

    def _start_anew(self) -> None:
        """Replace a sandbox that is used up; after too many, stop the notebook."""
        if len(self._sandboxes) >= self.most_sandboxes:
            self._stop(EndReason.TOO_MANY_SANDBOXES)
            return
        self._cpu_before += self._meter.cpu
        self._cleanup_kernel()
        self.km = self.create_kernel_manager()
        self.start_new_kernel()
        self.start_new_kernel_client()
        self._used_up = False
        self._note_sandbox()

    def _stop(self, reason: EndReason, detail: str = "") -> None:
        message = f"The notebook stopped here: {detail or reason}."
        self._stopped = Ended(reason, message)

    # One cell

    def _run(self, cell: NotebookNode, index: int, look: Look) -> None:
        """Execute a cell until ``look`` ends it, and handle its sandbox's death."""
        span = Span(self._meter, usual_budget(self.timeout))
        ended = None
        try:
            ended = self._execute(cell, index, span, look)
        except DeadKernelError:
            self._after_death(index)
        except _NONSENSE:
            self._stop(EndReason.NONSENSE)
        self._clock_before += span.clock
        if ended:
            cell.outputs.append(_error(TIMEOUT, f"it was ended: {ended}"))
            # Perhaps the machine is to blame: the submission gets a second try.
            if ended is EndReason.TIME and span.busy and not self.final:
                raise GradingInfrastructureError("a cell was cut off on a busy machine")

    def _execute(
        self, cell: NotebookNode, index: int, span: Span, look: Look
    ) -> EndReason | None:
        """Execute a cell; return the reason if it was interrupted.

        Raises:
            DeadKernelError: its sandbox has ended.
        """
        if not cell.source.strip():
            return None
        execution = OneCell(self, cell, index)
        log.debug("cell %d runs", index)
        reason = execution.await_end(lambda: look(span) or self._notebook_is_over(span))
        if reason:
            # A cell that can be interrupted keeps its sandbox for the next cells.
            run_sync(self.km.interrupt_kernel)()
            if execution.await_end(Span(self._meter, _TO_END).exceeded_limit):
                run_sync(self.km.signal_kernel)(signal.SIGKILL)
                execution.await_end(lambda: None)  # the kernel's death
        execution.close()
        if execution.lacks_output and not (reason or self.final):
            raise GradingInfrastructureError("the end of an output did not arrive")
        return reason

    def _notebook_is_over(self, span: Span) -> EndReason | None:
        """Stop the notebook, and return why, if its cells have used up their time."""
        cpu = self._cpu_before + self._meter.cpu  # of all sandboxes together
        clock = self._clock_before + span.clock  # of all cells so far
        budget = usual_budget(self.notebook_seconds)
        if cpu > budget.cpu or clock > budget.clock:
            self._stop(EndReason.NOTEBOOK_TIME, _USED_UP)
            return EndReason.NOTEBOOK_TIME
        return None

    def _after_death(self, index: int) -> None:
        """Record why a sandbox has died; a fresh one runs the cells after this one."""
        usage = self._sandboxes[-1].usage
        log.debug("cell %d ended its sandbox: %s", index, usage)
        ended = usage["ended"] if usage else EndReason.EXITED
        cause = usage["reason"] if usage else "its process ended"
        if ended.is_ours:
            raise GradingInfrastructureError(f"its sandbox was lost: {cause}")
        # Perhaps the machine ran out of memory: a second try will tell.
        if ended is EndReason.SIGNAL and not self.final:
            raise GradingInfrastructureError(f"its sandbox was ended by {cause}")
        explanation = f"This cell ended its process: {cause}."
        self._ended_cells[index] = Ended(ended, explanation)
        self._used_up = True
        # A sandbox's limit on CPU time is that of the whole notebook.
        if ended is EndReason.CPU_TIME:
            self._stop(EndReason.NOTEBOOK_TIME, _USED_UP)

    def create_kernel_manager(self) -> AsyncKernelManager:
        """Create a kernel manager that starts a sandbox, with a `PromptClient`."""
        manager: AsyncKernelManager = super().create_kernel_manager()
        # Not in the environment: other kernels of a Jupyter server need no sandbox.
        spec = manager.kernel_spec
        assert spec  # nbgrader has looked for it
        spec.metadata |= in_sandbox(self._policy)
        manager.client_class = f"{PromptClient.__module__}.{PromptClient.__name__}"
        return manager

    async def _async_check_alive(self) -> None:
        """Raise DeadKernelError if the kernel is dead; the reason is reported later."""
        if self.km is None or not await self.km.is_alive():
            raise DeadKernelError("Kernel died")

    def _get_timeout(self, cell: NotebookNode | None) -> None:
        """Return None, so that nbclient sets no time limit of its own; see `_run`.

        Its clock would count time in which a busy machine kept the cell from running.
        """


def _error(name: str, message: str) -> NotebookNode:
    return NotebookNode(
        output_type="error", ename=name, evalue=message, traceback=[message]
    )
