"""Limit the output of a cell, and drop malformed messages of its kernel."""

from __future__ import annotations

from typing import Any

from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute
from traitlets import Integer

from autograder.grading.cells.prompt_client import KernelMessage

_SHOWING = (
    "stream", "display_data", "execute_result", "error", "update_display_data"
)  # fmt: skip
_HANDLED = (*_SHOWING, "status", "execute_input", "clear_output")
_CELLS_IN_FULL = 8  # a notebook may show as much as so many cells
_OUTPUT = 64  # bytes that are counted for an output even if it is empty
_LARGEST_COUNT = 1 << 31  # of execution counts
_ERROR_CHARACTERS = 500  # kept of an error that is in a reply but in no output


def is_count(value: object) -> bool:
    """Whether a value is a valid execution count of a cell."""
    return type(value) is int and 0 <= value < _LARGEST_COUNT


class CappedOutputs(Execute):  # type: ignore[misc]
    """nbgrader's Execute, but it drops the output of a cell beyond a limit.

    A whole notebook may show as much as `_CELLS_IN_FULL` cells at their limit.
    """

    output_kb = Integer(
        1024, help="Output kept of a cell; the rest is dropped as it arrives."
    ).tag(config=True)

    _ignores_outputs = False  # while cells run again, whose outputs already exist
    _spent: dict[int, int]  # index of a cell -> bytes that it has shown
    _open: NotebookNode | None = None  # the output that further text extends
    _parts: list[str]  # of its text

    def process_message(
        self, msg: KernelMessage, cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Add a kernel's message to a cell's outputs, unless these are at their limit.

        Text that continues the last output is collected, and joined to it later.
        Malformed messages are dropped. Returns the output that was added, if any.
        """
        try:
            if msg["msg_type"] not in _HANDLED:
                return None
            if msg["msg_type"] in _SHOWING and (
                self._ignores_outputs or not self._admit_output(msg, cell, cell_index)
            ):
                return None
            if not is_count(msg["content"].get("execution_count", 0)):
                return None
            # Joined only later: to extend a long text each time would be slow.
            if self._goes_on(msg, cell):
                self._parts.append(msg["content"]["text"])
                return None
            output: NotebookNode | None = super().process_message(msg, cell, cell_index)
            text = msg["content"].get("text")
            if msg["msg_type"] == "stream" and isinstance(text, str) and cell.outputs:
                self._join()
                self._open, self._parts = cell.outputs[-1], [text]
            return output
        except CellExecutionComplete:
            raise
        except Exception:  # malformed messages raise many kinds
            return None

    def _admit_output(self, msg: KernelMessage, cell: NotebookNode, index: int) -> bool:
        """Count a message, and return whether to show it; cut a text at the limit.

        An output that is not plain text is shown whole or not at all.
        """
        most, before = self.output_kb * 1024, self._spent.get(index, 0)
        content, is_text = msg["content"], bool(msg["msg_type"] == "stream")
        goes_on = self._goes_on(msg, cell)
        cost = len(content["text"]) if goes_on else self._cost(content)
        sizes = (n for i, n in self._spent.items() if i != index)
        spent_elsewhere = sum(min(size, most) for size in sizes)
        room = min(most, _CELLS_IN_FULL * most - spent_elsewhere) - before
        self._spent[index] = before + cost
        if cost <= room:
            return True
        if room < 0:  # the notice is already in the output
            return False
        # It names the limit of a cell, so none is shown at that of the notebook.
        notice = f"[output cut after {self.output_kb} kB]\n" * (before + cost > most)
        if is_text:
            text = content["text"]
            part = text[: max(room - (cost - len(text)), 0)]
            content["text"] = part + "\n" * bool(notice) + notice
        elif notice:
            cell.outputs.append(new_output("stream", name="stdout", text=notice))
        return is_text

    def _goes_on(self, msg: KernelMessage, cell: NotebookNode) -> bool:
        """Whether a message continues the printed text of the last output.

        Only the length of such a text is counted, as it makes no output of its own.
        """
        content = msg["content"]
        return (
            msg["msg_type"] == "stream"
            and self._open is not None
            and bool(cell.outputs)
            and cell.outputs[-1] is self._open
            and not self.clear_before_next_output
            and self._open["name"] == content["name"]
            and isinstance(content["text"], str)
        )

    def _join(self) -> None:
        """Store the collected text in the current stream output; extend it no more."""
        if self._open is not None:
            self._open["text"] = "".join(self._parts)
        self._open, self._parts = None, []

    def _cost(self, content: dict[str, Any]) -> int:
        """Estimate how many bytes a message takes in the notebook.

        A message with a display id counts once more for each output that it changes.
        """
        display = (content.get("transient") or {}).get("display_id")
        places = sum(map(len, self._display_id_map.get(display, {}).values()))
        return (_OUTPUT + _size(content)) * (1 + places)

    def on_cell_executed(self, **arguments: Any) -> None:
        """Shorten an error that only a cell's reply contains to one line of output.

        Otherwise, nbgrader would add it as it is, without any check.
        """
        self._join()
        content = arguments["execute_reply"]["content"]
        if content["status"] == "error":
            arguments["execute_reply"] = {"content": _one_line_error(content)}
        super().on_cell_executed(**arguments)


def _one_line_error(content: dict[str, Any]) -> dict[str, Any]:
    """Shorten the content of an error reply; its traceback becomes one line."""
    fields = (content.get(name) for name in ("ename", "evalue"))
    name, value = (
        text[:_ERROR_CHARACTERS] if isinstance(text, str) else "" for text in fields
    )
    error = {"ename": name or "Error", "evalue": value}
    return {"status": "error", **error, "traceback": [f"{error['ename']}: {value}"]}


def _size(content: object) -> int:
    """About how many bytes a message's content takes."""
    if isinstance(content, dict):
        return _size([*content, *content.values()])
    if isinstance(content, list | tuple):
        return sum(_size(value) for value in content)
    return len(content) if isinstance(content, str | bytes) else 8
