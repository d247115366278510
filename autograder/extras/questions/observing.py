"""Run a student's notebook in a sandbox, and observe its answers there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from autograder.course.errors import CourseError
from autograder.grading.cells.sandboxed_execute import SandboxedExecute
from autograder.sandbox.confine import ConfinementError

_CELL_SECONDS = 20  # CPU time of a cell, whether a student's or an observation
_ALL_SECONDS = 120.0
_OUTPUT_KB = 3072
_SPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


@dataclass(frozen=True)
class ObservationRequest:
    """A request to observe an answer, for `autograder.checks.tracing`.

    Attributes:
        target, method: the function or class, and its method; see `CodeListing`.
        noted: the answer's code, with calls that record values.
        edits: versions of the answer's code, with one change in each.
    """

    exercise: str
    target: str
    method: str
    noted: str
    edits: tuple[str, ...]

    @property
    def cell(self) -> str:
        """The code of a cell that observes the answer in the student's notebook."""
        arguments = ", ".join(map(repr, (self.exercise, self.target, self.method)))
        return (
            "from autograder.checks import tracing as _tracing\n"
            f"_tracing.show(_tracing.AnswerCode({arguments}, globals()), "
            f"{self.noted!r}, {list(self.edits)!r})"
        )


def observe_answers(
    unit: str, cells: Sequence[str], requests: Sequence[ObservationRequest]
) -> list[str]:
    """Run the student's cells, then observe each answer; return the printed reports.

    Raises:
        CourseError: this machine cannot create a sandbox.
    """
    sources = [*cells, *(request.cell for request in requests)]
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    book.metadata["kernelspec"] = dict(_SPEC)
    limits = {"timeout": _CELL_SECONDS, "notebook_seconds": _ALL_SECONDS,
              "output_kb": _OUTPUT_KB, "shutdown_kernel": "immediate"}  # fmt: skip
    run = SandboxedExecute(config=Config(SandboxedExecute=limits))
    with tempfile.TemporaryDirectory() as folder:
        try:
            executed, _ = run.execute_notebook(
                book, {"metadata": {"path": folder}}, unit, unit
            )
        except ConfinementError as error:
            raise CourseError(
                f"this machine cannot create a sandbox: {error}"
            ) from error
    return [_read_stdout(cell) for cell in executed.cells[len(cells) :]]


def _read_stdout(cell: NotebookNode) -> str:
    streams = [out for out in cell.outputs if out.output_type == "stream"]
    return "".join(out.text for out in streams if out.name == "stdout")
