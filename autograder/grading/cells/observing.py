"""Run a notebook in a sandbox, and have its answers observed there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from autograder.checks.words import LEFT_OUT
from autograder.course.errors import CourseError
from autograder.grading.cells.sandboxed_execute import SandboxedExecute
from autograder.grading.cells.submission_files import earlier_solutions, shipped
from autograder.grading.grade import environment
from autograder.sandbox.confine import ConfinementError, Policy
from autograder.sandbox.warm import asked_for

_CELL_SECONDS = 20  # CPU time of a cell: of the student's, and of an observation
_ALL_SECONDS = 120.0
_OUTPUT_KB = 3072
_SPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


@dataclass(frozen=True)
class Asked:
    """An answer to be observed: as `autograder.checks.tracing` takes it."""

    exercise: str
    target: str
    method: str
    noted: str
    edits: tuple[str, ...]

    @property
    def cell(self) -> str:
        """The code that observes it, in the student's notebook."""
        what = ", ".join(map(repr, (self.exercise, self.target, self.method)))
        return (
            "from autograder.checks import tracing as _tracing\n"
            f"_tracing.show(_tracing.AnswerCode({what}, globals()), {self.noted!r}, "
            f"{list(self.edits)!r})"
        )


class Observe(SandboxedExecute):
    """Runs a notebook's cells in a sandbox, one after the other, within limits."""

    policy = Policy()

    def preprocess(
        self,
        nb: NotebookNode,
        resources: dict[str, Any],
        km: AsyncKernelManager | None = None,
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run all cells; their outputs are in the notebook."""
        self.reset()
        with environment(AUTOGRADER_BOX=self.policy.to_json(), **{LEFT_OUT: "1"}):
            done: tuple[NotebookNode, dict[str, Any]]
            done = super().preprocess(nb, resources, km)
        return done

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run one cell, in a fresh sandbox if the one before has ended its own."""
        return self.run(cell, index), resources


def observed(unit: str, cells: Sequence[str], asked: Sequence[Asked]) -> list[str]:
    """What the observation of each answer has printed, after the student's cells ran.

    Args:
        unit: the assignment, like "02_attention".
        cells: the code of the notebook, without its checks.

    Raises:
        CourseError: this machine gives no sandbox.
    """
    sources = [*cells, *(one.cell for one in asked)]
    book = new_notebook(cells=[new_code_cell(source) for source in sources])
    book.metadata["kernelspec"] = dict(_SPEC)
    limits = {"timeout": _CELL_SECONDS, "notebook_seconds": _ALL_SECONDS,
              "output_kb": _OUTPUT_KB, "shutdown_kernel": "immediate"}  # fmt: skip
    run = Observe(config=Config(Observe=limits))
    run.policy = replace(
        Policy(),
        notebook_seconds=_ALL_SECONDS,
        readable=(*earlier_solutions(unit), *shipped(unit)),
        imports=tuple(asked_for(sources)),
        seed=unit,
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            done, _ = run.preprocess(book, {"metadata": {"path": folder}})
        except ConfinementError as error:
            raise CourseError(
                f"this machine cannot create a sandbox: {error}"
            ) from error
    return [_printed(cell) for cell in done.cells[len(cells) :]]


def _printed(cell: NotebookNode) -> str:
    streams = [out for out in cell.outputs if out.output_type == "stream"]
    return "".join(out.text for out in streams if out.name == "stdout")
