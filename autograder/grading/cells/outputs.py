"""What a cell may show: its share of output, and no message that makes no sense."""

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
_CELLS_IN_FULL = 8  # times what a cell may show is what a notebook may
_OUTPUT = 64  # bytes that an output takes at least, be it empty
_LARGEST_COUNT = 1 << 31  # of cells that have run
_ERROR_CHARACTERS = 500  # kept of an error that stands in a reply and in no output


def is_count(value: object) -> bool:
    """Whether a notebook can hold it as the number of a cell that has run."""
    return type(value) is int and 0 <= value < _LARGEST_COUNT


class CappedOutputs(Execute):  # type: ignore[misc]
    """nbgrader's Execute, which keeps only as much output as a cell may show."""

    output_kb = Integer(
        1024, help="Output kept of a cell; the rest is dropped as it arrives."
    ).tag(config=True)

    _deaf = False  # while cells run again, whose outputs are there already
    _spent: dict[int, int]  # index of a cell -> bytes that it has shown
    _open: NotebookNode | None = None  # what is printed goes on there
    _parts: list[str]  # of its text

    def process_message(
        self, msg: KernelMessage, cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Take an output message, unless its cell has printed its share already.

        Any process of the sandbox can send anything: what makes no sense is dropped.
        """
        try:
            if msg["msg_type"] in _SHOWING and (
                self._deaf or not self._fits(msg, cell, cell_index)
            ):
                return None
            if not is_count(msg["content"].get("execution_count", 0)):
                return None
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
        except Exception:  # nbclient and nbformat have many for a message's faults
            return None

    def _fits(self, msg: KernelMessage, cell: NotebookNode, index: int) -> bool:
        """Count a message's size; whether to show it, with printed text cut to fit.

        Whether a text arrives in one message or in several is chance, and makes no
        difference.
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
        if room < 0:  # which has been said
            return False
        notice = f"[output cut after {self.output_kb} kB]\n" * (before + cost > most)
        if is_text:
            text = content["text"]
            part = text[: max(room - (cost - len(text)), 0)]
            content["text"] = part + "\n" * bool(notice) + notice
        elif notice:
            cell.outputs.append(new_output("stream", name="stdout", text=notice))
        return is_text

    def _goes_on(self, msg: KernelMessage, cell: NotebookNode) -> bool:
        """Whether a text goes on where the last one of its stream has ended."""
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
        if self._open is not None:
            self._open["text"] = "".join(self._parts)
        self._open, self._parts = None, []

    def _cost(self, content: dict[str, Any]) -> int:
        """About how many bytes a message takes, in all the places that it changes."""
        display = (content.get("transient") or {}).get("display_id")
        places = sum(map(len, self._display_id_map.get(display, {}).values()))
        return (_OUTPUT + _size(content)) * (1 + places)

    def on_cell_executed(self, **arguments: Any) -> None:
        """Turn an error that appears only in a cell's reply into an output of one line.

        Otherwise nbgrader would add it as it is, although nothing has checked it or
        counted its size.
        """
        self._join()
        content = arguments["execute_reply"]["content"]
        if content["status"] == "error":
            arguments["execute_reply"] = {"content": _in_a_line(content)}
        super().on_cell_executed(**arguments)

    def handle_comm_msg(
        self, outs: list[Any], msg: KernelMessage, cell_index: int
    ) -> None:
        """Do nothing: widgets have no state here, and may not take any outputs."""


def _in_a_line(content: dict[str, Any]) -> dict[str, Any]:
    """The error of a reply; whatever in it is no text, is left out."""
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
