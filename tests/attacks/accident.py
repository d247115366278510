"""An honest accident, and what befalls notebooks."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from tests.attacks.attack import cells_named
from tests.attacks.material import (
    INSIDE,
    NOTEBOOK,
    SEES,
    SOFTMAX,
    SOLUTIONS,
    answered,
    grade_id,
    write_submission,
)


@dataclass(frozen=True)
class Accident:
    """Something that happened to a solved submission.

    Attributes:
        answers: what replaces the plain solutions.
        file: the notebook's name.
        before, after, change, data, files, folder: see `Submission`.
    """

    name: str
    before: str = ""
    after: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    change: Callable[[NotebookNode], None] | None = None
    data: Callable[[bytes], bytes] | None = None
    file: str = NOTEBOOK
    files: Mapping[str, bytes] = field(default_factory=dict)
    folder: Callable[[Path], None] | None = None

    @property
    def student(self) -> str:
        return "h-" + "-".join(self.name.split())

    def hand_in(self, release: NotebookNode, folder: Path) -> None:
        """Write the submission's files."""
        notebook = answered(release, {**SOLUTIONS, **self.answers})
        write_submission(self, notebook, folder / self.file)


def noisily(lines: str) -> dict[str, str]:
    """All answers with some lines in front of each return."""
    indented = "".join(f"    {line}\n" for line in lines.splitlines())
    return {
        name: SOLUTIONS[name].replace("    return", f"{indented}    return")
        for name in (SOFTMAX, SEES, INSIDE)
    }


def copied(*names: str, blank: bool = False) -> Callable[[NotebookNode], None]:
    """Copies of cells behind them, with all their metadata, as JupyterLab copies."""

    def change(nb: NotebookNode) -> None:
        for cell in cells_named(nb, *names):
            twin = copy.deepcopy(cell)
            twin.id = f"copy-{grade_id(cell)}"[:60]
            twin.source = "" if blank else twin.source
            nb.cells.insert(nb.cells.index(cell) + 1, twin)

    return change


def pictures(megabytes: int) -> Callable[[NotebookNode], None]:
    """So many megabytes of pictures among the outputs."""

    def change(nb: NotebookNode) -> None:
        cell = cells_named(nb, f"{INSIDE}-answer")[0]
        data = {"image/png": "iVBORw0KGgo" + "A" * (1 << 20)}
        cell.outputs = [new_output("display_data", data) for _ in range(megabytes)]

    return change


# A progress bar, as Colab saves it: without the level "state" that the format asks for.
_WIDGETS = {
    "application/vnd.jupyter.widget-state+json": {
        "5f0c": {
            "model_module": "@jupyter-widgets/controls",
            "model_name": "HBoxModel",
            "model_module_version": "1.5.0",
            "state": {"children": ["IPY_MODEL_8d1a"]},
        }
    }
}


def colab(data: bytes, minor: int, ids: bool) -> bytes:
    """As Colab saves it: its metadata, a badge, a name in every cell that was run."""
    notebook = json.loads(data)
    for number, cell in enumerate(notebook["cells"]):
        identifier = cell.pop("id", "")
        cell["metadata"]["id"] = identifier if ids else f"colab{number:07d}"
        if ids:
            cell["id"] = identifier
        if cell["cell_type"] == "code":
            cell["metadata"]["outputId"] = "a1b2"
            cell["metadata"]["colab"] = {"base_uri": "https://localhost:8080/"}
            cell["metadata"]["executionInfo"] = {
                "elapsed": 12,
                "status": "ok",
                "user": {"displayName": "Ada L", "userId": "0123456789"},
            }
    badge = '<a href="https://colab.research.google.com/github/x/y.ipynb">Open</a>'
    notebook["cells"].insert(
        0,
        {
            "cell_type": "markdown",
            "metadata": {"id": "view-in-github", "colab_type": "text"},
            "source": badge,
        },
    )
    notebook.update(
        nbformat_minor=minor,
        metadata={
            "colab": {"provenance": []},
            "accelerator": "GPU",
            "widgets": _WIDGETS,
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
        },
    )
    return json.dumps(notebook).encode()


def lost(*keys: str) -> Callable[[NotebookNode], None]:
    def change(nb: NotebookNode) -> None:
        for cell in nb.cells:
            for key in keys:
                cell.metadata.pop(key, None)
            if "id" in keys:
                cell.pop("id", None)

    return change


def outputs_kept(nb: NotebookNode) -> None:
    """Pictures and texts of the student's own session, large but legal."""
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.execution_count = 7
            cell.outputs = [
                new_output("stream", text="step\n" * 40_000),
                new_output("display_data", {"image/png": "QUJD" * 100_000}),
            ]


def move_answers(nb: NotebookNode) -> None:
    """The answers in new cells of the student's own; the stubs are still there."""
    for name in (SOFTMAX, SEES):
        (answer,) = cells_named(nb, f"{name}-answer")
        place = nb.cells.index(answer) + 1
        nb.cells.insert(place, new_code_cell(answer.source))
        answer.source = "raise NotImplementedError  # your code here"


def old_format(data: bytes) -> bytes:
    notebook = json.loads(data)
    cells = [
        {**cell, "input": cell["source"], "language": "python"}
        for cell in notebook["cells"]
    ]
    return json.dumps(
        {
            "nbformat": 3,
            "nbformat_minor": 0,
            "metadata": {"name": ""},
            "worksheets": [{"cells": cells}],
        }
    ).encode()
