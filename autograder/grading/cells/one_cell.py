"""One cell that a kernel executes, from the request to its end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from jupyter_core.utils import run_sync
from nbclient.client import timestamp
from nbclient.exceptions import CellExecutionComplete, DeadKernelError
from nbformat import NotebookNode

from autograder.grading.cells.outputs import CappedOutputs, is_count
from autograder.grading.cells.prompt_client import KernelMessage, is_about
from autograder.sandbox.ending import EndReason
from autograder.sandbox.meter import LOOK_SECONDS

TIMEOUT = "CellTimeoutError"  # nbgrader's word for a cell that was interrupted
_LAST_WORDS = 0.1  # seconds to wait for the last messages of a dead kernel


class OneCell:
    """The execution of one cell: reads the kernel's messages until the cell has ended.

    It replaces nbclient's own loop, which is slow for short cells. ``client`` runs
    the kernel and stores the outputs.
    """

    def __init__(self, client: CappedOutputs, cell: NotebookNode, index: int):
        """Clear the cell's outputs, and send its code to the kernel."""
        self._client, self._cell, self._index = client, cell, index
        cell.outputs, client.clear_before_next_output = [], False
        cell.metadata["execution"] = {}  # the times, which nbclient notes there
        self._idle = False
        self._reply: KernelMessage | None = None
        self._patience = math.inf  # deadline for output that follows the reply
        self._request = client.kc.execute(
            cell.source, store_history=True, stop_on_error=False
        )

    def await_end(
        self, reason_to_end: Callable[[], EndReason | None]
    ) -> EndReason | None:
        """Process the kernel's messages until the cell has ended.

        ``reason_to_end`` is called regularly. If it returns a reason, the cell is not
        awaited any longer, and the reason is returned.

        Raises:
            DeadKernelError: the kernel died before the cell had ended.
        """
        reason, look = reason_to_end(), time.monotonic() + LOOK_SECONDS
        while not (self._is_over() or reason):
            seconds = look - time.monotonic()
            if seconds > 0:
                self._hear(seconds)
            else:
                self._raise_if_dead()
                reason, look = reason_to_end(), time.monotonic() + LOOK_SECONDS
        # The cell may have ended while the reason was found.
        return None if self._is_over() else reason

    @property
    def lacks_output(self) -> bool:
        """Whether the cell has ended, but not all of its output has arrived."""
        return self._reply is not None and not self._idle

    def close(self) -> None:
        """Pass the kernel's reply to the client, to store how the cell has ended."""
        self._client.on_cell_executed(
            cell=self._cell, cell_index=self._index, execute_reply=self._reply
        )

    def _is_over(self) -> bool:
        """Whether the cell has ended, and its output is complete or overdue.

        If it is overdue, messages that have already arrived are still processed.
        """
        if self._reply is None:
            return False
        if self._idle or time.monotonic() <= self._patience:
            return self._idle
        return not self._hear(0.0)  # messages that still wait are late because of us

    def _hear(self, seconds: float) -> bool:
        """Wait some seconds for messages and process them; return whether any came."""
        messages = self._client.kc.messages(seconds)
        for message, is_reply in messages:
            if is_about(message, self._request):
                self._take(message, is_reply)
        return bool(messages)

    def _take(self, message: KernelMessage, is_reply: bool) -> None:
        """Process one message: the kernel's reply, or an output of the cell."""
        if is_reply and self._reply is None:
            self._reply = message
            self._patience = time.monotonic() + self._client.iopub_timeout
            self._cell.metadata["execution"]["shell.execute_reply"] = timestamp(message)
            number = message["content"].get("execution_count")
            if is_count(number):  # a sandbox may say anything
                self._cell["execution_count"] = number
        elif not (is_reply or self._idle):
            try:
                self._client.process_message(message, self._cell, self._index)
            # So nbclient says that the kernel is idle: no more output follows.
            except CellExecutionComplete:
                self._idle = True

    def _raise_if_dead(self) -> None:
        """Raise DeadKernelError if the kernel has died before the cell had ended.

        The messages of a dead kernel are processed first, as they may end the cell.
        """
        if run_sync(self._client.km.is_alive)():
            return
        while not self._is_over() and self._hear(_LAST_WORDS):
            pass
        if not self._is_over():
            raise DeadKernelError("Kernel died")
