"""What a cell may show: its share of output, and no message that makes no sense."""

from __future__ import annotations

from typing import Any

from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute
from traitlets import Integer

from autograder.grading.prompt_client import KernelMessage

_SHOWING = (
    "stream", "display_data", "execute_result", "error", "update_display_data"
)  # fmt: skip
_CELLS_IN_FULL = 8  # times what a cell may show is what a notebook may
_OUTPUT = 64  # bytes that an output takes at least, be it empty


class CappedOutputs(Execute):  # type: ignore[misc]
    """nbgrader's Execute, which keeps of the outputs only what has a place."""

    output_kb = Integer(
        1024, help="Output kept of a cell; the rest is dropped as it arrives."
    ).tag(config=True)

    _deaf = False  # while cells run again, whose outputs are there already
    _spent: dict[int, int]  # index of a cell -> bytes that it has shown

    def process_message(
        self, msg: KernelMessage, cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Take an output message, unless its cell has printed its share already.

        Any process of the box can send anything: what makes no sense is dropped.
        """
        try:
            if msg["msg_type"] in _SHOWING and (
                self._deaf or self._is_too_much(msg, cell, cell_index)
            ):
                return None
            if not isinstance(msg["content"].get("execution_count", 0), int):
                return None
            shown: NotebookNode | None = super().process_message(msg, cell, cell_index)
            return shown
        except CellExecutionComplete:
            raise
        except Exception:  # nbclient and nbformat have many for a message's faults
            return None

    def _is_too_much(self, msg: KernelMessage, cell: NotebookNode, index: int) -> bool:
        most = self.output_kb * 1024
        before = self._spent.get(index, 0)
        self._spent[index] = before + self._cost(msg["content"])
        if sum(min(n, most) for n in self._spent.values()) > _CELLS_IN_FULL * most:
            return True
        if before <= most < self._spent[index]:
            text = f"[output cut after {self.output_kb} kB]\n"
            cell.outputs.append(new_output("stream", name="stdout", text=text))
        return self._spent[index] > most

    def _cost(self, content: dict[str, Any]) -> int:
        """About how many bytes a message takes, in all the places that it changes."""
        display = (content.get("transient") or {}).get("display_id")
        places = sum(map(len, self._display_id_map.get(display, {}).values()))
        return (_OUTPUT + _size(content)) * (1 + places)

    def handle_comm_msg(
        self, outs: list[Any], msg: KernelMessage, cell_index: int
    ) -> None:
        """Nothing: widgets have no state here, and none can take outputs for itself."""


def _size(content: object) -> int:
    """About how many bytes a message's content takes."""
    if isinstance(content, dict):
        return _size([*content, *content.values()])
    if isinstance(content, list | tuple):
        return sum(_size(value) for value in content)
    return len(content) if isinstance(content, str | bytes) else 8
